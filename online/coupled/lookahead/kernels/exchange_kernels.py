"""Improve a plan by exchanges: the compiled twin of `hindsched.online.coupled.lookahead.plans.PlanBuilder.improve`."""

from __future__ import annotations

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.bit_sets import NONE, add, clear
from hindsched.online.coupled.lookahead.kernels.attempt_kernels import (
    expected_cost,
    is_above,
    lacks,
    load_members,
    reach_of,
    row_of,
)
from hindsched.online.coupled.lookahead.kernels.planner_arguments import PlannerContext, RunState
from hindsched.online.coupled.lookahead.plans import CLEAR, MOST_MOVES

__all__ = ["improve"]


@kernel
def improve(context: PlannerContext, run_state: RunState, tasks: Ints, cost: float, value: float) -> float:
    """Move one task, or all tasks, of a member to another worker, best move first, while J decreases.

    ``tasks``, of cost ``cost``, is changed in place; return its new J.
    """
    application, _, tables, scratch = context
    eligible, program, data = scratch.eligible, run_state.program, run_state.data
    p = tasks.size
    rows, labels, base = tables.rows, tables.labels, scratch.base
    w, t_prog, t_data = application.w, application.t_prog, application.t_data
    clear(scratch.able_set)
    clear(scratch.reclaimed_set)
    for q in range(p):
        if eligible[q] >= 0:
            add(scratch.able_set, q)
            if eligible[q] > 0:
                add(scratch.reclaimed_set, q)
    for _ in range(MOST_MOVES):
        best_from = best_to = best_count = -1
        bar = cost - CLEAR * abs(cost)
        for a in range(p):
            if tasks[a] == 0:
                continue
            key, check = NONE, NONE
            num_rest = rest_work = 0
            rest_reach = 1.0
            for q in range(p):
                if q != a and tasks[q] > 0:
                    base[num_rest] = q
                    num_rest += 1
                    key += labels[q, eligible[q], 0]
                    check += labels[q, eligible[q], 1]
                    rest_work = max(rest_work, tasks[q] * w[q])
                    need = t_prog - program[q] + max(0, tasks[q] * t_data - data[q])
                    rest_reach *= tables.reaches_up[q, eligible[q]] * tables.powers[q, need]
            for way in range(2):
                count = 1 if way == 0 else tasks[a]
                if way == 1 and count == 1:
                    break
                left = tasks[a] - count
                num = num_rest
                reach_a = 1.0
                if left > 0:
                    base[num] = a
                    num += 1
                    need = t_prog - program[a] + max(0, left * t_data - data[a])
                    reach_a = tables.reaches_up[a, eligible[a]] * tables.powers[a, need]
                    row = row_of(
                        tables, scratch, key + labels[a, eligible[a], 0], check + labels[a, eligible[a], 1], num
                    )
                else:
                    row = row_of(tables, scratch, key, check, num)
                for b in range(p):
                    if b == a or eligible[b] < 0 or tasks[b] + count > application.capacities[b]:
                        continue
                    x = tasks[b] + count
                    state = eligible[b]
                    u, d = rows[row, 3 + 2 * state, b], rows[row, 4 + 2 * state, b]
                    u0, d0, log_p_plus = rows[row, 0, b], rows[row, 1, b], rows[row, 2, b]
                    new_work = max(rest_work, left * w[a], x * w[b])
                    reach_b = 1.0
                    if tasks[b] == 0:
                        need = t_prog - program[b] + max(0, x * t_data - data[b])
                        reach_b = tables.reaches_up[b, state] * tables.powers[b, need]
                    most = min(u, rest_reach * reach_a * reach_b * u0)
                    if is_above(bar, most, d, u0, d0, log_p_plus, new_work, value):
                        continue
                    size = num
                    if tasks[b] == 0:
                        base[num] = b
                        size += 1
                    tasks[a] -= count
                    tasks[b] += count
                    load_members(context, run_state, tasks, size)
                    if lacks(scratch, size):
                        u = reach_of(tables, scratch, scratch.state, scratch.need, size)
                    tasks[a] += count
                    tasks[b] -= count
                    found = expected_cost(u, d, u0, d0, log_p_plus, new_work, value)
                    if found < bar:
                        bar = found - CLEAR * abs(found)
                        cost = found
                        best_from, best_to, best_count = a, b, count
        if best_from < 0:
            break
        tasks[best_from] -= best_count
        tasks[best_to] += best_count
    return cost
