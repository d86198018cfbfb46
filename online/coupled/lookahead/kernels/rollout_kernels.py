"""Plans compared on sampled futures: the twin of `hindsched.online.coupled.lookahead.rollout`."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Bytes, Ints
from hindsched.instances.compiling import kernel
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.lookahead.kernels.attempt_kernels import worth_of
from hindsched.online.coupled.lookahead.kernels.exchange_kernels import improve
from hindsched.online.coupled.lookahead.kernels.plan_kernels import CLEAR, build
from hindsched.online.coupled.lookahead.kernels.planner_arguments import (
    CHOSEN,
    COMPUTED,
    HELD,
    ITERATION,
    KNOWN,
    NOBODY,
    SLOT,
    Application,
    Chances,
    Futures,
    Record,
    Rules,
    Scratch,
    Standing,
)
from hindsched.online.coupled.lookahead.kernels.planner_kernels import MOST_MOVES, arrange, enrol, fail, note, work

__all__ = ["run_rolling"]

#: Slots of a future that are drawn at once.
_BLOCK = 8


@kernel
def run_rolling(
    application: Application,
    rules: Rules,
    chances: Chances,
    scratch: Scratch,
    states: Bytes,
    standing: Standing,
    record: Record,
    limit: int,
    last_iteration: int,
    futures: Futures,
    imagined: Standing,
    other: Scratch,
) -> None:
    """Continue a run as `planner_kernels.run` does, with plans compared on sampled futures."""
    at = standing.at
    while at[SLOT] < limit and at[ITERATION] < last_iteration:
        slot = at[SLOT]
        fail(states, slot, scratch, standing)
        choose(application, rules, chances, scratch, standing, futures, imagined, other, record)
        num = arrange(application, rules, scratch, standing)
        is_new = enrol(application, scratch.ask, standing)
        is_noted = note(record, slot, is_new, standing)
        work(application, scratch, standing, num, record.letters, is_noted)


@kernel
def choose(
    application: Application,
    rules: Rules,
    chances: Chances,
    scratch: Scratch,
    standing: Standing,
    futures: Futures,
    imagined: Standing,
    other: Scratch,
    record: Record,
) -> None:
    """Take the plan of least value among the one held and those built for several V."""
    at, plans, values = standing.at, futures.plans, futures.values
    num = 0
    if at[HELD] == 1:
        copy(standing.plan, plans[0])
        num = 1
    for k in range(futures.factors.size):
        value = rules.value * futures.factors[k]
        those = Rules(rules.stands_by, rules.prefetches, rules.exchanges, value)
        if not build(application, those, chances, scratch, scratch.eligible, standing.program, standing.data):
            break
        if rules.exchanges:
            improve(
                application, chances, scratch, scratch.eligible, scratch.built, standing.program, standing.data,
                scratch.worth[0], value, MOST_MOVES,
            )  # fmt: skip
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
            values[j] = worth_of(
                application, chances, scratch, scratch.eligible, plans[j], standing.program, standing.data, done,
                rules.value,
            )  # fmt: skip
        for k in range(futures.total):
            begin(futures, scratch.now, at[SLOT], k)
            for j in range(num):
                for q in range(standing.tasks.size):
                    imagined.tasks[q] = standing.tasks[q]
                    imagined.plan[q] = plans[j, q]
                    imagined.program[q] = standing.program[q]
                    imagined.data[q] = standing.data[q]
                imagined.at[SLOT] = imagined.at[ITERATION] = imagined.at[KNOWN] = 0
                imagined.at[HELD] = 1
                imagined.at[COMPUTED] = at[COMPUTED]
                values[j] += play(application, rules, chances, futures, imagined, other, record) / futures.total
        for j in range(1, num):
            if values[j] < values[best] - CLEAR * abs(values[best]):
                best = j
    if best > 0 or at[HELD] == 0:
        at[HELD] = 1
        at[CHOSEN] += 1
        copy(plans[best], standing.plan)


@kernel
def play(
    application: Application,
    rules: Rules,
    chances: Chances,
    futures: Futures,
    standing: Standing,
    scratch: Scratch,
    record: Record,
) -> float:
    """Hold a plan to its end in a future; return by how much a failure there costs more than V."""
    at, states = standing.at, futures.states
    while at[SLOT] < states.shape[1]:
        if at[SLOT] >= futures.drawn[0]:
            draw(futures)
        fail(states, at[SLOT], scratch, standing)
        if at[HELD] == 0:
            if build(application, rules, chances, scratch, scratch.eligible, standing.program, standing.data):
                return float(scratch.worth[0]) - rules.value
            return 0.0
        num = arrange(application, rules, scratch, standing)
        enrol(application, scratch.ask, standing)
        work(application, scratch, standing, num, record.letters, False)
        if at[ITERATION] > 0:
            return 0.0
        if at[COMPUTED] > 0 and rules.stands_by and compute(application, futures, standing):
            return 0.0
    return 0.0


@kernel
def compute(application: Application, futures: Futures, standing: Standing) -> bool:
    """Go on to the slot in which a member of the plan is DOWN; True if there is none before the end.

    The plan computes: nothing is sent and no other is built, so that only its members count. What happened to others is
    told at the end: who was DOWN has lost all, who was UP since then is enrolled.
    """
    at, states, tasks = standing.at, futures.states, standing.tasks
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
                standing.program[q] = standing.data[q] = 0
                tasks[q] = NOBODY
            elif states[q, t] == UP and tasks[q] == NOBODY:
                tasks[q] = 0
    at[SLOT] = slot
    return False


@kernel
def begin(futures: Futures, now: Ints, slot: int, number: int) -> None:
    """Begin a future: its first slot is now, its random numbers are named by slot and number."""
    for q in range(now.size):
        futures.states[q, 0] = now[q]
    mixed = (np.uint64(slot) * np.uint64(0x10001) + np.uint64(number + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    futures.random[0] = (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)
    futures.drawn[0] = 1


@kernel
def draw(futures: Futures) -> None:
    """Draw some more slots: a xorshift generator, a number for each worker and slot."""
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
            # UP, RECLAIMED or DOWN, without a branch that nobody can foresee
            states[q, t] = int(number >= moves[q, state, 0]) + int(number >= moves[q, state, 1])
    futures.random[0] = x
    futures.drawn[0] = last


@kernel
def is_same(a: Ints, b: Ints) -> bool:
    """Whether two plans are one."""
    for q in range(a.size):
        if a[q] != b[q]:
            return False
    return True


@kernel
def copy(a: Ints, b: Ints) -> None:
    """Copy numbers."""
    for k in range(a.size):
        b[k] = a[k]
