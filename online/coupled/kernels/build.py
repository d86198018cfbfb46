"""A configuration built task by task: the twin of `online.coupled.passive.Builder`, with a memory.

Three things make it fast, and none changes what is built.

- *Nodes.* The tasks given so far are a node of a tree. At a node P_plus^(W-1) and E(W) of the configuration with one
  more task on worker q depend on nothing else, so they are computed once and kept, as plain numbers.
- *A scan in plain numbers.* At each step the criterion of every free worker is formed without logarithms. If the best is
  ahead of all others by a relative 1e-9, far more than rounding or the tolerance of ties, it is chosen. Otherwise, or where
  numbers come near the ends of the range of floats, the step is decided by the logarithms of the plain twin.
- *The last build.* What was built last is kept step by step. When workers leave that were never close to being
  chosen, it stands; when others come, or need less than before, they are compared with the winner of each step, and only
  from the first step at which they are close to it or better is anything built anew.
"""

from __future__ import annotations

import math

import numpy as np

from online.coupled.kernels.compiling import NONE, ONE, WORD, Ints, kernel, lowest
from online.coupled.kernels.estimates import (
    E_C,
    E_GIVEN,
    LOG_P,
    log_duration,
    log_sum,
    not_down_row,
    place_of_slots,
    row_alone,
    row_of_set,
    whole_slots,
)
from online.coupled.kernels.layout import BY_E, BY_P, BY_Y, Application, Choice, Plans, Standing, Tables, Trace

__all__ = ["TIE_TOLERANCE", "build", "finish", "score"]

TIE_TOLERANCE = 1e-12
_CLEAR = 1e-9
_LEAST = 1e-280


@kernel()
def score(criterion: int, log_probability: float, log_duration: float, elapsed: int) -> float:
    """Return the logarithm of the criterion's value (`online.coupled.criteria.score`)."""
    if criterion == BY_P:
        return log_probability
    if criterion == BY_E:
        return -log_duration
    if criterion == BY_Y:
        return log_probability - log_sum(log_duration, float(elapsed))
    return log_probability - log_duration


