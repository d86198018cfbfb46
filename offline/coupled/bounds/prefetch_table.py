"""The free-prefetch bound (docs/model.md section 3): what remains takes at least this long.

Let F(t) be the slot after the earliest end of an iteration that starts in slot t when every worker
may have received its program in any UP slots since it was last DOWN, before t too, and n_com does
not limit anything but the total of the data.

**Proposition.** In every valid schedule, an iteration that starts in slot t ends in slot F(t) - 1
or later; F is non-decreasing; so k further iterations from t on end in slot F^k(t) - 1 or later,
and within horizon N there are at most max {k : F^k(t) <= N} of them.

*Proof.* By the normal form (module `iteration`) a worker computing in c.. has received its data
in UP slots of [t, c) after its last DOWN a_q - 1, and its program after that DOWN too, in other
slots: at least T_prog + x T_data UP slots in [a_q, c), of which x T_data at or after t. These are
the two conditions of F; with b = max(t, a_q) they read
``cnt[c] - max(cnt[b], cnt[a_q] + T_prog) >= x T_data``. Both weaken as t falls, so whatever is
possible from t is possible from t' < t: F is non-decreasing, and composition bounds a chain. QED

What is computed is an f <= F: when a last slot has cost too much effort it is taken for possible. The
composition of f bounds as well: by induction f^k(t) <= F^k(t), since f(f^(k-1)(t)) <= F(f^(k-1)(t)) <= F(F^(k-1)(t)).

f is computed on demand and kept. The scan for F(t) starts at F(t') - 1 for the nearest t' <= t that
is known, and jumps over last slots that are out of reach: worker q needs T_data + w_q UP slots
after its base for each task, and what it has of them grows by at most one per slot
(`_out_of_reach`). Where it is known from elsewhere that no iteration from t on ends before a slot ``floor[t]``, and
that does not fall as t grows, it begins there: then f(t) is the least end from that slot on that F allows. That does
not fall either, so its composition bounds a chain too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.search.constants import (
    BEYOND,
    FREE,
    FREE_EFFORT,
    FREE_SCAN,
    LIMIT,
    NEVER,
    PAUSE,
    SCANNED,
    SCANNED_TO,
    SPENT,
    STOP,
)
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.normal_form import prepare_free
from hindsched.offline.coupled.search.scratch_memory import Needs, Scratch
from hindsched.offline.coupled.search.state_tables import Table
from hindsched.offline.coupled.search.teams import begin_teams, next_team


class Prefetch(NamedTuple):
    """What is known of F.

    ``finish[t]`` is F(t), 0 if it is not known; ``most[t]`` is one more than the most iterations from t on, 0 if they
    are not known; ``scan`` is an unfinished t and where its scan stands. No iteration of a schedule that starts in slot
    t, the first one if that is 0, ends before slot ``floor[t]``. That does not fall from t = 1 on; what it is before
    ``floor[0]`` does not matter, as no other iteration starts there.
    """

    finish: Ints
    most: Ints
    scan: Ints
    floor: Ints


def make_prefetch(slots: int) -> Prefetch:
    """Room for so many slots; nothing is known."""
    finish, most, floor = np.zeros((3, slots + 1), np.int64)
    return Prefetch(finish, most, np.array([-1, 0], np.int64), floor)


def more_prefetch(old: Prefetch, slots: int) -> Prefetch:
    """Return the same with room for so many slots."""
    new = make_prefetch(slots)
    for more, less in ((new.finish, old.finish), (new.most, old.most), (new.scan, old.scan)):
        more[: len(less)] = less
    if old.floor[[0, -1]].any():  # or else none was told, and memory that is never looked at costs nothing
        new.floor[: len(old.floor)] = old.floor
        new.floor[len(old.floor) :] = old.floor[-1]
    return new


def raise_floor(prefetch: Prefetch, floor: Ints) -> None:
    """Take over a floor; what it makes larger is to be found again."""
    known = min(len(floor), len(prefetch.floor))
    prefetch.floor[:known] = np.maximum(prefetch.floor[:known], floor[:known])
    prefetch.floor[known:] = np.maximum(prefetch.floor[known:], floor[-1])
    prefetch.finish[prefetch.finish < prefetch.floor] = 0
    prefetch.most[:] = 0


@kernel
def _can_hold(table: Table, problem: Problem, needs: Needs, e: int, more: int) -> bool:
    """Return whether m tasks could be held if every worker had `more` UP slots more than it has by e."""
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

    A DOWN between e and the end only takes UP slots away: it leaves at most `more` of them, and the
    program is still to be received, while ``cnt - data_base >= -T_prog`` before.
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
def free_finish(table: Table, problem: Problem, scratch: Scratch, prefetch: Prefetch, t: int, horizon: int) -> int:
    """F(t): NEVER if it exceeds `horizon`; BEYOND or PAUSE if not known yet."""
    if t >= horizon:
        return NEVER
    if t >= table.length:
        return BEYOND
    finish, scan = prefetch.finish, prefetch.scan
    if finish[t] != 0:
        return int(finish[t])
    # Begin where the scan was left, or where the iteration from the nearest earlier slot ends.
    k = t - 1
    while k >= 0 and finish[k] == 0:
        k -= 1
    e = max(t, int(prefetch.floor[t]) - 1)
    if k >= 0:
        e = max(e, finish[k] - 1)
    if scan[SCANNED] == t:
        e = max(e, scan[SCANNED_TO])
    steps = FREE_SCAN
    effort = scratch.effort
    while e < horizon:
        if e >= table.length or steps == 0:
            scan[SCANNED] = t
            scan[SCANNED_TO] = e
            return BEYOND if steps > 0 else PAUSE
        steps -= 1
        effort[SPENT] += 1 + problem.p // 16
        prepare_free(table, problem, scratch.needs, t, e)
        ahead = _out_of_reach(table, problem, scratch.needs, e)
        if ahead > 0:
            e += ahead
            continue
        thr = begin_teams(table, problem, scratch, t, e)
        # The budget of this question is its own: were it the rest of an expansion's, F could come out too late.
        effort[LIMIT] = min(effort[SPENT] + FREE_EFFORT, effort[STOP])
        found = next_team(table, problem, scratch, FREE, e, thr)
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
def compose(table: Table, problem: Problem, scratch: Scratch, prefetch: Prefetch, t: int, k: int, horizon: int) -> int:
    """F^k(t), or NEVER, BEYOND, PAUSE."""
    for _ in range(k):
        t = free_finish(table, problem, scratch, prefetch, t, horizon)
        if t < 0 or t >= NEVER:
            return t
    return t


@kernel
def most_from(table: Table, problem: Problem, scratch: Scratch, prefetch: Prefetch, t: int, horizon: int) -> int:
    """Greatest k with F^k(t) <= horizon; BEYOND or PAUSE."""
    most = prefetch.most
    # Forward to a slot from which it is known.
    steps = 0
    u = t
    while u < horizon and most[u] == 0:
        v = free_finish(table, problem, scratch, prefetch, u, horizon)
        if v < 0:
            return v
        if v >= NEVER:
            most[u] = 1
            break
        u = v
        steps += 1
    rest = most[u] - 1 if u < horizon else 0
    greatest = steps + rest
    # Once more the same way, to keep it for all slots on it.
    u = t
    while steps > 0:
        most[u] = steps + rest + 1
        u = int(prefetch.finish[u])
        steps -= 1
    return int(greatest)
