"""Build a plan task by task by J: the compiled twin of `hindsched.online.coupled.lookahead.plans.PlanBuilder.build`.

Three devices make it fast; none changes the plan. The values of recent sets with one more member are cached. The
product of the members' g is kept, so that one more worker costs one scalar product. A worker is skipped if a lower
bound on its J is above the J of the winner of the same step in the last build.
"""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.bit_sets import NONE, add, clear
from hindsched.online.coupled.lookahead.kernels.attempt_kernels import (
    candidates_within,
    expected_cost,
    fill_reach,
    line_of,
    load_members,
    multiply,
    multiply_three,
    reach_of,
    row_of,
    stop_of,
    total_of_two,
)
from hindsched.online.coupled.lookahead.kernels.planner_arguments import (
    PlannerContext,
    RunState,
)
from hindsched.online.coupled.lookahead.plans import CLEAR

__all__ = ["build"]

#: Work before the product of the members' g can be used: none, one more factor, all factors.
_READY, _ONE_MORE, _ALL = range(3)


@kernel
def build(context: PlannerContext, run_state: RunState, value: float) -> bool:
    """Write a plan to ``scratch.built`` and its J to ``scratch.cost``; return False if the workers cannot hold m tasks.

    ``eligible`` are the states of workers that may hold tasks, -1 of others.
    """
    application, _, tables, scratch = context
    eligible, program, data = scratch.eligible, run_state.program, run_state.data
    built, able, joins, longer, rows = scratch.built, scratch.able, scratch.joins, scratch.longer, tables.rows
    base, labels = scratch.base, tables.labels
    w, t_prog, t_data = application.w, application.t_prog, application.t_data
    slots = tables.stay.shape[2]
    room = longest_first = count = 0
    clear(scratch.able_set)
    clear(scratch.reclaimed_set)
    for q in range(built.size):
        built[q] = 0
        longer[q] = w[q]
        if eligible[q] >= 0 and application.capacities[q] > 0:
            room += application.capacities[q]
            need = t_prog - program[q] + max(0, t_data - data[q])
            longest_first = max(longest_first, need)
            joins[q] = tables.reaches_up[q, eligible[q]] * tables.powers[q, need]
            able[count] = q
            add(scratch.able_set, q)
            if eligible[q] > 0:
                add(scratch.reclaimed_set, q)
            count += 1
    if room < application.tasks:
        return False
    key, check = NONE, NONE
    work = num = lacking = longest = stop = 0
    decay, reached = 0.0, 1.0
    todo, last = _READY, -1
    for step in range(application.tasks):
        row = row_of(tables, scratch, key, check, num)
        best = -1
        best_cost = best_reached = np.inf
        guess, guess_cost, guess_reached = scratch.guess[step], np.inf, np.inf
        is_screened = False
        for i in range(-1, count):
            if i < 0:
                q = guess
                if eligible[q] < 0:
                    continue
            else:
                q = able[i]
                if is_screened and scratch.near[q] == 0:
                    continue
                if q == guess:
                    if guess_cost < np.inf and (best < 0 or guess_cost < best_cost - CLEAR * abs(best_cost)):
                        best, best_cost, best_reached = q, guess_cost, guess_reached
                    continue
            x = built[q] + 1
            if x > application.capacities[q]:
                continue
            state = eligible[q]
            u, d = rows[row, 3 + 2 * state, q], rows[row, 4 + 2 * state, q]
            u0, d0, log_p_plus = rows[row, 0, q], rows[row, 1, q], rows[row, 2, q]
            need = t_prog - program[q] + max(0, x * t_data - data[q])
            new_work = max(work, longer[q])
            if longest > 0 or need > 0:
                before = t_prog - program[q] + max(0, (x - 1) * t_data - data[q]) if x > 1 else 0
                if lacking + int(need > 0) - int(before > 0) > application.n_com or (
                    x > 1 and num > 1 and need != before
                ):
                    built[q] = x
                    size = num
                    if x == 1:
                        base[num] = q
                        size += 1
                    load_members(context, run_state, built, size)
                    u = reach_of(tables, scratch, scratch.state, scratch.need, size)
                    built[q] = x - 1
                elif num == 0 or (num == 1 and x > 1):
                    u = tables.reaches_up[q, state] * tables.powers[q, need] / (1.0 - tables.p_plus[q])
                elif x == 1:
                    if todo != _READY:
                        # as many slots as any further worker can need
                        end = stop_of(max(longest, longest_first), decay, slots)
                        if todo == _ONE_MORE and end <= stop:
                            its = t_prog - program[last] + max(0, built[last] * t_data - data[last])
                            line = _line(context, last, its)
                            multiply(scratch.reach, tables.reach[line], end, scratch.reach)
                        else:
                            _multiply_all(context, run_state, num, end)
                        todo, stop = _READY, end
                    reach = tables.reach[_line(context, q, need)]
                    sum_decay = decay + tables.rate[q]
                    end = stop_of(max(longest, need), sum_decay, slots)
                    u = total_of_two(scratch.reach, reach, end)
                    u += scratch.reach[end - 1] * reach[end - 1] / math.expm1(sum_decay)
                else:
                    u = reached * u0
            cost = expected_cost(u, d, u0, d0, log_p_plus, new_work, value)
            if i < 0:
                guess_cost, guess_reached = cost, u / u0
                candidates_within(tables, scratch, row, reached, work, cost + CLEAR * cost, value)
                scratch.near[q] = 1
                is_screened = True
            elif best < 0 or cost < best_cost - CLEAR * abs(best_cost):
                best, best_cost, best_reached = q, cost, u / u0
        q = best
        scratch.guess[step] = q
        reached = best_reached
        x = built[q] + 1
        need = t_prog - program[q] + max(0, x * t_data - data[q])
        before = t_prog - program[q] + max(0, (x - 1) * t_data - data[q]) if x > 1 else 0
        built[q] = x
        work = max(work, longer[q])
        longer[q] += w[q]
        joins[q] = 1.0
        lacking += int(need > 0) - int(before > 0)
        longest = max(longest, need)
        scratch.cost[0] = best_cost
        if x == 1:
            key += labels[q, eligible[q], 0]
            check += labels[q, eligible[q], 1]
            base[num] = q
            decay += tables.rate[q]
            num += 1
            todo = _ONE_MORE if todo == _READY and num > 1 else _ALL
            last = q
        elif need != before:
            todo = _ALL
    return True


