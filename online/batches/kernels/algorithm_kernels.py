"""Algorithms 1, 2 and 3 on the state of a run: what is sent, when to call again, what ends and deadlines change."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Int32s
from hindsched.instances.compiling import kernel
from hindsched.online.batches.kernels.arguments import (
    BATCH,
    CONTACTS,
    COPIES,
    HISTORY,
    PERIOD,
    PERIODS,
    PLANNED,
    TOO_LARGE,
    UNFINISHED,
    UNSENT,
    Record,
    Rules,
    State,
    World,
)
from hindsched.online.batches.kernels.heaps import reset_tasks, set_key
from hindsched.online.batches.kernels.worker_kernels import missed_most

__all__ = ["begin", "call_again", "choose", "close", "finish", "shift"]

#: P is below the first of these, and products below the last, so that T can be counted in 64 bits; and so is a period.
_MOST_ACTIVE, _LONGEST, _MOST = 2**27, 2**40, 2**62


@kernel
def begin(world: World, rules: Rules, state: State, period: int) -> None:
    """Note the first period and open the first batch."""
    _set_period(state, world.start, period)
    if rules.algorithm == 3:
        _open(world, rules, state)


@kernel
def _open(world: World, rules: Rules, state: State) -> None:
    reset_tasks(state, world.tasks, 0.0 if rules.predictor == COPIES else 1.0)


@kernel
def _set_period(state: State, now: int, period: int) -> None:
    at = state.at
    at[PERIOD] = period
    state.period_times[at[PERIODS]] = now
    state.period_values[at[PERIODS]] = period
    at[PERIODS] += 1
    if period > _LONGEST:
        at[TOO_LARGE] = 1


@kernel
def _count_until(times: Int32s, size: int, until: int) -> int:
    """Return how many of the first ``size`` times are not after ``until``."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if times[middle] <= until:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _next_batch(world: World, rules: Rules, state: State, record: Record, now: int) -> None:
    at = state.at
    at[BATCH] += 1
    at[UNSENT] = 0
    if rules.algorithm == 1:
        return
    if not rules.is_shifting:
        since = now - 2 * at[PERIOD]
        if rules.counts_connections:
            active = at[CONTACTS] - _count_until(record.time, at[CONTACTS], since)
        else:
            active = 0
            for j in range(state.last.size):
                active += state.last[j] > since
        above = 9 * world.margins[min(at[BATCH], world.margins.size - 1)]
        below = 10 * rules.requests * world.c.size
        if active >= _MOST_ACTIVE or active >= _MOST // below:
            at[TOO_LARGE] = 1
            return
        period = active * (above // below) + active * (above % below) // below
        _set_period(state, now, max(1, period))
    if rules.algorithm == 3:
        _open(world, rules, state)


@kernel
def close(world: World, rules: Rules, state: State, record: Record, now: int, batch: int) -> None:
    """Close a batch at its deadline, if it is still the present one and the reading is to drop it."""
    if rules.drops and state.at[BATCH] == batch:
        _next_batch(world, rules, state, record, now)


@kernel
def shift(world: World, rules: Rules, state: State, record: Record, now: int, batch: int) -> None:
    """Change the period by the requests that a batch got."""
    at = state.at
    size = at[CONTACTS]
    came = _count_until(record.time, size, world.last_calls[batch]) - _count_until(
        record.time, size, world.submissions[batch] - 1
    )
    if came < world.tasks or 10 * came > 11 * world.tasks:
        _set_period(state, now, max(1, at[PERIOD] * max(came, 1) // world.tasks))


@kernel
def finish(world: World, rules: Rules, state: State, record: Record, task: int, now: int) -> None:
    """Hear that a copy has ended; the last task of the present batch opens the next one."""
    at = state.at
    k = task - at[BATCH] * world.tasks
    if k < 0 or k >= world.tasks or state.keys[k] == -np.inf:
        return
    set_key(state.keys, state.best, k, -np.inf)
    at[UNFINISHED] -= 1
    if at[UNFINISHED] == 0:
        _next_batch(world, rules, state, record, now)


@kernel
def choose(world: World, rules: Rules, state: State, j: int, now: int) -> int:
    """Return the task to send, batch * N + k, or -1."""
    at = state.at
    batch = at[BATCH]
    if batch == world.submissions.size or now < world.submissions[batch]:
        return -1
    if rules.algorithm < 3:
        k = at[UNSENT]
        at[UNSENT] += 1
        return int(batch * world.tasks + k)
    k = state.best[1]
    if rules.predictor == COPIES:
        if -state.keys[k] >= rules.copies:
            return -1
        set_key(state.keys, state.best, k, state.keys[k] - 1)
        return int(batch * world.tasks + k)
    deadline = world.deadlines[batch]
    if world.c[j] > deadline - now:
        return -1
    if rules.predictor == HISTORY and missed_most(world, rules, state, j, now, deadline):
        return -1
    chance = min(0.99, rules.double_mean / world.c[j])
    set_key(state.keys, state.best, k, state.keys[k] * (1 - chance))
    return int(batch * world.tasks + k)


@kernel
def call_again(world: World, rules: Rules, state: State, record: Record, now: int) -> int:
    """Return R, or -1 for never, and open the next batch if this contact sent the last task of one."""
    at = state.at
    again = now + at[PERIOD]
    if rules.algorithm < 3 and at[UNSENT] == world.tasks:
        _next_batch(world, rules, state, record, now)
    if rules.algorithm > 1:
        return int(again)
    batch, k = at[PLANNED] // world.tasks, at[PLANNED] % world.tasks
    if batch == world.submissions.size:
        return -1
    at[PLANNED] += 1
    if world.tasks == 1:
        return int(world.submissions[batch])
    below = (world.tasks - 1) * world.c.size
    return int(world.submissions[batch] + (k * world.margins[batch] + below - 1) // below)
