"""A configuration built task by task: the twin of `online.coupled.passive.Builder`."""

from __future__ import annotations

import numpy as np

from online.coupled.kernels.compiling import NONE, ONE, WORD, Ints, kernel, lowest
from online.coupled.kernels.estimates import (
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
from online.coupled.kernels.layout import BY_AY, BY_E, BY_P, BY_Y, Application, Choice, Standing, Tables

__all__ = ["TIE_TOLERANCE", "build", "score"]

TIE_TOLERANCE = 1e-12


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


@kernel()
def build(
    application: Application, choice: Choice, tables: Tables, standing: Standing, up: WORD, elapsed: int, built: Ints
) -> tuple[float, float]:
    """Fill ``built`` with tasks x_q, and return log P and log E of them; the UP workers can hold m tasks."""
    criterion = choice.build
    is_printed = choice.is_printed
    w, capacities, t_data, n_com = application.w, application.capacities, application.t_data, application.n_com
    sets, keys, count, modes, order = tables.sets, tables.keys, tables.count, tables.modes, tables.order
    nd_keys, not_down, matrices = tables.not_down_keys, tables.not_down, tables.matrices
    p = w.size
    workers = np.empty(p, np.int64)
    num = 0
    rest = up
    while rest != NONE:
        q = lowest(rest)
        rest &= rest - ONE
        built[q] = 0
        if capacities[q] > 0:
            workers[num] = q
            num += 1
    if choice.highest:
        workers[:num] = workers[:num][::-1].copy()
    before = np.zeros(num, np.int64)  # what the worker has to receive for its present tasks
    need = np.empty(num, np.int64)  # and with one more
    longest_of = np.empty(num)
    row_of = np.empty(num, np.int64)
    for i in range(num):
        q = workers[i]
        need[i] = application.t_prog - standing.program[q] + max(0, t_data - standing.data[q])
        longest_of[i] = row_alone(q, need[i], tables.alone, tables.single, is_printed)
    holders = np.empty(p, np.int64)
    num_holders = 0
    members = NONE
    work = 0
    longest = 0.0
    needed = 0
    is_grown = True
    best_p = best_e = 0.0
    for _ in range(application.tasks):
        best = -1
        best_score = 0.0
        for i in range(num):
            q = workers[i]
            x = built[q]
            if x == capacities[q]:
                continue
            joins = x == 0
            if is_grown and joins:
                row_of[i] = row_of_set(members | ONE << WORD(q), sets, keys, count, modes, order)
            new_work = max(work, (x + 1) * w[q])
            e_comm = max(longest, longest_of[i])
            holding = num_holders + joins
            if holding > n_com:
                e_comm = max(e_comm, (needed + need[i] - before[i]) / n_com)
            row = row_of[i]
            log_p = sets[row, LOG_P]
            log_probability = log_e = 0.0
            if criterion != BY_E:
                nd = not_down_row(whole_slots(e_comm), nd_keys, not_down, matrices)
                log_p_comm = not_down[nd, q] if joins else 0.0
                for k in range(num_holders):
                    log_p_comm += not_down[nd, holders[k]]
                log_probability = log_p_comm + (0.0 if new_work == 1 else (new_work - 1) * log_p)
            if criterion != BY_P:
                log_e = log_sum(log_duration(new_work, log_p, sets[row, E_C], sets[row, E_GIVEN], is_printed), e_comm)
            value = score(criterion, log_probability, log_e, elapsed)
            if best < 0 or value > best_score + TIE_TOLERANCE:
                best = i
                best_score = value
                best_p = log_probability
                best_e = log_e
        q = workers[best]
        x = built[q] + 1
        work = max(work, x * w[q])
        longest = max(longest, longest_of[best])
        needed += need[best] - before[best]
        is_grown = x == 1
        if is_grown:
            holders[num_holders] = q
            num_holders += 1
            members |= ONE << WORD(q)
            for i in range(num):  # the set of every holder is the set of all holders
                if built[workers[i]] > 0:
                    row_of[i] = row_of[best]
        built[q] = x
        before[best] = need[best]
        if x < capacities[q]:
            need[best] = application.t_prog - standing.program[q] + max(0, (x + 1) * t_data - standing.data[q])
            longest_of[best] = row_alone(q, need[best], tables.alone, tables.single, is_printed)
    if criterion == BY_P or criterion == BY_E:
        return finish(application, choice, tables, holders, num_holders, members, work, longest, needed)
    return best_p, best_e


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
    nd = not_down_row(whole_slots(e_comm), tables.not_down_keys, tables.not_down, tables.matrices)
    log_p_comm = 0.0
    for k in range(num_holders):
        log_p_comm += tables.not_down[nd, holders[k]]
    log_e = log_duration(work, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN], choice.is_printed)
    return log_p_comm + (0.0 if work == 1 else (work - 1) * sets[row, LOG_P]), log_sum(log_e, e_comm)
