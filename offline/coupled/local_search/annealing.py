"""Simulated annealing: a move changes a window or withdraws programs, then the programs are repaired.

The moves are those of module `plain_state`. One generator supplies all random numbers, and limits are counts of moves
and effort, so runs are reproducible.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.local_search.parameters import LocalSearchParameters
from hindsched.offline.coupled.local_search.repair import (
    ProgramAssignment,
    TaskLimits,
    ViolationWeights,
    Windows,
    compute_limits,
    end_of_window,
    list_periods,
    make_assignment,
    make_limits,
    make_windows,
    repair,
    start_of,
    total_assignment,
)
from hindsched.offline.coupled.local_search.service import ServiceArrays, make_service, serve_iteration
from hindsched.offline.coupled.search.effort import SPENT, STOP
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.state_tables import Table

# Why `anneal` stopped.
FOUND_BETTER, MOVES_DONE, EFFORT_USED = range(3)

# Cells of ``AnnealingState.counts``: moves tried in this run, and moves accepted since the start.
NUM_MOVES, NUM_ACCEPTED = range(2)


class AnnealingSettings(NamedTuple):
    """What stays the same in all runs from one start."""

    weights: ViolationWeights
    parameters: LocalSearchParameters
    no_stand_by: bool


class AnnealingState(NamedTuple):
    """The accepted state ``now``, the ``trial`` state, and their task limits and violations.

    ``idle``, ``unserved`` and ``violation`` belong to the accepted state. ``generator`` is one word of random bits. The
    cells of ``counts`` are named above.
    """

    now: Windows
    trial: Windows
    limits: TaskLimits
    trial_limits: TaskLimits
    assignment: ProgramAssignment
    idle: Reals
    unserved: Ints
    service: ServiceArrays
    generator: Words
    violation: Reals
    counts: Ints


def make_annealing_state(iterations: int, workers: int, pauses: int, seed: int) -> AnnealingState:
    """Return arrays for these numbers of iterations, workers and pauses of a window."""
    word = (seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) % (1 << 64)
    return AnnealingState(
        now=make_windows(iterations, workers, pauses),
        trial=make_windows(iterations, workers, pauses),
        limits=make_limits(iterations, workers),
        trial_limits=make_limits(iterations, workers),
        assignment=make_assignment(iterations, workers),
        idle=np.zeros(iterations),
        unserved=np.zeros(iterations, np.int64),
        service=make_service(workers),
        generator=np.array([word | 1], np.uint64),
        violation=np.zeros(1),
        counts=np.zeros(2, np.int64),
    )


@kernel(nogil=True)
def _random(generator: Words) -> float:
    """Return the next number in [0, 1)."""
    x = generator[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    generator[0] = x
    return float(x >> np.uint64(11)) / 9007199254740992.0


@kernel(nogil=True)
def _below(generator: Words, n: int) -> int:
    """Return the next number of 0..n-1."""
    return int(_random(generator) * n)


@kernel(nogil=True)
def _copy_windows(to: Windows, one: Windows) -> None:
    for k in range(one.first.size):
        to.first[k], to.last[k], to.work[k] = one.first[k], one.last[k], one.work[k]
        for i in range(one.pauses.shape[1]):
            to.pauses[k, i] = one.pauses[k, i]
        for q in range(one.sent.shape[1]):
            to.sent[k, q] = one.sent[k, q]


@kernel(nogil=True)
def _copy_limits(to: TaskLimits, one: TaskLimits, low: int, high: int) -> None:
    for k in range(low, high + 1):
        for q in range(one.if_held.shape[1]):
            to.if_sent[k, q] = one.if_sent[k, q]
            to.if_held[k, q] = one.if_held[k, q]
            to.can_send[k, q] = one.can_send[k, q]
            to.period_start[k, q] = one.period_start[k, q]


@kernel(nogil=True)
def _move_window(problem: Problem, state: AnnealingState, k: int, parameters: LocalSearchParameters) -> bool:
    """Shift window k of the trial state, change its length or a pause; return False if that is impossible."""
    trial, generator = state.trial, state.generator
    kind = _random(generator)
    programs = parameters.programs_share
    if kind < (parameters.communication_share - programs) / (1.0 - programs):
        most = max(3, trial.last[trial.last.size - 1] // (parameters.step_divisor * trial.last.size))
        by = 1 + (_below(generator, most) if _random(generator) < 0.5 else 0)
        trial.first[k] += -by if _random(generator) < 0.6 else by
    elif kind < (parameters.length_share - programs) / (1.0 - programs):
        by = 1 + _below(generator, 3)
        iw = trial.work[k] + (-by if _random(generator) < 0.5 else by)
        if iw < 0 or iw >= problem.work.size:
            return False
        if _random(generator) < 0.4:  # the start changes instead of the end
            trial.first[k] -= problem.work[iw] - problem.work[trial.work[k]]
        trial.work[k] = iw
    else:
        i = _below(generator, trial.pauses.shape[1])
        by = -1
        if trial.pauses[k, i] >= 0:
            trial.pauses[k, i] = -1
            by = 1
        elif trial.last[k] > trial.first[k]:
            t = trial.first[k] + 1 + _below(generator, trial.last[k] - trial.first[k])
            for j in range(trial.pauses.shape[1]):
                if trial.pauses[k, j] == t:
                    return False
            trial.pauses[k, i] = t
        else:
            return False
        if _random(generator) < 0.4:
            trial.first[k] += by
    return True


@kernel(nogil=True)
def _shift_windows(table: Table, problem: Problem, state: AnnealingState, k: int, latest: int) -> int:
    """Set the ends after a change of window k; return the last iteration that changes, -1 if the state is impossible.

    Later windows shift with it: all of them, or those before a communication phase whose length changes.
    """
    trial, generator = state.trial, state.generator
    iterations = trial.first.size
    least = (problem.m * problem.t_data + problem.n_com - 1) // problem.n_com
    before = trial.last[k]
    longest = problem.work[trial.work[k]] + trial.pauses.shape[1]
    if trial.first[k] < start_of(trial, k) + least or trial.first[k] + longest >= table.length:
        return -1
    trial.last[k] = end_of_window(problem, trial, k)
    by = trial.last[k] - before
    high = k
    if by != 0:
        shifted = iterations - 1 if _random(generator) < 0.5 else k + _below(generator, iterations - k)
        for j in range(k + 1, shifted + 1):
            trial.first[j] += by
            if trial.first[j] + problem.work[trial.work[j]] + trial.pauses.shape[1] >= table.length:
                return -1
            trial.last[j] = end_of_window(problem, trial, j)
        high = min(iterations - 1, shifted + 1)
    for j in range(k, iterations):
        if trial.first[j] < start_of(trial, j) + least:
            return -1
    return int(high) if trial.last[iterations - 1] <= latest else -1


@kernel(nogil=True)
def _withdraw_programs(state: AnnealingState, n: int) -> None:
    """Withdraw one to four programs at random and make them tabu for the repair."""
    assignment, generator = state.assignment, state.generator
    wanted = 1 + _below(generator, 4)
    for _ in range(200):
        if wanted == 0:
            return
        r = _below(generator, n)
        if assignment.sent_in[r] >= 0:
            assignment.sent_in[r] = -1
            assignment.is_tabu[r] = 1
            wanted -= 1


@kernel(nogil=True)
def _serve_stale(
    table: Table,
    problem: Problem,
    state: AnnealingState,
    windows: Windows,
    limits: TaskLimits,
    n: int,
    no_stand_by: bool,
    effort: Ints,
) -> None:
    """Compute the unserved units and idle slots of the iterations in which they are stale."""
    assignment = state.assignment
    for k in range(windows.first.size):
        room = assignment.channel_excess[k] - assignment.idle[k]  # without idle slots
        if room > 1e-9 or assignment.tasks[k] < problem.m:
            assignment.unserved[k] = 0
            continue
        if not assignment.is_stale[k]:
            continue
        missing = serve_iteration(table, problem, windows, limits, assignment, state.service, n, k, no_stand_by, effort)
        assignment.unserved[k] = missing
        assignment.is_stale[k] = 0
        if missing > 0:
            assignment.idle[k] = missing / problem.n_com - room
        elif assignment.channel_excess[k] > 0.0:
            assignment.idle[k] = -room


@kernel(nogil=True)
def _total_violation(
    problem: Problem, state: AnnealingState, windows: Windows, weights: ViolationWeights, target: int
) -> float:
    """Return the violation of a state in slots: almost 0 for a schedule, whose programs count a little."""
    assignment = state.assignment
    violation = weights.slot * max(0, windows.last[windows.last.size - 1] - target)
    for k in range(windows.first.size):
        excess = max(assignment.channel_excess[k] - assignment.idle[k], assignment.unserved[k] / problem.n_com)
        violation += weights.channel * assignment.channel_penalty[k] * max(0.0, excess)
        violation += weights.task * assignment.task_penalty[k] * max(0, problem.m - assignment.tasks[k])
        violation += weights.program * assignment.num_programs[k]
    return float(violation)


@kernel(nogil=True)
def _is_schedule(problem: Problem, state: AnnealingState, latest: int) -> bool:
    """Return whether the accepted state is a schedule that ends in `latest` or before."""
    assignment, now = state.assignment, state.now
    if now.last[now.last.size - 1] > latest:
        return False
    for k in range(now.first.size):
        room = assignment.channel_excess[k] - assignment.idle[k]
        if room > 1e-9 or assignment.unserved[k] != 0 or assignment.tasks[k] < problem.m:
            return False
    return True


@kernel(nogil=True)
def _accept(state: AnnealingState, low: int, high: int, n: int) -> None:
    """Make the trial state the accepted state."""
    now, assignment = state.now, state.assignment
    _copy_windows(now, state.trial)
    _copy_limits(state.limits, state.trial_limits, low, high)
    for k in range(now.first.size):
        state.idle[k] = assignment.idle[k]
        state.unserved[k] = assignment.unserved[k]
        for q in range(now.sent.shape[1]):
            now.sent[k, q] = 0
    for r in range(n):
        if assignment.sent_in[r] >= 0:
            now.sent[assignment.sent_in[r], assignment.period[r, 0]] = 1


@kernel(nogil=True)
def _update_penalties(problem: Problem, assignment: ProgramAssignment, parameters: LocalSearchParameters) -> None:
    """Raise the penalties that the accepted state violates, and let the others decay."""
    for k in range(assignment.tasks.size):
        excess = max(assignment.channel_excess[k] - assignment.idle[k], assignment.unserved[k] / problem.n_com)
        is_short = assignment.tasks[k] < problem.m
        assignment.channel_penalty[k] = _next_penalty(assignment.channel_penalty[k], excess > 1e-9, parameters)
        assignment.task_penalty[k] = _next_penalty(assignment.task_penalty[k], is_short, parameters)


@kernel(nogil=True)
def _next_penalty(penalty: float, is_violated: bool, parameters: LocalSearchParameters) -> float:
    if is_violated:
        return min(parameters.max_penalty, penalty * (1.0 + parameters.penalty_increase))
    return penalty - (penalty - 1.0) * parameters.penalty_decay


@kernel(nogil=True)
def start_annealing(
    table: Table, problem: Problem, state: AnnealingState, settings: AnnealingSettings, target: int, effort: Ints
) -> None:
    """Start an annealing run from ``state.now``."""
    weights, no_stand_by = settings.weights, settings.no_stand_by
    now, assignment = state.now, state.assignment
    _copy_windows(state.trial, now)
    for k in range(now.first.size):
        compute_limits(table, problem, now, state.trial_limits, k, no_stand_by, effort)
        assignment.idle[k] = 0.0
        assignment.unserved[k] = 0
        assignment.is_stale[k] = 1
        assignment.channel_penalty[k] = assignment.task_penalty[k] = 1.0
    n = list_periods(problem, now, state.trial_limits, assignment, effort)
    total_assignment(problem, now, state.trial_limits, assignment, n)
    _serve_stale(table, problem, state, now, state.trial_limits, n, no_stand_by, effort)
    state.violation[0] = _total_violation(problem, state, now, weights, target)
    _accept(state, 0, now.first.size - 1, n)


@kernel(nogil=True)
def anneal(
    table: Table,
    problem: Problem,
    state: AnnealingState,
    settings: AnnealingSettings,
    latest: int,
    target: int,
    effort: Ints,
) -> int:
    """Continue a run until a schedule is found that ends in `latest` or before, or the run is excess.

    Once a state ends in slot `target` or before, all later states do.

    Returns `FOUND_BETTER`, `MOVES_DONE`, or `EFFORT_USED` if the effort limit is met.
    """
    weights, parameters, no_stand_by = settings
    moves, hot, cold = parameters.moves, parameters.initial_temperature, parameters.final_temperature
    now, trial, limits, trial_limits, assignment = (
        state.now,
        state.trial,
        state.limits,
        state.trial_limits,
        state.assignment,
    )
    generator, counts = state.generator, state.counts
    iterations = now.first.size
    while counts[NUM_MOVES] < moves:
        if effort[SPENT] > effort[STOP]:
            return EFFORT_USED
        effort[SPENT] += 4 + problem.p * iterations // 64
        temperature = hot * exp(counts[NUM_MOVES] / moves * np.log(cold / hot))
        counts[NUM_MOVES] += 1
        _copy_windows(trial, now)
        withdraws = _random(generator) < parameters.programs_share
        low, high = 1, 0
        if not withdraws:
            low = _below(generator, iterations)
            if not _move_window(problem, state, low, parameters):
                continue
            high = _shift_windows(table, problem, state, low, max(target, now.last[iterations - 1]))
            if high < 0:
                continue
        for k in range(iterations):
            assignment.idle[k] = state.idle[k]
            assignment.unserved[k] = state.unserved[k]
            assignment.is_stale[k] = 1 if low <= k <= high else 0
        for k in range(low, high + 1):
            compute_limits(table, problem, trial, trial_limits, k, no_stand_by, effort)
        n = list_periods(problem, trial, trial_limits, assignment, effort)
        for k in range(iterations):  # a program that can no longer be sent changes later iterations
            if low <= high and k >= low:
                assignment.is_stale[k] = 1
        if withdraws:
            _withdraw_programs(state, n)
            for k in range(iterations):
                assignment.is_stale[k] = 1
        total_assignment(problem, trial, trial_limits, assignment, n)
        repair(problem, trial_limits, assignment, weights, n, parameters.max_changes, effort)
        violation = _total_violation(problem, state, trial, weights, target)
        # The service is computed only if the other violations are acceptable.
        limit = state.violation[0] - temperature * np.log(max(1e-300, _random(generator)))
        if violation - _unserved_violation(problem, state, weights) <= limit:
            _serve_stale(table, problem, state, trial, trial_limits, n, no_stand_by, effort)
            violation = _total_violation(problem, state, trial, weights, target)
        if violation <= limit:
            counts[NUM_ACCEPTED] += 1
            _accept(state, low, high, n)
            _update_penalties(problem, assignment, parameters)
            state.violation[0] = _total_violation(problem, state, trial, weights, target)
            if _is_schedule(problem, state, latest):
                return FOUND_BETTER
        else:
            _copy_limits(trial_limits, limits, low, high)
    return MOVES_DONE


@kernel(nogil=True)
def _unserved_violation(problem: Problem, state: AnnealingState, weights: ViolationWeights) -> float:
    """Return the part of the violation that unserved units add."""
    assignment = state.assignment
    violation = 0.0
    for k in range(assignment.unserved.size):
        served = max(0.0, assignment.channel_excess[k] - assignment.idle[k])
        violation += (
            weights.channel * assignment.channel_penalty[k] * max(0.0, assignment.unserved[k] / problem.n_com - served)
        )
    return violation
