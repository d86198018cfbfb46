"""Criteria by logarithms, compiled, with the operations of the plain twin: they decide close comparisons.

`exact_step` is the twin of a step of `hindsched.online.coupled.passive.Builder`, `takes_candidate` that of
`hindsched.online.coupled.proactive.Proactive.choose`.
"""

from __future__ import annotations

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import (
    BY_E,
    BY_P,
    BY_Y,
    BuildContext,
    RunState,
)
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, WORD, lowest
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
    num: int,
    node: int,
    num_holders: int,
    longest: float,
    needed: int,
    elapsed: int,
) -> int:
    """Return the worker that gets the next task, among the first ``num`` of ``trace.workers``."""
    application, heuristic, tables, tree, trace = context
    criterion = heuristic.build
    sets = tables.sets
    members = tree.members[node]
    best = -1
    best_score = 0.0
    for place in range(num):
        q = trace.workers[num - 1 - place if heuristic.highest else place]
        x = trace.built[q]
        if x == application.capacities[q]:
            continue
        e_comm = max(longest, trace.alone[q])
        if num_holders + (x == 0) > application.n_com:
            e_comm = max(e_comm, (needed + trace.need[q] - trace.before[q]) / application.n_com)
        work = max(tree.work[node], (x + 1) * application.w[q])
        row = row_of_set(members | ONE << WORD(q), sets, tables.keys, tables.num_sets, tables.modes, tables.order)
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
    members: WORD,
    work: int,
    elapsed: int,
) -> float:
    """Return the score of a configuration by the criterion of the switch (``Estimates.measure``).

    ``work`` is the remaining computation.
    """
    application, heuristic, tables = context.application, context.heuristic, context.tables
    needed = 0
    longest = 0.0
    for k in range(num_holders):
        q = holders[k]
        need = application.t_prog - run_state.program[q] + max(0, tasks[q] * application.t_data - run_state.data[q])
        needed += need
        longest = max(longest, duration_alone(q, need, tables.alone, tables.single, heuristic.estimator))
    e_comm = longest
    if num_holders > application.n_com:
        e_comm = max(e_comm, needed / application.n_com)
    row = row_of_set(members, tables.sets, tables.keys, tables.num_sets, tables.modes, tables.order)
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
    context: BuildContext,
    run_state: RunState,
    seen: RunState,
    is_complete: bool,
    members: WORD,
    work: int,
    elapsed: int,
) -> bool:
    """Return whether the candidate replaces the configuration held; its score is then kept.

    It does if no complete configuration is held, or if the candidate is strictly better.

    Parameters
    ----------
    seen
        The transfers by which the candidate is measured: none if the comparison is fresh.
    is_complete
        Whether a complete configuration is held.
    members, work
        The members of that configuration, and its remaining computation.
    """
    tree, trace = context.tree, context.trace
    last = context.application.tasks
    node = trace.node[last]
    gained = switch_score(
        context, seen, trace.built, trace.holders, trace.num_holders[last],
        tree.members[node], tree.work[node], elapsed,
    )  # fmt: skip
    if is_complete:
        held = run_state.kept[0]
        if not context.heuristic.keeps_value:
            holders = run_state.holders
            num = 0
            rest = members
            while rest != NONE:
                holders[num] = lowest(rest)
                rest &= rest - ONE
                num += 1
            held = switch_score(context, run_state, run_state.tasks, holders, num, members, work, elapsed)
        if not gained > held + TIE_TOLERANCE:
            return False
    run_state.kept[0] = gained
    return True
