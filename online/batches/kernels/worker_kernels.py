"""Availability of workers, compiled: next contacts, ends of tasks, and replays of the past."""

from __future__ import annotations

from hindsched.instances.compiling import kernel
from hindsched.online.batches.kernels.arguments import NEVER, InstanceArrays, MasterOptions, State

__all__ = ["compute", "missed_most", "next_available"]

_DAY, _WEEK = 86_400, 604_800


@kernel
def next_available(arrays: InstanceArrays, state: State, j: int, earliest: int) -> int:
    """Return a worker's first available second from ``earliest`` on, or ``NEVER``."""
    place, stop = state.place[j], arrays.high[j]
    while place < stop and arrays.ups[place, 1] <= earliest:
        place += 1
    state.place[j] = place
    if place == stop:
        return NEVER
    return int(max(earliest, arrays.ups[place, 0]))


@kernel
def compute(arrays: InstanceArrays, state: State, j: int, now: int) -> int:
    """Append a task to a worker's queue and return its end, or ``NEVER``."""
    begin = max(now, state.busy[j])
    if begin >= NEVER:
        return NEVER
    left = arrays.c[j]
    if arrays.is_reliable:
        state.busy[j] = min(begin + left, NEVER)
        return int(state.busy[j])
    place, stop = max(state.place[j], state.busy_place[j]), arrays.high[j]
    end = NEVER
    while place < stop:
        a, b = max(begin, arrays.ups[place, 0]), arrays.ups[place, 1]
        if b - a >= left:
            end = a + left
            break
        if b > a:
            left -= b - a
        place += 1
    state.busy_place[j] = place
    state.busy[j] = end
    return end


@kernel
def missed_most(arrays: InstanceArrays, options: MasterOptions, state: State, j: int, now: int, deadline: int) -> bool:
    """Return whether a worker would have missed more than half of the replays."""
    first, length, c = arrays.firsts[j], deadline - now, arrays.c[j]
    seen = 0
    for unit in (_DAY, _WEEK):
        seen += max(0, min(options.replays, (now - first) // unit) - max(1, (length + unit - 1) // unit) + 1)
    missed, left, replay = 0, seen, -1
    for unit in (_DAY, _WEEK):
        for x in range(1, options.replays + 1):
            replay += 1
            since = now - x * unit
            if since < first or x * unit < length:
                continue
            until = since + length
            place, stop = state.replays[j, replay], arrays.high[j]
            while place < stop and arrays.ups[place, 1] <= since:
                place += 1
            state.replays[j, replay] = place
            held = 0
            while place < stop and arrays.ups[place, 0] < until and held < c:
                held += min(until, arrays.ups[place, 1]) - max(since, arrays.ups[place, 0])
                place += 1
            left -= 1
            if held < c:
                missed += 1
            if 2 * missed > seen:
                return True
            if 2 * (missed + left) <= seen:
                return False
    return False
