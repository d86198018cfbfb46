"""Rules R1 to R5 slot by slot with the planner: the compiled twin of `simulate`, `planner` and `serving`."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Bytes, Ints
from hindsched.instances.compiling import kernel
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.lookahead.kernels.attempt_kernels import (
    LOG_P_PLUS,
    U,
    cost_of,
    load_members,
    load_plan,
    place_of,
    success_of,
)
from hindsched.online.coupled.lookahead.kernels.exchange_kernels import improve
from hindsched.online.coupled.lookahead.kernels.plan_kernels import build
from hindsched.online.coupled.lookahead.kernels.planner_arguments import (
    ABSENT,
    CHOSEN,
    COMPUTED,
    HELD,
    ITERATION,
    KNOWN,
    SLOT,
    Application,
    PlannerContext,
    Record,
    RunState,
    Scratch,
)
from hindsched.online.coupled.lookahead.plans import CLEAR

__all__ = ["arrange", "enrol", "fail", "record_slot", "run", "update_plan", "work"]

_PROGRAM, _DATA, _COMPUTE, _IDLE = np.uint8(ord("P")), np.uint8(ord("D")), np.uint8(ord("C")), np.uint8(ord("I"))


@kernel
def run(
    context: PlannerContext, states: Bytes, run_state: RunState, record: Record, limit: int, last_iteration: int
) -> None:
    """Continue from slot ``run_state.at[SLOT]`` until ``last_iteration`` iterations are complete, or to ``limit``.

    ``run_state.expected`` adds the success probability of every computation that begins, and subtracts the present one
    of a computation that is abandoned for another plan. A success probability is a martingale, so the mean of this sum
    is that of the completed iterations; it is informative even if no iteration completes.

    ``states`` has shape (p, slots) with at least ``limit`` slots. ``record`` determines how many slots are recorded.
    """
    application, _, _, scratch = context
    at = run_state.at
    while at[SLOT] < limit and at[ITERATION] < last_iteration:
        slot = at[SLOT]
        fail(states, slot, scratch, run_state)
        update_plan(context, run_state)
        num = arrange(context, run_state)
        is_new = enrol(application, scratch.requested, run_state)
        is_noted = record_slot(record, slot, is_new, run_state)
        is_idle = at[COMPUTED] == 0
        completed = at[ITERATION]
        work(application, scratch, run_state, num, record.letters, is_noted)
        if is_idle and at[COMPUTED] == 1:
            run_state.expected[0] += success_chance(context, run_state, 0)
        elif is_idle and at[ITERATION] > completed:
            run_state.expected[0] += 1.0  # begun and completed in one slot


@kernel
def success_chance(context: PlannerContext, run_state: RunState, done: int) -> float:
    """Return the probability that the plan held, which lacks nothing, succeeds after ``done`` slots of computation."""
    application, _, tables, scratch = context
    num = load_plan(run_state.plan, scratch)
    load_members(context, run_state, run_state.plan, num)
    left = 0
    for k in range(num):
        left = max(left, run_state.plan[scratch.who[k]] * application.w[scratch.who[k]] - done)
    place = place_of(tables, scratch, scratch.zeros, num)
    u0, log_p_plus = tables.sums[place, U], tables.sums[place, LOG_P_PLUS]
    place = place_of(tables, scratch, scratch.state, num)
    return success_of(tables.sums[place, U], u0, log_p_plus, left)


@kernel
def record_slot(record: Record, slot: int, is_new: bool, run_state: RunState) -> bool:
    """Write the configuration into the record if there is room; return whether there is."""
    if slot >= record.is_new.size:
        return False
    record.is_new[slot] = is_new
    for q in range(run_state.tasks.size):
        record.tasks[slot, q] = run_state.tasks[q]
    return True


@kernel
def fail(states: Bytes, slot: int, scratch: Scratch, run_state: RunState) -> None:
    """Apply R1: a worker that is DOWN loses all, and ends a plan of which it is a member."""
    at = run_state.at
    for q in range(run_state.tasks.size):
        state = np.int64(states[q, slot])
        scratch.now[q] = state
        if state == DOWN:
            if run_state.program[q] + run_state.data[q] > 0:
                run_state.program[q] = run_state.data[q] = 0
                at[KNOWN] = 0
            if run_state.tasks[q] > 0:
                at[COMPUTED] = 0
            run_state.tasks[q] = ABSENT
            if run_state.plan[q] > 0:
                at[HELD] = 0
        scratch.eligible[q] = state if state == UP or (state != DOWN and run_state.tasks[q] != ABSENT) else -1
    if at[HELD] == 0:
        run_state.plan[:] = 0


@kernel
def update_plan(context: PlannerContext, run_state: RunState) -> None:
    """Build a plan, and take it if no plan is held or its J is smaller."""
    _, options, _, scratch = context
    at = run_state.at
    eligible, built = scratch.eligible, scratch.built
    is_same = at[KNOWN] == 1
    for q in range(eligible.size):
        if eligible[q] != scratch.seen[q]:
            is_same = False
            scratch.seen[q] = eligible[q]
    if not is_same:  # otherwise the last result is still valid
        if build(context, run_state, options.value):
            at[KNOWN] = 1
            if options.exchanges:
                scratch.cost[0] = improve(context, run_state, built, scratch.cost[0], options.value)
                if at[HELD] == 1:
                    for q in range(built.size):
                        scratch.tried[q] = run_state.plan[q]
                    cost = cost_of(context, run_state, scratch.tried, 0, options.value)
                    cost = improve(context, run_state, scratch.tried, cost, options.value)
                    if cost < scratch.cost[0] - CLEAR * abs(scratch.cost[0]):
                        scratch.cost[0] = cost
                        for q in range(built.size):
                            built[q] = scratch.tried[q]
        else:
            at[KNOWN] = 2
    if at[KNOWN] == 2:  # too few workers
        at[KNOWN] = 0
        return
    if at[HELD] == 1:
        differs = False
        for q in range(built.size):
            differs = differs or built[q] != run_state.plan[q]
        if not differs:
            return
        held = cost_of(context, run_state, run_state.plan, at[COMPUTED], options.value)
        if not scratch.cost[0] < held - CLEAR * abs(held):
            return
        if at[COMPUTED] > 0:
            run_state.expected[0] -= success_chance(context, run_state, at[COMPUTED])
    at[HELD] = 1
    at[CHOSEN] += 1
    for q in range(built.size):
        run_state.plan[q] = built[q]


@kernel
def arrange(context: PlannerContext, run_state: RunState) -> int:
    """Write the configuration to enrol and the workers to serve; return the number of workers to serve."""
    application, options, _, scratch = context
    requested, order, chosen, now = scratch.requested, scratch.order, scratch.chosen, scratch.now
    at, y, program, data = run_state.at, run_state.plan, run_state.program, run_state.data
    t_prog, t_data, w = application.t_prog, application.t_data, application.w
    p = requested.size
    is_loaded = at[HELD] == 1
    is_up = True
    for q in range(p):
        requested[q] = y[q] if y[q] > 0 else ABSENT
        if options.stands_by and requested[q] == ABSENT and scratch.eligible[q] >= 0:
            requested[q] = 0
        if y[q] > 0:
            is_loaded = is_loaded and program[q] == t_prog and data[q] >= y[q] * t_data
            is_up = is_up and now[q] == UP
    if is_loaded and (is_up or at[COMPUTED] > 0 or not options.prefetches):
        return 0
    num = 0
    for q in range(p):
        chosen[q] = 0
    # members that lack something, the largest need first
    while num < application.channels:
        best = -1
        most = 0
        for q in range(p):
            if y[q] > 0 and now[q] == UP and chosen[q] == 0:
                need = t_prog - program[q] + max(0, y[q] * t_data - data[q])
                if need > most:
                    best, most = q, need
        if best < 0:
            break
        order[num] = best
        chosen[best] = 1
        num += 1
    num_members = num
    if options.stands_by and num < application.channels:
        # programs for the others, the fastest first
        for q in scratch.fastest:
            if y[q] == 0 and requested[q] == 0 and now[q] == UP and program[q] < t_prog:
                order[num] = q
                chosen[q] = 1
                num += 1
                if num == application.channels:
                    break
    if not options.prefetches:
        return num
    # enrol the tasks whose data is sent in this slot; no computation can be lost
    total = 0
    for q in range(p):
        requested[q] = min(requested[q], 0)
    for k in range(num_members):
        q = order[k]
        if program[q] == t_prog:
            requested[q] = data[q] // t_data + 1
            total += requested[q]
    while num < application.channels and t_data > 0:
        best = -1
        least = 0
        for q in range(p):
            if requested[q] == 0 and now[q] == UP and program[q] == t_prog and chosen[q] == 0:
                x = data[q] // t_data + 1
                fits = x <= application.capacities[q] and total + x <= application.tasks
                if fits and (best < 0 or x * w[q] < least):
                    best, least = q, x * w[q]
        if best < 0:
            break
        requested[best] = data[best] // t_data + 1
        total += requested[best]
        order[num] = best
        chosen[best] = 1
        num += 1
    return num


@kernel
def enrol(application: Application, requested: Ints, run_state: RunState) -> bool:
    """Apply R2: enrol a configuration; return whether it differs from the present one."""
    at, tasks = run_state.at, run_state.tasks
    is_new = False
    for q in range(tasks.size):
        if requested[q] == tasks[q]:
            continue
        is_new = True
        if max(requested[q], 0) != max(tasks[q], 0):
            at[COMPUTED] = 0
        if requested[q] == ABSENT:
            leave(application, run_state, q)
        tasks[q] = requested[q]
    return is_new


@kernel
def leave(application: Application, run_state: RunState, q: int) -> None:
    """Remove a worker's data and incomplete program."""
    if run_state.data[q] > 0:
        run_state.data[q] = 0
        run_state.at[KNOWN] = 0
    if 0 < run_state.program[q] < application.t_prog:
        run_state.program[q] = 0
        run_state.at[KNOWN] = 0


