"""The free-prefetch bound by kernels, slot by slot on demand (docs/bounds.md, Proposition 2).

F(t) is the slot after the earliest end of an iteration that starts in slot t if programs are prefetched for nothing.
Composed k times it bounds the end of k further iterations. The table holds a lower bound on F: an end that takes too
much effort to exclude counts as possible, and ends before ``floor[t]`` are excluded by another bound.

The scan for F(t) begins at F(t') - 1 for the nearest known t' <= t, and skips ends that are out of reach: each task of
worker q takes T_data + w_q UP slots, and a worker gains at most one UP slot per slot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.search.effort import LIMIT, SPENT, STOP
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.modes import FREE_PREFETCH
from hindsched.offline.coupled.search.normal_form import prepare_free
from hindsched.offline.coupled.search.scratch_memory import Needs
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.slot_codes import EFFORT_LIMIT_MET, NEVER, SLOTS_UNKNOWN
from hindsched.offline.coupled.search.state_tables import Table
from hindsched.offline.coupled.search.teams import begin_teams, next_team

#: Effort to decide whether an iteration can end in one slot.
_EFFORT_PER_END = 1 << 20
#: Ends that are tried between two looks at the clock; fewer of them where workers times tasks exceed the places.
_ENDS_PER_SCAN, _PLACES = 20_000, 1_000


SCANNED, SCANNED_TO = range(2)
"""Cells of ``Prefetch.scan``: a slot t for which F(t) is not found yet, and the end to be tried next."""


class Prefetch(NamedTuple):
    """Known values of F.

    ``finish[t]`` is F(t), 0 if it is not known. ``most[t]`` is one more than the most iterations from t on, 0 if they
    are not known. ``scan`` is a slot t with an unfinished scan, and the end where the scan stands. No iteration that
    starts in slot t, the first one if t = 0, ends before slot ``floor[t]``; from t = 1 on the floor does not fall.
    """

    finish: Ints
    most: Ints
    scan: Ints
    floor: Ints


def make_prefetch(slots: int) -> Prefetch:
    """Return a table for this many slots in which nothing is known."""
    finish, most, floor = np.zeros((3, slots + 1), np.int64)
    return Prefetch(finish, most, np.array([-1, 0], np.int64), floor)


def grow_prefetch(old: Prefetch, slots: int) -> Prefetch:
    """Return the same table with room for this many slots."""
    new = make_prefetch(slots)
    for more, less in ((new.finish, old.finish), (new.most, old.most), (new.scan, old.scan)):
        more[: len(less)] = less
    if old.floor[[0, -1]].any():  # pages of zeros that are never written take no memory
        new.floor[: len(old.floor)] = old.floor
        new.floor[len(old.floor) :] = old.floor[-1]
    return new


def raise_floor(prefetch: Prefetch, floor: Ints) -> None:
    """Raise the floor; values of F below it are computed again."""
    known = min(len(floor), len(prefetch.floor))
    prefetch.floor[:known] = np.maximum(prefetch.floor[:known], floor[:known])
    prefetch.floor[known:] = np.maximum(prefetch.floor[known:], floor[-1])
    prefetch.finish[prefetch.finish < prefetch.floor] = 0
    prefetch.most[:] = 0


@kernel
def _can_hold(table: Table, problem: Problem, needs: Needs, e: int, more: int) -> bool:
    """Return whether m tasks could be held if every worker had `more` additional UP slots by e."""
    total = 0
    for q in range(problem.p):
        have = table.cnt[e + 1, q] - needs.data_base[q] + more
        if have > 0:
            have //= problem.slots_per_task[q]
            total += min(problem.max_tasks[q], have)
            if total >= problem.m:
                return True
    return False


@kernel
def _out_of_reach(table: Table, problem: Problem, needs: Needs, e: int) -> int:
    """Return a number of slots after e before which no iteration can end; 0 if e itself may be an end.

    A DOWN between e and the end only removes UP slots, so it does not shorten the wait.
    """
    if _can_hold(table, problem, needs, e, 0):
        return 0
    low, high = 0, 1
    while not _can_hold(table, problem, needs, e, high):
        low = high
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if _can_hold(table, problem, needs, e, middle):
            high = middle
        else:
            low = middle
    return high


@kernel
def free_finish(arrays: SearchArrays, prefetch: Prefetch, t: int, horizon: int) -> int:
    """Return F(t); `NEVER` if it exceeds `horizon`, `SLOTS_UNKNOWN` or `EFFORT_LIMIT_MET` if it is not known yet."""
    table, problem, scratch = arrays
    if t >= horizon:
        return NEVER
    if t >= table.length:
        return SLOTS_UNKNOWN
    finish, scan = prefetch.finish, prefetch.scan
    if finish[t] != 0:
        return int(finish[t])
    # Begin where the scan stands, or where the iteration from the nearest earlier slot ends.
    k = t - 1
    while k >= 0 and finish[k] == 0:
        k -= 1
    e = max(t, int(prefetch.floor[t]) - 1)
    if k >= 0:
        e = max(e, finish[k] - 1)
    if scan[SCANNED] == t:
        e = max(e, scan[SCANNED_TO])
    steps = max(1, _ENDS_PER_SCAN * _PLACES // max(_PLACES, problem.p * problem.m))
    effort = scratch.effort
    while e < horizon:
        if e >= table.length or steps == 0:
            scan[SCANNED] = t
            scan[SCANNED_TO] = e
            return SLOTS_UNKNOWN if steps > 0 else EFFORT_LIMIT_MET
        steps -= 1
        effort[SPENT] += 1 + problem.p // 16
        prepare_free(table, problem, scratch.needs, t, e)
        ahead = _out_of_reach(table, problem, scratch.needs, e)
        if ahead > 0:
            e += ahead
            continue
        thr = begin_teams(arrays, t, e)
        # Each end has a budget of its own: with the rest of an expansion's budget, F could be found too late.
        effort[LIMIT] = min(effort[SPENT] + _EFFORT_PER_END, effort[STOP])
        found = next_team(arrays, FREE_PREFETCH, e, thr)
        if found == -2 and effort[SPENT] > effort[STOP]:
            steps = 0
            continue
        if found != -1:
            finish[t] = e + 1
            return e + 1
        e += 1
    finish[t] = NEVER
    return NEVER


@kernel
def compose(arrays: SearchArrays, prefetch: Prefetch, t: int, k: int, horizon: int) -> int:
    """Return F composed k times, at t; or `NEVER`, `SLOTS_UNKNOWN`, `EFFORT_LIMIT_MET`."""
    finish, known = prefetch.finish, min(horizon, arrays.table.length)
    for _ in range(k):
        following = finish[t] if t < known else 0  # a call for each iteration would take most of the time
        t = following if following != 0 else free_finish(arrays, prefetch, t, horizon)
        if t < 0 or t >= NEVER:
            return int(t)
    return int(t)


@kernel
def most_from(arrays: SearchArrays, prefetch: Prefetch, t: int, horizon: int) -> int:
    """Return the greatest k with F^k(t) <= horizon; or `SLOTS_UNKNOWN`, `EFFORT_LIMIT_MET`."""
    most = prefetch.most
    # Walk forward to a slot whose value is known.
    steps = 0
    u = t
    while u < horizon and most[u] == 0:
        v = free_finish(arrays, prefetch, u, horizon)
        if v < 0:
            return v
        if v >= NEVER:
            most[u] = 1
            break
        u = v
        steps += 1
    rest = most[u] - 1 if u < horizon else 0
    greatest = steps + rest
    # Walk the same way again and keep the value of each slot.
    u = t
    while steps > 0:
        most[u] = steps + rest + 1
        u = int(prefetch.finish[u])
        steps -= 1
    return int(greatest)