@kernel(forceinline=True)
def _line(context: PlannerContext, q: int, need: int) -> int:
    """Return the line of g(s, n, t) of a worker in its present state, with its table filled."""
    tables, scratch = context.tables, context.scratch
    state = scratch.eligible[q]
    if need > tables.reach_filled[q, state]:
        scratch.who[0], scratch.state[0], scratch.need[0] = q, state, need
        fill_reach(tables, scratch.who, scratch.state, scratch.need, 1)
    return line_of(tables, q, state, need)


@kernel
def _multiply_all(context: PlannerContext, run_state: RunState, num: int, end: int) -> None:
    """Write the product of the g of all members, the first ``num`` of ``scratch.base``."""
    application, _, tables, scratch = context
    who, state, need = scratch.who, scratch.state, scratch.need
    for k in range(num):
        q = scratch.base[k]
        who[k], state[k] = q, scratch.eligible[q]
        lacking = application.t_prog - run_state.program[q]
        need[k] = lacking + max(0, scratch.built[q] * application.t_data - run_state.data[q])
    fill_reach(tables, who, state, need, num)
    reach = tables.reach
    product = reach[line_of(tables, who[0], state[0], need[0])]
    k = 1
    if num == 1:
        for t in range(end):
            scratch.reach[t] = product[t]
    elif num % 2 == 0:
        multiply(product, reach[line_of(tables, who[1], state[1], need[1])], end, scratch.reach)
        product = scratch.reach
        k = 2
    while k < num:
        one = reach[line_of(tables, who[k], state[k], need[k])]
        two = reach[line_of(tables, who[k + 1], state[k + 1], need[k + 1])]
        multiply_three(product, one, two, end, scratch.reach)
        product = scratch.reach
        k += 2