@kernel
def work(
    application: Application, scratch: Scratch, run_state: RunState, num: int, letters: Bytes, is_noted: bool
) -> None:
    """Apply R3 or R4, and R5; the master serves the first ``num`` of ``scratch.order``."""
    at, tasks, program, data = run_state.at, run_state.tasks, run_state.program, run_state.data
    t_prog, t_data = application.t_prog, application.t_data
    slot = at[SLOT]
    total = need = 0
    is_up = True
    work_to_do = 0
    for q in range(tasks.size):
        if is_noted and tasks[q] != ABSENT:
            letters[slot, q] = _IDLE
        if tasks[q] > 0:
            total += tasks[q]
            need += t_prog - program[q] + max(0, tasks[q] * t_data - data[q])
            is_up = is_up and scratch.now[q] == UP
            work_to_do = max(work_to_do, tasks[q] * application.w[q])
    at[SLOT] += 1
    if total < application.tasks or need > 0:
        for k in range(num):
            q = scratch.order[k]
            at[KNOWN] = 0
            letter = _PROGRAM
            if program[q] < t_prog:
                program[q] += 1
            else:
                data[q] += 1
                letter = _DATA
            if is_noted:
                letters[slot, q] = letter
        return
    if is_up:
        at[COMPUTED] += 1
        for q in range(tasks.size):
            if is_noted and tasks[q] > 0:
                letters[slot, q] = _COMPUTE
    if at[COMPUTED] == work_to_do:
        for q in range(tasks.size):
            leave(application, run_state, q)
            tasks[q] = ABSENT
        run_state.plan[:] = 0
        at[COMPUTED] = 0
        at[HELD] = 0
        at[KNOWN] = 0
        at[ITERATION] += 1
