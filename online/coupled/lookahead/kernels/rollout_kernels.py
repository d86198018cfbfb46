"""Compare plans on sampled futures: the compiled twin of `hindsched.online.coupled.lookahead.rollout`."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Bytes, Ints
from hindsched.instances.compiling import kernel
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.lookahead.kernels.attempt_kernels import cost_of
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
    Futures,
    PlannerContext,
    Record,
    RunState,
)
from hindsched.online.coupled.lookahead.kernels.planner_kernels import arrange, enrol, fail, record_slot, work
from hindsched.online.coupled.lookahead.plans import CLEAR

__all__ = ["run_rolling"]

#: Number of slots of a future that are drawn at once.
_BLOCK = 8


@kernel
def run_rolling(
    context: PlannerContext,
    states: Bytes,
    run_state: RunState,
    record: Record,
    limit: int,
    last_iteration: int,
    futures: Futures,
) -> None:
    """Continue a run as `planner_kernels.run` does, with plans compared on sampled futures."""
    application, _, _, scratch = context
    at = run_state.at
    while at[SLOT] < limit and at[ITERATION] < last_iteration:
        slot = at[SLOT]
        fail(states, slot, scratch, run_state)
        choose(context, run_state, futures, record)
        num = arrange(context, run_state)
        is_new = enrol(application, scratch.requested, run_state)
        is_noted = record_slot(record, slot, is_new, run_state)
        work(application, scratch, run_state, num, record.letters, is_noted)


@kernel
def choose(context: PlannerContext, run_state: RunState, futures: Futures, record: Record) -> None:
    """Take the plan of least value among the one held and those built for several V."""
    options, scratch = context.options, context.scratch
    simulated = futures.run_state
    at, plans, values = run_state.at, futures.plans, futures.values
    num = 0
    if at[HELD] == 1:
        copy(run_state.plan, plans[0])
        num = 1
    for k in range(futures.factors.size):
        value = options.value * futures.factors[k]
        if not build(context, run_state, value):
            break
        if options.exchanges:
            improve(context, run_state, scratch.built, scratch.cost[0], value)
        is_known = False
        for j in range(num):
            is_known = is_known or is_same(plans[j], scratch.built)
        if not is_known:
            copy(scratch.built, plans[num])
            num += 1
    if num == 0:
        return
    best = 0
    if num > 1:
        for j in range(num):
            done = at[COMPUTED] if j == 0 and at[HELD] == 1 else 0
            values[j] = cost_of(context, run_state, plans[j], done, options.value)
        for k in range(futures.total):
            begin(futures, scratch.now, at[SLOT], k)
            for j in range(num):
                for q in range(run_state.tasks.size):
                    simulated.tasks[q] = run_state.tasks[q]
                    simulated.plan[q] = plans[j, q]
                    simulated.program[q] = run_state.program[q]
                    simulated.data[q] = run_state.data[q]
                simulated.at[SLOT] = simulated.at[ITERATION] = simulated.at[KNOWN] = 0
                simulated.at[HELD] = 1
                simulated.at[COMPUTED] = at[COMPUTED]
                values[j] += excess_cost(context, futures, record) / futures.total
        for j in range(1, num):
            if values[j] < values[best] - CLEAR * abs(values[best]):
                best = j
    if best > 0 or at[HELD] == 0:
        at[HELD] = 1
        at[CHOSEN] += 1
        copy(plans[best], run_state.plan)


@kernel
def excess_cost(context: PlannerContext, futures: Futures, record: Record) -> float:
    """Hold a plan to its end in a future; return the cost of a failure there minus V, 0 without failure."""
    application, options, tables, _ = context
    run_state, scratch = futures.run_state, futures.scratch
    simulation = PlannerContext(application, options, tables, scratch)
    at, states = run_state.at, futures.states
    while at[SLOT] < states.shape[1]:
        if at[SLOT] >= futures.drawn[0]:
            draw(futures)
        fail(states, at[SLOT], scratch, run_state)
        if at[HELD] == 0:
            if build(simulation, run_state, options.value):
                return float(scratch.cost[0]) - options.value
            return 0.0
        num = arrange(simulation, run_state)
        enrol(application, scratch.requested, run_state)
        work(application, scratch, run_state, num, record.letters, False)
        if at[ITERATION] > 0:
            return 0.0
        if at[COMPUTED] > 0 and options.stands_by and compute(application, futures, run_state):
            return 0.0
    return 0.0


@kernel
def compute(application: Application, futures: Futures, run_state: RunState) -> bool:
    """Advance to the slot in which a member of the plan is DOWN; return True if the plan succeeds or the future ends.

    While the plan computes, nothing is sent and no other plan is built, so only its members matter. The other workers
    are updated at the end: those that were DOWN have lost all, those that were UP since then are enrolled.
    """
    at, states, tasks = run_state.at, futures.states, run_state.tasks
    left = -at[COMPUTED]
    for q in range(tasks.size):
        left = max(left, tasks[q] * application.w[q] - at[COMPUTED])
    first = slot = at[SLOT]
    is_over = False
    while not is_over:
        if slot >= states.shape[1]:
            return True
        if slot >= futures.drawn[0]:
            draw(futures)
        is_up = True
        for q in range(tasks.size):
            if tasks[q] > 0 and states[q, slot] != UP:
                is_up = False
                is_over = is_over or states[q, slot] == DOWN
        if is_up:
            left -= 1
            if left == 0:
                return True
        if not is_over:
            slot += 1
    for q in range(tasks.size):
        for t in range(first, slot):
            if states[q, t] == DOWN:
                run_state.program[q] = run_state.data[q] = 0
                tasks[q] = ABSENT
            elif states[q, t] == UP and tasks[q] == ABSENT:
                tasks[q] = 0
    at[SLOT] = slot
    return False


@kernel
def begin(futures: Futures, now: Ints, slot: int, number: int) -> None:
    """Begin a future: its first slot is now, slot and number seed its random numbers."""
    for q in range(now.size):
        futures.states[q, 0] = now[q]
    mixed = (np.uint64(slot) * np.uint64(0x10001) + np.uint64(number + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    futures.random[0] = (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)
    futures.drawn[0] = 1


@kernel
def draw(futures: Futures) -> None:
    """Draw more slots with a xorshift generator, a number for each worker and slot."""
    x = futures.random[0]
    states, moves = futures.states, futures.moves
    first = futures.drawn[0]
    last = min(states.shape[1], first + _BLOCK)
    for t in range(first, last):
        for q in range(states.shape[0]):
            x ^= x << np.uint64(13)
            x ^= x >> np.uint64(7)
            x ^= x << np.uint64(17)
            number = float(x >> np.uint64(11)) * 2.0**-53
            state = states[q, t - 1]
            # UP, RECLAIMED or DOWN, without an unpredictable branch
            states[q, t] = int(number >= moves[q, state, 0]) + int(number >= moves[q, state, 1])
    futures.random[0] = x
    futures.drawn[0] = last


@kernel
def is_same(a: Ints, b: Ints) -> bool:
    """Return whether two plans are equal."""
    for q in range(a.size):
        if a[q] != b[q]:
            return False
    return True


@kernel
def copy(a: Ints, b: Ints) -> None:
    """Copy the numbers of ``a`` to ``b``."""
    for k in range(a.size):
        b[k] = a[k]