@kernel(forceinline=True)
def build(
    application: Application,
    choice: Choice,
    tables: Tables,
    plans: Plans,
    trace: Trace,
    standing: Standing,
    up: WORD,
    first: int,
    elapsed: int,
) -> None:
    """Build from step ``first`` on; the steps before it stand. The UP workers can hold m tasks."""
    criterion = choice.build
    w, capacities, t_prog, t_data = application.w, application.capacities, application.t_prog, application.t_data
    n_com = application.n_com
    child, success, duration = plans.child, plans.success, plans.duration
    built, before, need, alone = trace.built, trace.before, trace.need, trace.alone
    workers, holders, trace_worker, trace_best = trace.workers, trace.holders, trace.worker, trace.best
    trace_node, trace_longest, trace_needed = trace.node, trace.longest, trace.needed
    trace_num_holders = trace.num_holders
    program, data = standing.program, standing.data
    known_alone = tables.alone
    rows, stays = tables.not_down_slots, tables.stays
    row_mask = rows.size - 1
    num_tasks = application.tasks
    time = float(elapsed) if criterion == BY_Y else 0.0
    if first == 0:
        trace.close[0] = NONE
        if plans.count[0] + application.tasks + 1 > child.shape[0]:
            plans.count[0] = 0
        if plans.count[0] == 0:
            new_node(plans, NONE, 0)
        trace_node[0] = 0
        trace_longest[0] = 0.0
        trace_needed[0] = 0
        trace_num_holders[0] = 0
    for q in range(built.size):
        built[q] = 0
    for k in range(first):
        built[trace_worker[k]] += 1
    rest = up
    num = 0
    while rest != NONE:
        q = lowest(rest)
        rest &= rest - ONE
        x = built[q]
        if x == capacities[q]:
            continue
        workers[num] = q
        num += 1
        lacks = t_prog - program[q]
        before[q] = lacks + max(0, x * t_data - data[q]) if x > 0 else 0
        n = lacks + max(0, (x + 1) * t_data - data[q])
        need[q] = n
        expected = known_alone[q, n] if n < known_alone.shape[1] else np.nan
        if expected != expected:
            expected = row_alone(q, n, known_alone, tables.single, choice.is_printed)
        alone[q] = expected
    num_holders = trace_num_holders[first]
    node = trace_node[first]
    longest = trace_longest[first]
    needed = trace_needed[first]
    for k in range(first, num_tasks):
        best = -1
        best_value = -np.inf
        clear = -np.inf  # what is below cannot matter
        is_close = False
        guess = trace_worker[k]  # who won last time: most others are then seen to lose at one glance
        for i in range(-1, num):
            if i < 0:
                q = guess
                if not up >> WORD(q) & ONE:
                    continue
            else:
                q = workers[i]
                if q == guess:
                    continue
            x = built[q]
            if x == capacities[q]:
                continue
            if criterion == BY_P:
                if success[node, q] < clear:
                    continue
            elif criterion == BY_E:
                if -duration[node, q] < clear:
                    continue
            elif success[node, q] < clear * (duration[node, q] + time):
                continue
            e_comm = max(longest, alone[q])
            if num_holders + (x == 0) > n_com:
                e_comm = max(e_comm, (needed + need[q] - before[q]) / n_com)
            computation = duration[node, q]
            if computation != computation:
                fill(application, choice, tables, plans, node, q, x + 1)
                computation = duration[node, q]
            if criterion == BY_E:
                value = -(computation + e_comm)
            else:
                whole = whole_slots(e_comm)
                row = place_of_slots(whole, row_mask)
                if rows[row] != whole:
                    not_down_row(whole, rows, tables.not_down, stays, tables.matrices)
                value = success[node, q]
                if x == 0:
                    value *= stays[row, q]
                for h in range(num_holders):
                    value *= stays[row, holders[h]]
                if criterion == BY_Y:
                    value /= computation + e_comm + time
                elif criterion != BY_P:
                    value /= computation + e_comm
            if value > best_value:
                is_close = best_value >= value - _CLEAR * abs(value)
                best_value = value
                clear = value - _CLEAR * abs(value)
                best = q
            elif value >= clear:
                is_close = True
        is_hard = best_value < _LEAST if criterion != BY_E else best_value == -np.inf
        if is_hard or is_close:
            trace.close[0] = ~NONE
            best = exact_step(
                application, choice, tables, plans, trace, num, node, num_holders, longest, needed, elapsed
            )
        q = best
        x = built[q] + 1
        trace_worker[k] = q
        trace_best[k] = -np.inf if is_hard else best_value
        longest = max(longest, alone[q])
        needed += need[q] - before[q]
        if x == 1:
            holders[num_holders] = q
            num_holders += 1
        next_node = child[node, q]
        if next_node < 0:
            next_node = new_node(
                plans, plans.members[node] | ONE << WORD(q), max(plans.work[node], x * w[q])
            )
            child[node, q] = next_node
        node = next_node
        built[q] = x
        before[q] = need[q]
        if x < capacities[q]:
            n = t_prog - program[q] + max(0, (x + 1) * t_data - data[q])
            need[q] = n
            expected = known_alone[q, n] if n < known_alone.shape[1] else np.nan
            if expected != expected:
                expected = row_alone(q, n, known_alone, tables.single, choice.is_printed)
            alone[q] = expected
        trace_node[k + 1] = node
        trace_longest[k + 1] = longest
        trace_needed[k + 1] = needed
        trace_num_holders[k + 1] = num_holders


@kernel(forceinline=True)
def first_challenged(
    application: Application,
    choice: Choice,
    tables: Tables,
    plans: Plans,
    trace: Trace,
    standing: Standing,
    q: int,
    steps: int,
    elapsed: int,
) -> int:
    """Return the first of the first ``steps`` steps at which worker q, who has no task there, is close or better."""
    if application.capacities[q] == 0:
        return steps
    need = application.t_prog - standing.program[q] + max(0, application.t_data - standing.data[q])
    alone = row_alone(q, need, tables.alone, tables.single, choice.is_printed)
    for k in range(steps):
        node = trace.node[k]
        num_holders = trace.num_holders[k]
        e_comm = max(trace.longest[k], alone)
        if num_holders + 1 > application.n_com:
            e_comm = max(e_comm, (trace.needed[k] + need) / application.n_com)
        if plans.duration[node, q] != plans.duration[node, q]:
            fill(application, choice, tables, plans, node, q, 1)
        value = value_of(
            choice.build, tables, trace, plans.duration[node, q], plans.success[node, q], q, 0, e_comm, num_holders, elapsed
        )
        best = trace.best[k]
        if value >= best - _CLEAR * abs(best):
            return k
    return steps


