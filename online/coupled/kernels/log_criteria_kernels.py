"""The criteria by logarithms, operation by operation as in the plain twin: where a comparison is close."""

from __future__ import annotations

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import (
    BY_E,
    BY_P,
    BY_Y,
    Application,
    Choice,
    Plans,
    Standing,
    Tables,
    Trace,
)
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, WORD, lowest
from hindsched.online.coupled.kernels.estimate_kernels import (
    E_C,
    E_GIVEN,
    LOG_P,
    log_duration,
    log_sum,
    not_down_row,
    row_alone,
    row_of_set,
    whole_slots,
)

__all__ = ["TIE_TOLERANCE", "exact_step", "is_gain", "score"]

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
    """Return the worker to give the next task, among the first ``num`` of ``trace.workers``."""
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
            log_e = log_duration(work, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN], choice.estimator)
            log_e = log_sum(log_e, e_comm)
        value = score(criterion, log_probability, log_e, elapsed)
        if best < 0 or value > best_score + TIE_TOLERANCE:
            best = q
            best_score = value
    return best


@kernel
def score_of(
    application: Application,
    choice: Choice,
    tables: Tables,
    standing: Standing,
    tasks: Ints,
    holders: Ints,
    num_holders: int,
    members: WORD,
    work: int,
    elapsed: int,
) -> float:
    """Return the score of a configuration by the criterion that decides on a switch (``Estimates.measure``).

    ``work`` is the computation still to do.
    """
    needed = 0
    longest = 0.0
    for k in range(num_holders):
        q = holders[k]
        need = application.t_prog - standing.program[q] + max(0, tasks[q] * application.t_data - standing.data[q])
        needed += need
        longest = max(longest, row_alone(q, need, tables.alone, tables.single, choice.estimator))
    e_comm = longest
    if num_holders > application.n_com:
        e_comm = max(e_comm, needed / application.n_com)
    row = row_of_set(members, tables.sets, tables.keys, tables.num_sets, tables.modes, tables.order)
    sets = tables.sets
    log_probability = log_e = 0.0
    if choice.switch != BY_E:
        nd = not_down_row(whole_slots(e_comm), tables.not_down_slots, tables.not_down, tables.stays, tables.matrices)
        for k in range(num_holders):
            log_probability += tables.not_down[nd, holders[k]]
        log_probability += 0.0 if work == 1 else (work - 1) * sets[row, LOG_P]
    if choice.switch != BY_P:
        log_e = log_duration(work, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN], choice.estimator)
        log_e = log_sum(log_e, e_comm)
    return score(choice.switch, log_probability, log_e, elapsed)


@kernel
def is_gain(
    application: Application,
    choice: Choice,
    tables: Tables,
    plans: Plans,
    trace: Trace,
    standing: Standing,
    seen: Standing,
    is_complete: bool,
    members: WORD,
    work: int,
    elapsed: int,
) -> bool:
    """Whether what was built is taken: nothing complete is held, or it is strictly better; its value is then kept.

    Parameters
    ----------
    seen
        What workers have received by which what was built is measured: nothing where the comparison is fresh.
    is_complete
        Whether a complete configuration is held.
    members, work
        Who holds it, and the computation still to do.
    """
    last = application.tasks
    node = trace.node[last]
    gained = score_of(
        application, choice, tables, seen, trace.built, trace.holders, trace.num_holders[last],
        plans.members[node], plans.work[node], elapsed,
    )  # fmt: skip
    if is_complete:
        held = standing.kept[0]
        if not choice.keeps_value:
            holders = standing.holders
            num = 0
            rest = members
            while rest != NONE:
                holders[num] = lowest(rest)
                rest &= rest - ONE
                num += 1
            held = score_of(application, choice, tables, standing, standing.tasks, holders, num, members, work, elapsed)
        if not gained > held + TIE_TOLERANCE:
            return False
    standing.kept[0] = gained
    return True
