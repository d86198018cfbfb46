"""The criterion: the twin of `online.coupled.ours.chances.Chances`.

D depends on who the members are and which of them are RECLAIMED, and so does U where nobody has anything to receive.
Both are remembered by these two sets of workers, as words of bits.
"""

from __future__ import annotations

import math

import numpy as np

from online.coupled.ours.chances import DECAYED, STEP
from online.coupled.ours.kernels.compiling import Ints, Reals, kernel
from online.coupled.ours.kernels.layout import Application, Chances, Scratch

__all__ = ["ONE", "WORD", "judge", "load", "multiply", "place_of", "reach_of", "stop_of", "total_of_two", "worth_of"]

WORD = np.uint64
ONE = WORD(1)


@kernel()
def stop_of(longest: int, decay: float, slots: int) -> int:
    """Return where a sum over slots ends."""
    return min(slots, STEP * int(math.ceil((longest + 1.0 + DECAYED / decay) / STEP)))


@kernel(sums=True)
def total_of_two(a: Reals, b: Reals, stop: int) -> float:
    """Return the sum of the first products."""
    found = 0.0
    for t in range(stop):
        found += a[t] * b[t]
    return found


@kernel()
def multiply(a: Reals, b: Reals, stop: int, into: Reals) -> None:
    """Write the first products; ``into`` may be one of the two."""
    for t in range(stop):
        into[t] = a[t] * b[t]


@kernel()
def reach_of(chances: Chances, scratch: Scratch, num: int) -> float:
    """Return U of the first ``num`` members of ``scratch.who``."""
    who, state, need = scratch.who, scratch.state, scratch.need
    q = who[0]
    if num == 1:
        again = chances.again[q]
        return float(chances.back[q, state[0]] * again ** need[0] / (1.0 - again))
    decay = chances.rate[q]
    longest = need[0]
    for k in range(1, num):
        decay += chances.rate[who[k]]
        longest = max(longest, need[k])
    stop = stop_of(longest, decay, chances.stay.shape[2])
    reach = chances.reach[q, state[0], need[0]]
    for k in range(1, num - 1):
        multiply(reach, chances.reach[who[k], state[k], need[k]], stop, scratch.other)
        reach = scratch.other
    last = chances.reach[who[num - 1], state[num - 1], need[num - 1]]
    return total_of_two(reach, last, stop) + float(reach[stop - 1] * last[stop - 1]) / math.expm1(decay)


@kernel()
def stay_of(chances: Chances, scratch: Scratch, num: int) -> float:
    """Return D of the first ``num`` members of ``scratch.who``."""
    who, state = scratch.who, scratch.state
    q = who[0]
    if num == 1:
        return float(chances.life[q, state[0]])
    decay = chances.rate[q]
    for k in range(1, num):
        decay += chances.rate[who[k]]
    stop = stop_of(0, decay, chances.stay.shape[2])
    stay = chances.stay[q, state[0]]
    for k in range(1, num - 1):
        multiply(stay, chances.stay[who[k], state[k]], stop, scratch.other)
        stay = scratch.other
    last = chances.stay[who[num - 1], state[num - 1]]
    return total_of_two(stay, last, stop) + float(stay[stop - 1] * last[stop - 1]) / math.expm1(decay)


@kernel(forceinline=True)
def place_of(chances: Chances, scratch: Scratch, members: WORD, reclaimed: WORD) -> int:
    """Return where U and D of a set that lacks nothing stand, and log(1 - 1 / U), computed if they do not yet."""
    keys = chances.keys
    mixed = (members ^ (reclaimed * WORD(0xC2B2AE3D27D4EB4F))) * WORD(0x9E3779B97F4A7C15)
    place = int(np.int64((mixed >> WORD(32)) & WORD(keys.shape[0] - 1)))
    if keys[place, 0] != members or keys[place, 1] != reclaimed:
        _fill(chances, scratch, members, reclaimed, place)
    return place


@kernel()
def _fill(chances: Chances, scratch: Scratch, members: WORD, reclaimed: WORD, place: int) -> None:
    """Compute what is remembered of a set."""
    num = 0
    for q in range(chances.rate.size):
        if members >> WORD(q) & ONE:
            scratch.who[num] = q
            scratch.state[num] = int(reclaimed >> WORD(q) & ONE)
            scratch.need[num] = 0
            num += 1
    u = reach_of(chances, scratch, num)
    chances.keys[place, 0] = members
    chances.keys[place, 1] = reclaimed
    chances.sums[place, 0] = u
    chances.sums[place, 1] = stay_of(chances, scratch, num)
    chances.sums[place, 2] = math.log1p(-1.0 / u) if u > 1.0 else -np.inf


@kernel()
def judge(u: float, d: float, u0: float, d0: float, log_again: float, work: int, value: float) -> float:
    """Return J = E[T] + (1 - P) V of an attempt with ``work`` slots of computation left."""
    success = u / u0
    if work > 1:
        success *= math.exp((work - 1) * log_again)
    return d - success * (d0 - 1.0) + (1.0 - success) * value


@kernel()
def load(
    application: Application, chances: Chances, scratch: Scratch, eligible: Ints, tasks: Ints, program: Ints, data: Ints
) -> int:
    """Write who holds tasks, in what state and with what to receive; return how many."""
    who, state, need = scratch.who, scratch.state, scratch.need
    num = lacking = needed = 0
    for q in range(tasks.size):
        if tasks[q] > 0:
            who[num] = q
            state[num] = eligible[q]
            need[num] = application.t_prog - program[q] + max(0, tasks[q] * application.t_data - data[q])
            lacking += int(need[num] > 0)
            needed += need[num]
            num += 1
    if lacking > application.n_com:
        least = min((needed + application.n_com - 1) // application.n_com, chances.reach.shape[2] - 1)
        for k in range(num):
            if need[k] > 0:
                need[k] = max(need[k], least)
    return num


@kernel()
def worth_of(
    application: Application,
    chances: Chances,
    scratch: Scratch,
    eligible: Ints,
    tasks: Ints,
    program: Ints,
    data: Ints,
    done: int,
    value: float,
) -> float:
    """Return J of a configuration, ``done`` slots of its computation being done."""
    members = reclaimed = WORD(0)
    work = 0
    for q in range(tasks.size):
        if tasks[q] > 0:
            members |= ONE << WORD(q)
            if eligible[q] > 0:
                reclaimed |= ONE << WORD(q)
            work = max(work, tasks[q] * application.w[q])
    place = place_of(chances, scratch, members, WORD(0))
    u0, d0, log_again = chances.sums[place, 0], chances.sums[place, 1], chances.sums[place, 2]
    place = place_of(chances, scratch, members, reclaimed)
    u, d = chances.sums[place, 0], chances.sums[place, 1]
    num = load(application, chances, scratch, eligible, tasks, program, data)
    is_lacking = False
    for k in range(num):
        is_lacking = is_lacking or scratch.need[k] > 0
    if is_lacking:
        u = reach_of(chances, scratch, num)
    return judge(u, d, u0, d0, log_again, work - done, value)
