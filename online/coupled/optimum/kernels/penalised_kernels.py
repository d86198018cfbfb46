"""The best clairvoyant schedule for one path with charged luck, compiled: the inner problem of the penalised bound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.instances.compiling import kernel

__all__ = ["Attempts", "Luck", "PathProblem", "play"]


class PathProblem(NamedTuple):
    """The problem; vectors of loads are numbers in the radix loads + 1."""

    loads: Ints  # largest loads
    strides: Ints
    t_prog: int
    t_data: int
    tasks: int
    channels: int


class Attempts(NamedTuple):
    """The attempts of all teams."""

    members: Ints  # as bits
    held: Ints  # the number of the members' loads
    lengths: Ints  # W


class Luck(NamedTuple):
    """The expected cost h of an attempt, and the charge for luck (see `hindsched.online.coupled.optimum.penalised`).

    Parameters
    ----------
    first
        For each attempt, the first entry in ``worth`` and ``means``: a row of 2^p entries for each number of slots left
        from 0, by the set of RECLAIMED members.
    worth, means
        The expected cost, by slots left and RECLAIMED members; and its expectation in the next slot, by slots left then
        and members RECLAIMED now.
    failed
        The expected cost after a failure.
    share
        The share of luck that is charged, from 0 to 1.
    """

    first: Ints
    worth: Reals
    means: Reals
    failed: float
    share: float


@kernel
def play(
    states: Ints,
    problem: PathProblem,
    attempts: Attempts,
    luck: Luck,
    after: Reals,
    values: Reals,
    here: Reals,
    there: Reals,
) -> None:
    """Fill ``values`` with the least charged slots to go from each slot and each vector of loads.

    Parameters
    ----------
    states
        Shape (slots + 1, p): the path.
    problem, attempts, luck
        See there.
    after
        Slots to go from the next iteration, as ``values``; all 0 for the last.
    values
        Shape (slots + 1, vectors); its last row is given.
    here, there
        Work arrays for the computing states of this slot and the next: attempts and slots left by vectors.
    """
    loads, strides, t_prog, t_data, tasks, channels = problem
    members, held, lengths = attempts
    first, worth, means, failed, share = luck
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
            kept = 0  # the vector after R1 of the next slot
            emptied = 0  # the vector after R5 and R1
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
                    here[j] = min(here[j], best)  # abandon the attempt
                place += lengths[a] - 1
        for j in range(here.size):
            there[j] = here[j]
            here[j] = np.inf
