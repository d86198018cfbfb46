"""Rules R1 to R5 slot by slot with a policy of ours: the twin of `online.coupled.simulate` and the planner."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Bytes, Ints
from hindsched.instances.compiling import kernel
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.lookahead.kernels.attempt_kernels import (
    AGAIN,
    ONE,
    WORD,
    U,
    place_of,
    success_of,
    worth_of,
)
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
    Record,
    Rules,
    Scratch,
    Standing,
)

__all__ = ["MOST_MOVES", "arrange", "enrol", "fail", "note", "plan", "run", "work"]

#: Exchanges that make one plan better, at the most.
MOST_MOVES = 20

_PROGRAM, _DATA, _COMPUTE, _IDLE = np.uint8(ord("P")), np.uint8(ord("D")), np.uint8(ord("C")), np.uint8(ord("I"))


@kernel
def run(
    application: Application,
    rules: Rules,
    chances: Chances,
    scratch: Scratch,
    states: Bytes,
    standing: Standing,
    record: Record,
    limit: int,
    last_iteration: int,
) -> None:
    """Go on from slot ``standing.at[SLOT]`` until so many iterations are complete, or to ``limit``.

    ``standing.expected`` grows by the chance of every computation that begins, and shrinks by the chance, then, of one
    that is given up for another plan. So its mean is that of the iterations completed, since a chance is a martingale,
    and it tells of them where none is.

    ``states`` has shape (p, slots) with at least ``limit`` slots; the first slots are recorded as far as there is room.
    """
    at = standing.at
    while at[SLOT] < limit and at[ITERATION] < last_iteration:
        slot = at[SLOT]
        fail(states, slot, scratch, standing)
        plan(application, rules, chances, scratch, standing)
        num = arrange(application, rules, scratch, standing)
        is_new = enrol(application, scratch.ask, standing)
        is_noted = note(record, slot, is_new, standing)
        is_idle = at[COMPUTED] == 0
        completed = at[ITERATION]
        work(application, scratch, standing, num, record.letters, is_noted)
        if is_idle and at[COMPUTED] == 1:
            standing.expected[0] += chance_of(application, chances, scratch, standing, 0)
        elif is_idle and at[ITERATION] > completed:
            standing.expected[0] += 1.0  # begun and completed in one slot


@kernel
def chance_of(application: Application, chances: Chances, scratch: Scratch, standing: Standing, done: int) -> float:
    """Return the chance that the plan held, which lacks nothing, succeeds after ``done`` slots of computation."""
    members = reclaimed = WORD(0)
    left = 0
    for q in range(standing.plan.size):
        if standing.plan[q] > 0:
            members |= ONE << WORD(q)
            if scratch.eligible[q] > 0:
                reclaimed |= ONE << WORD(q)
            left = max(left, standing.plan[q] * application.w[q] - done)
    place = place_of(chances, scratch, members, WORD(0))
    u0, log_again = chances.sums[place, U], chances.sums[place, AGAIN]
    if reclaimed != WORD(0):
        place = place_of(chances, scratch, members, reclaimed)
    return success_of(chances.sums[place, U], u0, log_again, left)


@kernel
def note(record: Record, slot: int, is_new: bool, standing: Standing) -> bool:
    """Write the configuration into the record, where there is room; return whether there is."""
    if slot >= record.is_new.size:
        return False
    record.is_new[slot] = is_new
    for q in range(standing.tasks.size):
        record.tasks[slot, q] = standing.tasks[q]
    return True


@kernel
def fail(states: Bytes, slot: int, scratch: Scratch, standing: Standing) -> None:
    """R1: who is DOWN loses all, and ends a plan of which it is a part."""
    at = standing.at
    for q in range(standing.tasks.size):
        state = np.int64(states[q, slot])
        scratch.now[q] = state
        if state == DOWN:
            if standing.program[q] + standing.data[q] > 0:
                standing.program[q] = standing.data[q] = 0
                at[KNOWN] = 0
            if standing.tasks[q] > 0:
                at[COMPUTED] = 0
            standing.tasks[q] = NOBODY
            if standing.plan[q] > 0:
                at[HELD] = 0
        scratch.eligible[q] = state if state == UP or (state != DOWN and standing.tasks[q] != NOBODY) else -1
    if at[HELD] == 0:
        standing.plan[:] = 0


@kernel
def plan(application: Application, rules: Rules, chances: Chances, scratch: Scratch, standing: Standing) -> None:
    """Build afresh, and take what was built if nothing is held or its J is less."""
    at = standing.at
    eligible, built = scratch.eligible, scratch.built
    is_same = at[KNOWN] == 1
    for q in range(eligible.size):
        if eligible[q] != scratch.seen[q]:
            is_same = False
            scratch.seen[q] = eligible[q]
    if not is_same:  # else: it would be built again
        if build(application, rules, chances, scratch, eligible, standing.program, standing.data):
            at[KNOWN] = 1
            if rules.exchanges:
                scratch.worth[0] = improve(
                    application, chances, scratch, eligible, built, standing.program, standing.data,
                    scratch.worth[0], rules.value, MOST_MOVES,
                )  # fmt: skip
                if at[HELD] == 1:
                    for q in range(built.size):
                        scratch.tried[q] = standing.plan[q]
                    worth = worth_of(
                        application, chances, scratch, eligible, scratch.tried, standing.program, standing.data,
                        0, rules.value,
                    )  # fmt: skip
                    worth = improve(
                        application, chances, scratch, eligible, scratch.tried, standing.program, standing.data,
                        worth, rules.value, MOST_MOVES,
                    )  # fmt: skip
                    if worth < scratch.worth[0] - CLEAR * abs(scratch.worth[0]):
                        scratch.worth[0] = worth
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
            differs = differs or built[q] != standing.plan[q]
        if not differs:
            return
        held = worth_of(
            application, chances, scratch, eligible, standing.plan, standing.program, standing.data,
            at[COMPUTED], rules.value,
        )  # fmt: skip
        if not scratch.worth[0] < held - CLEAR * abs(held):
            return
        if at[COMPUTED] > 0:
            standing.expected[0] -= chance_of(application, chances, scratch, standing, at[COMPUTED])
    at[HELD] = 1
    at[CHOSEN] += 1
    for q in range(built.size):
        standing.plan[q] = built[q]


@kernel
def arrange(application: Application, rules: Rules, scratch: Scratch, standing: Standing) -> int:
    """Write whom to enrol with how many tasks, and whom to serve; return how many are served."""
    ask, order, chosen, now = scratch.ask, scratch.order, scratch.chosen, scratch.now
    at, y, program, data = standing.at, standing.plan, standing.program, standing.data
    t_prog, t_data, w = application.t_prog, application.t_data, application.w
    p = ask.size
    is_loaded = at[HELD] == 1
    is_up = True
    for q in range(p):
        ask[q] = y[q] if y[q] > 0 else NOBODY
        if rules.stands_by and ask[q] == NOBODY and scratch.eligible[q] >= 0:
            ask[q] = 0
        if y[q] > 0:
            is_loaded = is_loaded and program[q] == t_prog and data[q] >= y[q] * t_data
            is_up = is_up and now[q] == UP
    if is_loaded and (is_up or at[COMPUTED] > 0 or not rules.prefetches):
        return 0
    num = 0
    for q in range(p):
        chosen[q] = 0
    # members that lack something, by the largest need
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
    if rules.stands_by and num < application.channels:
        # programs for the others, the fastest first
        for q in scratch.fastest:
            if y[q] == 0 and ask[q] == 0 and now[q] == UP and program[q] < t_prog:
                order[num] = q
                chosen[q] = 1
                num += 1
                if num == application.channels:
                    break
    if not rules.prefetches:
        return num
    # tasks are those whose data is sent in this slot; there is no computation that could be lost
    total = 0
    for q in range(p):
        ask[q] = min(ask[q], 0)
    for k in range(num_members):
        q = order[k]
        if program[q] == t_prog:
            ask[q] = data[q] // t_data + 1
            total += ask[q]
    while num < application.channels and t_data > 0:
        best = -1
        least = 0
        for q in range(p):
            if ask[q] == 0 and now[q] == UP and program[q] == t_prog and chosen[q] == 0:
                x = data[q] // t_data + 1
                fits = x <= application.capacities[q] and total + x <= application.tasks
                if fits and (best < 0 or x * w[q] < least):
                    best, least = q, x * w[q]
        if best < 0:
            break
        ask[best] = data[best] // t_data + 1
        total += ask[best]
        order[num] = best
        chosen[best] = 1
        num += 1
    return num


@kernel
def enrol(application: Application, ask: Ints, standing: Standing) -> bool:
    """R2: take a new configuration; return whether it is another one."""
    at, tasks = standing.at, standing.tasks
    is_new = False
    for q in range(tasks.size):
        if ask[q] == tasks[q]:
            continue
        is_new = True
        if max(ask[q], 0) != max(tasks[q], 0):
            at[COMPUTED] = 0
        if ask[q] == NOBODY:
            leave(application, standing, q)
        tasks[q] = ask[q]
    return is_new


@kernel
def leave(application: Application, standing: Standing, q: int) -> None:
    """Take data and a partial program."""
    if standing.data[q] > 0:
        standing.data[q] = 0
        standing.at[KNOWN] = 0
    if 0 < standing.program[q] < application.t_prog:
        standing.program[q] = 0
        standing.at[KNOWN] = 0


@kernel
def work(
    application: Application, scratch: Scratch, standing: Standing, num: int, letters: Bytes, is_noted: bool
) -> None:
    """R3 or R4, and R5; the master serves the first ``num`` of ``scratch.order``."""
    at, tasks, program, data = standing.at, standing.tasks, standing.program, standing.data
    t_prog, t_data = application.t_prog, application.t_data
    slot = at[SLOT]
    total = need = 0
    is_up = True
    work_to_do = 0
    for q in range(tasks.size):
        if is_noted and tasks[q] != NOBODY:
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
            leave(application, standing, q)
            tasks[q] = NOBODY
        standing.plan[:] = 0
        at[COMPUTED] = 0
        at[HELD] = 0
        at[KNOWN] = 0
        at[ITERATION] += 1
