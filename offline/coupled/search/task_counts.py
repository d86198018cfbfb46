"""Task counts of given participants whose data and programs the channel can send in time.

The vectors of needs that the channel can meet are the saturable demands of a bipartite flow, hence the integral points
of a polymatroid. If data were divisible, extending any feasible vector to a maximal one would give the maximum sum.
Data comes in packets of T_data units: with T_data = 1 the extension is the answer; otherwise it is a necessary
condition that is checked before the task counts are enumerated.
"""

from __future__ import annotations

from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.channel_flow import (
    NO,
    UNDECIDED,
    YES,
    Flow,
    Participants,
    augment,
    can_send,
    send,
)
from hindsched.offline.coupled.search.effort import LIMIT, SPENT
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.state_tables import Table


@kernel
def find_task_counts(
    table: Table, problem: Problem, flow: Flow, parts: Participants, s: int, c: int, size: int, n: int
) -> int:
    """Find task counts for which the channel can send all needs in slots s..c-1.

    The first `size` of the n participants compute, the others are on stand-by.

    Returns
    -------
    int
        YES with ``parts.tasks[:size]``, which sum to m and are from 1 to ``parts.most``; NO; or UNDECIDED if the effort
        limit is met first.
    """
    if not _give_tasks_by_room(table, problem, flow, parts, c, size):
        return NO
    busy = 0
    for j in range(n):
        if parts.program[j] > 0 or (j < size and problem.t_data > 0):
            busy += 1
    if busy <= problem.n_com:  # each has a channel of its own
        return YES
    _set_needs(problem, flow, parts, size, n)
    possible = can_send(table, flow, parts, flow.need, n, problem.n_com, s, c)
    if possible != NO or problem.t_data == 0:
        return possible
    possible = _extend(table, problem, flow, parts, s, c, size, n)
    if possible != YES or problem.t_data == 1:
        return possible
    return _enumerate(table, problem, flow, parts, s, c, size, n)


@inlined
def _give_tasks_by_room(table: Table, problem: Problem, flow: Flow, parts: Participants, c: int, size: int) -> bool:
    """Give each member one task, and further tasks to those with most room; return False if m is too many.

    The room of a member is the number of UP slots that its needs leave free.
    """
    tasks, room = parts.tasks, flow.room
    for j in range(size):
        q = parts.worker[j]
        tasks[j] = 1
        room[j] = table.cnt[c, q] - table.cnt[parts.receive_from[j], q] - parts.program[j] - problem.t_data
    for _ in range(problem.m - size):
        best = -1
        for j in range(size):
            if tasks[j] < parts.most[j] and (best < 0 or room[j] > room[best]):
                best = j
        if best < 0:
            return False
        tasks[best] += 1
        room[best] -= problem.t_data
    return True


@kernel
def _set_needs(problem: Problem, flow: Flow, parts: Participants, size: int, n: int) -> None:
    """Write to ``flow.need`` the units that each participant needs for its tasks."""
    for j in range(n):
        flow.need[j] = parts.program[j] + (parts.tasks[j] * problem.t_data if j < size else 0)


@inlined
def _extend(table: Table, problem: Problem, flow: Flow, parts: Participants, s: int, c: int, size: int, n: int) -> int:
    """Decide `find_task_counts` as if data were divisible: extend one task each, unit by unit, to a maximal vector."""
    m, t_data, n_com = problem.m, problem.t_data, problem.n_com
    total = m * t_data
    for j in range(n):
        total += parts.program[j]
    if total > n_com * (c - s):
        return NO
    for j in range(size):
        parts.tasks[j] = 1
    _set_needs(problem, flow, parts, size, n)
    possible = send(table, flow, parts, flow.need, n, n_com, s, c)
    if possible != YES:
        return possible
    want = (m - size) * t_data
    for j in range(size):
        extra = (parts.most[j] - 1) * t_data
        while want > 0 and extra > 0 and augment(table, flow, parts, n, n_com, s, c, j):
            if flow.effort[SPENT] > flow.effort[LIMIT]:
                return UNDECIDED
            want -= 1
            extra -= 1
            if t_data == 1:
                parts.tasks[j] += 1
    return NO if want > 0 else YES


@inlined
def _enumerate(
    table: Table, problem: Problem, flow: Flow, parts: Participants, s: int, c: int, size: int, n: int
) -> int:
    """Decide `find_task_counts` by enumeration: task counts of participants 0, 1, ... in turn, largest first."""
    tasks, most = parts.tasks, parts.most
    for j in range(size):
        tasks[j] = 1
    left = problem.m - size  # tasks beyond one each that are not given out yet
    j = 0
    tasks[0] = min(most[0], 1 + left) + 1  # one more than the first number that is tried
    left -= tasks[0] - 1
    while j >= 0:
        tasks[j] -= 1
        left += 1
        later = 0
        for i in range(j + 1, size):
            later += most[i] - 1
        if tasks[j] < 1 or later < left:  # all counts of j are tried: backtrack
            left += tasks[j] - 1
            tasks[j] = 1
            j -= 1
            continue
        flow.effort[SPENT] += 1
        if flow.effort[SPENT] > flow.effort[LIMIT]:
            return UNDECIDED
        _set_needs(problem, flow, parts, size, n)
        possible = can_send(table, flow, parts, flow.need, n, problem.n_com, s, c)
        if possible == UNDECIDED:
            return UNDECIDED
        if possible == NO:
            continue
        if left == 0:
            return YES
        j += 1
        tasks[j] = min(most[j], 1 + left) + 1
        left -= tasks[j] - 1
    return NO
