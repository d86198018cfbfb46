"""Tasks and transfers of one iteration with given window and programs: a greedy choice that is nearly exact.

Tasks go one by one to the worker with most UP slots to spare. Then the slots before the window are filled in order,
least slack first. Units that only an exact flow could serve count as violations, which costs quality only.
Kernels with more than 8 arguments take the arrays of a state unbundled, for speed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Bytes, Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.local_search.repair import ProgramAssignment, TaskLimits, Windows, start_of
from hindsched.offline.coupled.search.effort import SPENT
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.least_slack_first import least_slack
from hindsched.offline.coupled.search.state_tables import Table


class ServiceArrays(NamedTuple):
    """The participants of an iteration.

    Participant j is ``worker[j]``; it can receive from slot ``since[j]`` on, hold ``most[j]`` tasks, and receives the
    program if ``is_sent[j]``. ``room`` counts its UP slots before the window less its needs, ``tasks`` its tasks,
    ``left`` the units that it still needs. ``served`` and ``slack`` are for one slot. If ``slots`` has rows,
    ``slots[t, j]`` says whether j receives in slot t.
    """

    worker: Ints
    since: Ints
    most: Ints
    is_sent: Ints
    room: Ints
    tasks: Ints
    left: Ints
    served: Ints
    slack: Ints
    slots: Bytes


def make_service(workers: int, slots: int = 0) -> ServiceArrays:
    """Return arrays for this many workers, with rows for this many slots."""

    def ints() -> Ints:
        return np.zeros(workers, np.int64)

    written = np.zeros((slots, workers), np.uint8)
    return ServiceArrays(ints(), ints(), ints(), ints(), ints(), ints(), ints(), ints(), ints(), written)


@kernel(nogil=True)
def list_participants(
    table: Table,
    problem: Problem,
    windows: Windows,
    limits: TaskLimits,
    assignment: ProgramAssignment,
    service: ServiceArrays,
    n: int,
    k: int,
) -> int:
    """List the participants of iteration k and return their number."""
    s, c = start_of(windows, k), windows.first[k]
    size = 0
    for r in range(n):
        at, q = assignment.sent_in[r], assignment.period[r, 0]
        if at < 0 or k < at or k > assignment.period[r, 2]:
            continue
        most = limits.if_sent[k, q] if k == at else limits.if_held[k, q]
        if k > at and most == 0:
            continue
        service.worker[size] = q
        service.since[size] = max(s, limits.period_start[k, q])
        service.most[size] = most
        service.is_sent[size] = 1 if k == at else 0
        service.room[size] = table.cnt[c, q] - table.cnt[service.since[size], q] - (problem.t_prog if k == at else 0)
        size += 1
    return size


@kernel(nogil=True)
def assign_tasks(problem: Problem, service: ServiceArrays, size: int, no_stand_by: bool, effort: Ints) -> bool:
    """Give each task to the participant with most room; return False if there are too many tasks."""
    left = problem.m
    for j in range(size):
        service.tasks[j] = 0
        if no_stand_by and service.is_sent[j]:  # without stand-by a worker that receives the program computes
            service.tasks[j] = 1
            service.room[j] -= problem.t_data
            left -= 1
    if left < 0:
        return False
    effort[SPENT] += left * size // 64
    for _ in range(left):
        best = -1
        for j in range(size):
            if service.tasks[j] < service.most[j] and (best < 0 or service.room[j] > service.room[best]):
                best = j
        if best < 0:
            return False
        service.tasks[best] += 1
        service.room[best] -= problem.t_data
    return True


@kernel(nogil=True)
def serve_channel(
    table: Table, problem: Problem, windows: Windows, service: ServiceArrays, size: int, k: int, effort: Ints
) -> int:
    """Fill the slots before the window, least slack first; return the number of unserved units."""
    cnt = table.cnt
    s, c = start_of(windows, k), windows.first[k]
    left, served, slack = service.left, service.served, service.slack
    is_written = service.slots.shape[0] > 0
    waiting = 0
    for j in range(size):
        left[j] = service.tasks[j] * problem.t_data + (problem.t_prog if service.is_sent[j] else 0)
        waiting += left[j]
    for t in range(s, c):
        if waiting == 0:
            break
        effort[SPENT] += 1 + size // 64
        num = least_slack(cnt, service.worker, service.since, left, served, slack, size, problem.n_com, t, c)
        for i in range(num):
            left[served[i]] -= 1
            if is_written:
                service.slots[t - s, served[i]] = 1
        waiting -= num
    return int(waiting)


@kernel(nogil=True)
def serve_iteration(
    table: Table,
    problem: Problem,
    windows: Windows,
    limits: TaskLimits,
    assignment: ProgramAssignment,
    service: ServiceArrays,
    n: int,
    k: int,
    no_stand_by: bool,
    effort: Ints,
) -> int:
    """Write tasks and transfers of iteration k to `service`; return the unserved units, -1 if tasks are left."""
    size = list_participants(table, problem, windows, limits, assignment, service, n, k)
    if not assign_tasks(problem, service, size, no_stand_by, effort):
        return -1
    return int(serve_channel(table, problem, windows, service, size, k, effort))