@kernel(forceinline=True)
def value_of(
    criterion: int,
    tables: Tables,
    trace: Trace,
    duration: float,
    success: float,
    q: int,
    x: int,
    e_comm: float,
    num_holders: int,
    elapsed: int,
) -> float:
    """Return the criterion in plain numbers, more is better: P, -E, P / (E + t) or P / E."""
    if criterion == BY_E:
        return -(duration + e_comm)
    row = not_down_row(whole_slots(e_comm), tables.not_down_slots, tables.not_down, tables.stays, tables.matrices)
    probability = success
    if x == 0:
        probability *= tables.stays[row, q]
    for k in range(num_holders):
        probability *= tables.stays[row, trace.holders[k]]
    if criterion == BY_P:
        return probability
    if criterion == BY_Y:
        return probability / (duration + e_comm + elapsed)
    return probability / (duration + e_comm)


@kernel()
def new_node(plans: Plans, members: WORD, work: int) -> int:
    """Return a node about which nothing is known but its set and its W."""
    node = plans.count[0]
    plans.count[0] += 1
    for q in range(plans.child.shape[1]):
        plans.child[node, q] = -1
        plans.duration[node, q] = plans.success[node, q] = np.nan
    plans.members[node] = members
    plans.work[node] = work
    return node


@kernel()
def fill(application: Application, choice: Choice, tables: Tables, plans: Plans, node: int, q: int, x: int) -> None:
    """Compute what a node has to know of one more task, the x-th, on worker q.

    Beyond e^600 a duration is infinite and a probability 0: worse than any other, and a step where no worker has
    another value is decided by logarithms.
    """
    members = plans.members[node] | ONE << WORD(q)
    work = max(plans.work[node], x * application.w[q])
    row = row_of_set(members, tables.sets, tables.keys, tables.count, tables.modes, tables.order)
    sets = tables.sets
    log_p = 0.0 if work == 1 else (work - 1) * sets[row, LOG_P]
    log_e = log_duration(work, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN], choice.is_printed)
    plans.success[node, q] = math.exp(log_p) if log_p > -600.0 else 0.0
    plans.duration[node, q] = math.exp(log_e) if log_e < 600.0 else np.inf


@kernel()
def exact_step(
    application: Application,
    choice: Choice,
    tables: Tables,
    plans: Plans,
    trace: Trace,
    num: int,
    node: int,
    num_holders: int,
    longest: float,
    needed: int,
    elapsed: int,
) -> int:
    """Return the worker to give the next task, decided as the plain twin does."""
    criterion = choice.build
    sets = tables.sets
    members = plans.members[node]
    best = -1
    best_score = 0.0
    for place in range(num):
        q = trace.workers[num - 1 - place if choice.highest else place]
        x = trace.built[q]
        if x == application.capacities[q]:
            continue
        e_comm = max(longest, trace.alone[q])
        if num_holders + (x == 0) > application.n_com:
            e_comm = max(e_comm, (needed + trace.need[q] - trace.before[q]) / application.n_com)
        work = max(plans.work[node], (x + 1) * application.w[q])
        row = row_of_set(members | ONE << WORD(q), sets, tables.keys, tables.count, tables.modes, tables.order)
        log_probability = log_e = 0.0
        if criterion != BY_E:
            nd = not_down_row(whole_slots(e_comm), tables.not_down_slots, tables.not_down, tables.stays, tables.matrices)
            log_probability = tables.not_down[nd, q] if x == 0 else 0.0
            for k in range(num_holders):
                log_probability += tables.not_down[nd, trace.holders[k]]
            log_probability += 0.0 if work == 1 else (work - 1) * sets[row, LOG_P]
        if criterion != BY_P:
            log_e = log_duration(work, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN], choice.is_printed)
            log_e = log_sum(log_e, e_comm)
        value = score(criterion, log_probability, log_e, elapsed)
        if best < 0 or value > best_score + TIE_TOLERANCE:
            best = q
            best_score = value
    return best


@kernel()
def finish(
    application: Application,
    choice: Choice,
    tables: Tables,
    holders: Ints,
    num_holders: int,
    members: WORD,
    work: int,
    longest: float,
    needed: int,
) -> tuple[float, float]:
    """Return log P and log E of a configuration."""
    e_comm = longest
    if num_holders > application.n_com:
        e_comm = max(e_comm, needed / application.n_com)
    row = row_of_set(members, tables.sets, tables.keys, tables.count, tables.modes, tables.order)
    sets = tables.sets
    nd = not_down_row(whole_slots(e_comm), tables.not_down_slots, tables.not_down, tables.stays, tables.matrices)
    log_p_comm = 0.0
    for k in range(num_holders):
        log_p_comm += tables.not_down[nd, holders[k]]
    log_e = log_duration(work, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN], choice.is_printed)
    return log_p_comm + (0.0 if work == 1 else (work - 1) * sets[row, LOG_P]), log_sum(log_e, e_comm)
