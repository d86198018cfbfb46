"""The best clairvoyant play of one path where luck is charged: the inner problem of the penalised bound."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hindsched.instances.compiling import kernel

__all__ = ["play"]

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@kernel
def play(
    states: Ints,
    loads: Ints,
    strides: Ints,
    t_prog: int,
    t_data: int,
    tasks: int,
    channels: int,
    caps: Ints,
    members: Ints,
    held: Ints,
    lengths: Ints,
    first: Ints,
    worth: Reals,
    means: Reals,
    failed: float,
    share: float,
    after: Reals,
    values: Reals,
    here: Reals,
    there: Reals,
) -> None:
    """Fill ``values`` with the least penalised slots to go from each slot and each vector of loads.

    Parameters
    ----------
    states
        Shape (slots + 1, p): the path.
    loads, strides
        Largest loads; vectors of loads are numbers in the radix loads + 1.
    t_prog, t_data, tasks, channels, caps
        Of the problem.
    members, held, lengths
        Of each attempt: its members as bits, the number of their loads, and W.
    first, worth, means
        Of each attempt, the expected cost of going on by slots left, then by which members are RECLAIMED: a row of 2^p
        for each number of slots left from 0, beginning at ``first``; and the expectation of that cost in the next slot,
        with so many slots left then, by which members are RECLAIMED now (see `online.coupled.optimum.penalised`).
    failed
        The expected cost after a failure, on the same scale.
    share
        How much of the luck is charged, from 0 to 1.
    after
        Slots to go from the next iteration, as ``values``; all 0 for the last.
    values
        Shape (slots + 1, vectors); its last row is given.
    here, there
        Room for computing states of this slot and the next: by attempt and slots left, each all vectors.
    """
    p = loads.size
    vectors = values.shape[1]
    words = 1 << p

    for slot in range(states.shape[0] - 2, -1, -1):
        up = 0
        down_next = 0
        taken_next = 0
        down = 0
        taken = 0
        for q in range(p):
            if states[slot, q] == 0:
                up |= 1 << q
            if states[slot, q] == 1:
                taken |= 1 << q
            if states[slot, q] == 2:
                down |= 1 << q
            if states[slot + 1, q] == 2:
                down_next |= 1 << q
            if states[slot + 1, q] == 1:
                taken_next |= 1 << q
        for vector in range(vectors):
            is_possible = True
            kept = 0  # what R1 leaves of it in the next slot
            emptied = 0  # what R5 and R1 leave of it
            servable = 0
            for q in range(p):
                load = vector // strides[q] % (loads[q] + 1)
                if down >> q & 1 and load:
                    is_possible = False
                if not down_next >> q & 1:
                    kept += load * strides[q]
                    if load >= t_prog:
                        emptied += t_prog * strides[q]
                if up >> q & 1 and load < loads[q]:
                    servable |= 1 << q
            if not is_possible:
                continue
            best = 1.0 + values[slot + 1, kept]
            for mask in range(1, words):
                if mask & servable != mask:
                    continue
                count = 0
                needed = 0
                gained = 0
                for q in range(p):
                    if mask >> q & 1:
                        count += 1
                        load = vector // strides[q] % (loads[q] + 1)
                        if load >= t_prog:
                            needed += (load - t_prog) // t_data + 1
                        if not down_next >> q & 1:
                            gained += strides[q]
                if count <= channels and needed <= tasks:
                    best = min(best, 1.0 + values[slot + 1, kept + gained])
            place = 0  # of the attempt's states
            for a in range(members.size):
                mine = 0
                for q in range(p):
                    if members[a] >> q & 1:
                        mine += vector // strides[q] % (loads[q] + 1) * strides[q]
                if mine != held[a]:
                    place += lengths[a] - 1
                    continue
                is_up = up & members[a] == members[a]
                for left in range(1, lengths[a] + 1):
                    if left == lengths[a] and not is_up:
                        break
                    rest = left - 1 if is_up else left
                    if rest == 0:
                        cost = 1.0 + after[slot + 1, emptied]
                    else:
                        mean = means[first[a] + rest * words + (taken & members[a])]
                        if down_next & members[a]:
                            cost = 1.0 + share * (mean - failed) + values[slot + 1, kept]
                        else:
                            now = worth[first[a] + rest * words + (taken_next & members[a])]
                            cost = 1.0 + share * (mean - now) + there[(place + rest - 1) * vectors + kept]
                    if left == lengths[a]:
                        best = min(best, cost)
                    else:
                        here[(place + left - 1) * vectors + vector] = cost
                place += lengths[a] - 1
            values[slot, vector] = best
            place = 0
            for a in range(members.size):
                for left in range(1, lengths[a]):
                    j = (place + left - 1) * vectors + vector
                    here[j] = min(here[j], best)  # giving up
                place += lengths[a] - 1
        for j in range(here.size):
            there[j] = here[j]
            here[j] = np.inf
