"""Compiled twins of `plain_state`: the tasks that workers can hold, and the greedy repair of the programs.

The iterations that end in the same availability period of a worker share a program: one that is sent in an iteration
serves in all later iterations of the period. So the assignment has at most one program for each worker and period.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Bytes, Ints, Reals
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.search.effort import SPENT
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.state_tables import Table


class Windows(NamedTuple):
    """The windows of all iterations and the programs sent: see `plain_state.Window`; ``work`` is an index of W."""

    first: Ints
    last: Ints
    work: Ints
    pauses: Ints
    sent: Bytes


class TaskLimits(NamedTuple):
    """Limits of each worker in each iteration.

    ``if_sent`` and ``if_held`` are the tasks that it can hold if it receives the program in this iteration, or holds it
    before. ``can_send`` says whether it can receive the program. ``period_start`` is the first slot of its availability
    period.
    """

    if_sent: Ints
    if_held: Ints
    can_send: Bytes
    period_start: Ints


class ProgramAssignment(NamedTuple):
    """The programs sent, and the violations of each iteration.

    Period r is that of worker ``period[r, 0]`` in iterations ``period[r, 1]..period[r, 2]``. Its program is sent in
    iteration ``sent_in[r]``, -1 for none; the repair does not change it while ``is_tabu[r]``. For each iteration:
    ``tasks`` that its workers can hold, ``num_programs`` sent, ``channel_excess`` (missing slots of the channel,
    negative if some are free), ``idle`` slots that the channel cannot use, ``unserved`` units, whether these two are
    out of date (``is_stale``), and the factors ``channel_penalty`` and ``task_penalty`` of its violations.
    ``num_short[k]`` counts the iterations before k with too few tasks. ``choice`` is the period and iteration of the
    best change.
    """

    period: Ints
    sent_in: Ints
    is_tabu: Bytes
    tasks: Ints
    num_programs: Ints
    channel_excess: Reals
    idle: Reals
    unserved: Ints
    is_stale: Bytes
    num_short: Ints
    choice: Ints
    channel_penalty: Reals
    task_penalty: Reals


def make_windows(iterations: int, workers: int, pauses: int) -> Windows:
    """Return windows for these numbers of iterations, workers and pauses."""
    return Windows(
        np.zeros(iterations, np.int64),
        np.zeros(iterations, np.int64),
        np.zeros(iterations, np.int64),
        np.full((iterations, pauses), -1, np.int64),
        np.zeros((iterations, workers), np.uint8),
    )


def set_windows(to: Windows, one: Windows) -> None:
    """Copy windows that have at most as many pauses."""
    to.first[:], to.last[:], to.work[:] = one.first, one.last, one.work
    to.pauses[:] = -1
    to.pauses[:, : one.pauses.shape[1]] = one.pauses
    to.sent[:] = one.sent


class ViolationWeights(NamedTuple):
    """Violations in slots: of a missing slot of the channel, a missing task, a program, a slot after the target."""

    channel: float
    task: float
    program: float
    slot: float


def make_limits(iterations: int, workers: int) -> TaskLimits:
    """Return arrays for these numbers of iterations and workers."""
    return TaskLimits(
        np.zeros((iterations, workers), np.int64),
        np.zeros((iterations, workers), np.int64),
        np.zeros((iterations, workers), np.uint8),
        np.zeros((iterations, workers), np.int64),
    )


def make_assignment(iterations: int, workers: int) -> ProgramAssignment:
    """Return arrays for these numbers of iterations and workers."""

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, np.int64)

    periods = iterations * workers
    return ProgramAssignment(
        period=ints(periods, 3),
        sent_in=ints(periods),
        is_tabu=np.zeros(periods, np.uint8),
        tasks=ints(iterations),
        num_programs=ints(iterations),
        channel_excess=np.zeros(iterations),
        idle=np.zeros(iterations),
        unserved=ints(iterations),
        is_stale=np.zeros(iterations, np.uint8),
        num_short=ints(iterations + 1),
        choice=ints(2),
        channel_penalty=np.ones(iterations),
        task_penalty=np.ones(iterations),
    )


@kernel(nogil=True)
def start_of(windows: Windows, k: int) -> int:
    """Return the first slot of iteration k."""
    return int(windows.last[k - 1]) + 1 if k > 0 else 0


@kernel(nogil=True)
def end_of_window(problem: Problem, windows: Windows, k: int) -> int:
    """Return the slot in which iteration k ends: the W-th from ``first[k]`` on without its pauses."""
    first = windows.first[k]
    least = first + problem.work[windows.work[k]] - 1
    last = least
    while True:
        n = 0
        for i in range(windows.pauses.shape[1]):
            if first < windows.pauses[k, i] <= last:
                n += 1
        if least + n == last:
            return int(last)
        last = least + n


@kernel(nogil=True)
def compute_limits(
    table: Table, problem: Problem, windows: Windows, limits: TaskLimits, k: int, no_stand_by: bool, effort: Ints
) -> None:
    """Compute the limits of all workers in iteration k."""
    cnt = table.cnt
    s, c, e = start_of(windows, k), windows.first[k], windows.last[k]
    iw = windows.work[k]
    w = problem.work[iw]
    effort[SPENT] += problem.p // 8
    for q in range(problem.p):
        period_start = table.down[e, q] + 1
        limits.period_start[k, q] = period_start
        limits.if_sent[k, q] = limits.if_held[k, q] = limits.can_send[k, q] = 0
        if period_start > c:
            continue
        have = cnt[c, q] - cnt[max(s, period_start), q] - problem.t_prog  # UP slots for data after the program
        is_sendable = have >= 0
        up = cnt[e + 1, q] - cnt[c, q]
        if up >= w:
            for i in range(windows.pauses.shape[1]):
                t = windows.pauses[k, i]
                if c < t < e:
                    up -= cnt[t + 1, q] - cnt[t, q]
            if up >= w:
                cap = problem.caps[iw, q]
                if problem.t_data == 0:
                    limits.if_held[k, q] = cap
                    limits.if_sent[k, q] = cap if is_sendable else 0
                else:
                    limits.if_held[k, q] = min(cap, (have + problem.t_prog) // problem.t_data)
                    limits.if_sent[k, q] = min(cap, have // problem.t_data) if is_sendable else 0
        if is_sendable and not (no_stand_by and limits.if_sent[k, q] == 0):
            limits.can_send[k, q] = 1


@kernel(nogil=True)
def list_periods(
    problem: Problem, windows: Windows, limits: TaskLimits, assignment: ProgramAssignment, effort: Ints
) -> int:
    """List the periods in which a worker can compute, with their programs; return their number."""
    iterations = windows.first.size
    effort[SPENT] += problem.p * iterations // 16
    n = 0
    for q in range(problem.p):
        k = 0
        while k < iterations:
            last = k
            is_useful = limits.if_held[k, q] > 0
            while last + 1 < iterations and limits.period_start[last + 1, q] == limits.period_start[k, q]:
                last += 1
                is_useful = is_useful or limits.if_held[last, q] > 0
            if is_useful:
                assignment.period[n, 0] = q
                assignment.period[n, 1] = k
                assignment.period[n, 2] = last
                assignment.sent_in[n] = -1
                assignment.is_tabu[n] = 0
                for i in range(k, last + 1):
                    if windows.sent[i, q] and limits.can_send[i, q]:
                        assignment.sent_in[n] = i
                        break
                n += 1
            k = last + 1
    return n


@kernel(nogil=True)
def total_assignment(
    problem: Problem, windows: Windows, limits: TaskLimits, assignment: ProgramAssignment, n: int
) -> None:
    """Compute tasks, programs and channel excess of every iteration."""
    iterations = windows.first.size
    for k in range(iterations):
        assignment.tasks[k] = assignment.num_programs[k] = 0
    for r in range(n):
        i = assignment.sent_in[r]
        if i < 0:
            continue
        q = assignment.period[r, 0]
        assignment.num_programs[i] += 1
        assignment.tasks[i] += limits.if_sent[i, q]
        for k in range(i + 1, assignment.period[r, 2] + 1):
            assignment.tasks[k] += limits.if_held[k, q]
    for k in range(iterations):
        units = assignment.num_programs[k] * problem.t_prog + problem.m * problem.t_data
        assignment.channel_excess[k] = (
            units / problem.n_com - (windows.first[k] - start_of(windows, k)) + assignment.idle[k]
        )


@kernel(nogil=True)
def _tasks_held(limits: TaskLimits, q: int, at: int, k: int) -> int:
    """Return the tasks that worker q can hold in iteration k if the program is sent in iteration `at`, -1 for never."""
    if at < 0 or k < at:
        return 0
    return int(limits.if_sent[k, q] if k == at else limits.if_held[k, q])


@kernel(nogil=True)
def _violation_change(
    problem: Problem, limits: TaskLimits, assignment: ProgramAssignment, weights: ViolationWeights, r: int, to: int
) -> float:
    """Return the change of the violation if the program of period r is sent in iteration `to`, -1 for never."""
    q, at = assignment.period[r, 0], assignment.sent_in[r]
    slots = problem.t_prog / problem.n_com
    change = 0.0
    if to >= 0:
        excess = assignment.channel_excess[to]
        weight = weights.channel * assignment.channel_penalty[to]
        change += weight * (max(0.0, excess + slots) - max(0.0, excess)) + weights.program
    if at >= 0:
        excess = assignment.channel_excess[at]
        weight = weights.channel * assignment.channel_penalty[at]
        change += weight * (max(0.0, excess - slots) - max(0.0, excess)) - weights.program
    first = to if at < 0 else at if to < 0 else min(at, to)
    for k in range(first, assignment.period[r, 2] + 1):
        more = _tasks_held(limits, q, to, k) - _tasks_held(limits, q, at, k)
        if more != 0:
            lacks = problem.m - assignment.tasks[k]
            change += weights.task * assignment.task_penalty[k] * (max(0, lacks - more) - max(0, lacks))
    return change


@kernel(nogil=True)
def _apply(problem: Problem, limits: TaskLimits, assignment: ProgramAssignment, r: int, to: int) -> None:
    """Send the program of period r in iteration `to` instead of its present one."""
    q, at = assignment.period[r, 0], assignment.sent_in[r]
    slots = problem.t_prog / problem.n_com
    if at >= 0:
        assignment.num_programs[at] -= 1
        assignment.channel_excess[at] -= slots
    if to >= 0:
        assignment.num_programs[to] += 1
        assignment.channel_excess[to] += slots
    first = to if at < 0 else at if to < 0 else min(at, to)
    for k in range(first, assignment.period[r, 2] + 1):
        assignment.tasks[k] += _tasks_held(limits, q, to, k) - _tasks_held(limits, q, at, k)
        assignment.is_stale[k] = 1
    assignment.sent_in[r] = to


@kernel(nogil=True)
def repair(
    problem: Problem,
    limits: TaskLimits,
    assignment: ProgramAssignment,
    weights: ViolationWeights,
    n: int,
    most: int,
    effort: Ints,
) -> None:
    """Change one program after the other, each time by the change that reduces the violation most, at most `most`."""
    iterations = assignment.tasks.size
    num_short = assignment.num_short
    for _ in range(most):
        for k in range(iterations):
            num_short[k + 1] = num_short[k] + (1 if assignment.tasks[k] < problem.m else 0)
        best = -1e-6
        assignment.choice[0] = -1
        looked = 0
        for r in range(n):
            low, high, at = assignment.period[r, 1], assignment.period[r, 2], assignment.sent_in[r]
            # A period without a program helps only an iteration with too few tasks.
            if assignment.is_tabu[r] or (at < 0 and num_short[high + 1] == num_short[low]):
                continue
            q = assignment.period[r, 0]
            for to in range(low - 1, high + 1):
                goal = to if to >= low else -1
                if goal == at or (goal >= 0 and not limits.can_send[goal, q]):
                    continue
                looked += 1 + high - low
                change = _violation_change(problem, limits, assignment, weights, r, goal)
                if change < best:
                    best = change
                    assignment.choice[0], assignment.choice[1] = r, goal
        effort[SPENT] += 1 + n // 64 + looked // 16
        if assignment.choice[0] < 0:
            return
        _apply(problem, limits, assignment, assignment.choice[0], assignment.choice[1])
        assignment.is_tabu[assignment.choice[0]] = 0
