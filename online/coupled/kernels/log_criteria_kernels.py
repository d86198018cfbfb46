"""Criteria by logarithms, compiled, with the operations of the plain twin: they decide close comparisons.

`exact_step` is the twin of a step of `hindsched.online.coupled.passive.Builder`, `takes_candidate` that of
`hindsched.online.coupled.proactive.Proactive.choose`. `exact_step` takes nine arguments, the local numbers of a step.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import (
    BY_E,
    BY_P,
    BY_Y,
    NUM_HOLDERS,
    BuildContext,
    RunState,
)
from hindsched.online.coupled.kernels.bit_sets import add
from hindsched.online.coupled.kernels.criteria_kernels import best_value, criterion_value
from hindsched.online.coupled.kernels.estimate_kernels import (
    E_C,
    E_GIVEN,
    LOG_P,
    duration_alone,
    log_duration,
    log_sum,
    not_down_row,
    row_of_set,
    whole_slots,
)
from hindsched.online.coupled.kernels.needs import need_for
from hindsched.online.coupled.kernels.partial_configurations import row_of_child

__all__ = ["TIE_TOLERANCE", "exact_step", "score", "takes_candidate"]

TIE_TOLERANCE = 1e-12


@kernel
def score(criterion: int, log_probability: float, log_duration: float, elapsed: int) -> float:
    """Return the logarithm of the criterion's value (`hindsched.online.coupled.criteria.score`)."""
    if criterion == BY_P:
        return log_probability
    if criterion == BY_E:
        return -log_duration
    if criterion == BY_Y:
        return log_probability - log_sum(log_duration, float(elapsed))
    return log_probability - log_duration


@kernel
def exact_step(
    context: BuildContext,
    run_state: RunState,
    num: int,
    node: int,
    num_holders: int,
    longest: float,
    needed: int,
    elapsed: int,
    clear: float,
) -> int:
    """Return the worker that gets the next task, among the first ``num`` of ``trace.workers``.

    Workers whose criterion is below ``clear``, a relative 1e-9 under the best, take no part: they
    could change a tie only if a thousand workers lay between. The others are added to ``trace.close``.
    """
    application, heuristic, tables, tree, trace = context
    criterion = heuristic.build
    sets = tables.sets
    time = float(elapsed) if criterion == BY_Y else 0.0
    best = -1
    best_score = 0.0
    for place in range(num):
        q = trace.workers[num - 1 - place if heuristic.highest else place]
        x = trace.built[q]
        if x == application.capacities[q]:
            continue
        need = need_for(application, run_state, q, x + 1)
        e_comm = max(longest, duration_alone(q, need, tables.alone, tables.single, heuristic.estimator))
        if num_holders + (x == 0) > application.n_com:
            before = need_for(application, run_state, q, x) if x > 0 else 0
            e_comm = max(e_comm, (needed + need - before) / application.n_com)
        computation, success = abs(tree.duration[node, q]), tree.success[node, q]
        if clear > -np.inf and (
            best_value(criterion, computation, success, time) < clear
            or criterion_value(criterion, tables, computation, success, time, e_comm, q, x, trace.holders, num_holders)
            < clear
        ):
            continue
        add(trace.close, q)
        work = max(tree.work[node], (x + 1) * application.w[q])
        row = row_of_child(context, node, num_holders, q, x + 1)
        log_probability = log_e = 0.0
        if criterion != BY_E:
            nd = not_down_row(
                whole_slots(e_comm), tables.not_down_slots, tables.not_down, tables.stays, tables.matrices
            )
            log_probability = tables.not_down[nd, q] if x == 0 else 0.0
            for k in range(num_holders):
                log_probability += tables.not_down[nd, trace.holders[k]]
            log_probability += 0.0 if work == 1 else (work - 1) * sets[row, LOG_P]
        if criterion != BY_P:
            log_e = log_duration(work, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN], heuristic.estimator)
            log_e = log_sum(log_e, e_comm)
        value = score(criterion, log_probability, log_e, elapsed)
        if best < 0 or value > best_score + TIE_TOLERANCE:
            best = q
            best_score = value
    return best


@kernel(forceinline=True)
def switch_score(
    context: BuildContext,
    run_state: RunState,
    tasks: Ints,
    holders: Ints,
    num_holders: int,
    key: Words,
    work: int,
    elapsed: int,
) -> float:
    """Return the score of a configuration by the criterion of the switch (``Estimates.measure``).

    ``key`` is the sum of the holders' labels, ``work`` the remaining computation.
    """
    application, heuristic, tables = context.application, context.heuristic, context.tables
    needed = 0
    longest = 0.0
    for k in range(num_holders):
        q = holders[k]
        need = need_for(application, run_state, q, tasks[q])
        needed += need
        longest = max(longest, duration_alone(q, need, tables.alone, tables.single, heuristic.estimator))
    e_comm = longest
    if num_holders > application.n_com:
        e_comm = max(e_comm, needed / application.n_com)
    row = row_of_set(tables, key[0], key[1], holders, num_holders, -1)
    sets = tables.sets
    log_probability = log_e = 0.0
    if heuristic.switch != BY_E:
        nd = not_down_row(whole_slots(e_comm), tables.not_down_slots, tables.not_down, tables.stays, tables.matrices)
        for k in range(num_holders):
            log_probability += tables.not_down[nd, holders[k]]
        log_probability += 0.0 if work == 1 else (work - 1) * sets[row, LOG_P]
    if heuristic.switch != BY_P:
        log_e = log_duration(work, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN], heuristic.estimator)
        log_e = log_sum(log_e, e_comm)
    return score(heuristic.switch, log_probability, log_e, elapsed)


@kernel(forceinline=True)
def takes_candidate(
    context: BuildContext, run_state: RunState, seen: RunState, is_complete: bool, work: int, elapsed: int
) -> bool:
    """Return whether the candidate replaces the configuration held; its score is then kept.

    It does if no complete configuration is held, or if the candidate is strictly better.

    Parameters
    ----------
    seen
        The transfers by which the candidate is measured: none if the comparison is fresh.
    is_complete
        Whether a complete configuration is held.
    work
        The remaining computation of that configuration.
    """
    tree, trace = context.tree, context.trace
    last = context.application.tasks
    node = trace.node[last]
    gained = switch_score(
        context, seen, trace.built, trace.holders, trace.num_holders[last], tree.key[node], tree.work[node], elapsed
    )
    if is_complete:
        held = run_state.kept[0]
        if not context.heuristic.keeps_value:
            num = run_state.at[NUM_HOLDERS]
            held = switch_score(
                context, run_state, run_state.tasks, run_state.holders, num, run_state.key, work, elapsed
            )
        if not gained > held + TIE_TOLERANCE:
            return False
    run_state.kept[0] = gained
    return True
