"""Algorithms 1, 2 and 3: the compiled twin of `hindsched.online.batches.algorithms`."""

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
    InstanceArrays,
    MasterOptions,
    Record,
    State,
)
from hindsched.online.batches.kernels.heaps import reset_tasks, set_key
from hindsched.online.batches.kernels.worker_kernels import missed_most

__all__ = ["begin", "call_again", "choose", "close", "finish", "shift"]

#: Bounds on P, on a period, and on products, so that T fits 64 bits.
_MOST_ACTIVE, _LONGEST, _MOST = 2**27, 2**40, 2**62


@kernel
def begin(arrays: InstanceArrays, options: MasterOptions, state: State, period: int) -> None:
    """Set the first period and open the first batch."""
    _set_period(state, arrays.start, period)
    if options.algorithm == 3:
        _open(arrays, options, state)


@kernel
def _open(arrays: InstanceArrays, options: MasterOptions, state: State) -> None:
    reset_tasks(state, arrays.tasks, 0.0 if options.predictor == COPIES else 1.0)


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
    """Return the number of the first ``size`` times that are not after ``until``."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if times[middle] <= until:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _next_batch(arrays: InstanceArrays, options: MasterOptions, state: State, record: Record, now: int) -> None:
    at = state.at
    at[BATCH] += 1
    at[UNSENT] = 0
    if options.algorithm == 1:
        return
    if not options.is_shifting:
        since = now - 2 * at[PERIOD]
        if options.counts_connections:
            active = at[CONTACTS] - _count_until(record.time, at[CONTACTS], since)
        else:
            active = 0
            for j in range(state.last.size):
                active += state.last[j] > since
        above = 9 * arrays.margins[min(at[BATCH], arrays.margins.size - 1)]
        below = 10 * options.requests * arrays.c.size
        if active >= _MOST_ACTIVE or active >= _MOST // below:
            at[TOO_LARGE] = 1
            return
        period = active * (above // below) + active * (above % below) // below
        _set_period(state, now, max(1, period))
    if options.algorithm == 3:
        _open(arrays, options, state)


@kernel
def close(arrays: InstanceArrays, options: MasterOptions, state: State, record: Record, now: int, batch: int) -> None:
    """Close a batch at its deadline if it is the present one and overdue batches are dropped."""
    if options.drops and state.at[BATCH] == batch:
        _next_batch(arrays, options, state, record, now)


@kernel
def shift(arrays: InstanceArrays, options: MasterOptions, state: State, record: Record, now: int, batch: int) -> None:
    """Change the period by the number of requests of a batch."""
    at = state.at
    size = at[CONTACTS]
    came = _count_until(record.time, size, arrays.last_calls[batch]) - _count_until(
        record.time, size, arrays.submissions[batch] - 1
    )
    if came < arrays.tasks or 10 * came > 11 * arrays.tasks:
        change = at[PERIOD] * (max(came, 1) - arrays.tasks) // (options.damping * arrays.tasks)
        _set_period(state, now, max(1, at[PERIOD] + change))


@kernel
def finish(arrays: InstanceArrays, options: MasterOptions, state: State, record: Record, task: int, now: int) -> None:
    """Handle the end of a copy; the last task of the present batch opens the next one."""
    at = state.at
    k = task - at[BATCH] * arrays.tasks
    if k < 0 or k >= arrays.tasks or state.keys[k] == -np.inf:
        return
    set_key(state.keys, state.best, k, -np.inf)
    at[UNFINISHED] -= 1
    if at[UNFINISHED] == 0:
        _next_batch(arrays, options, state, record, now)


@kernel
def choose(arrays: InstanceArrays, options: MasterOptions, state: State, j: int, now: int) -> int:
    """Return the task to send, batch * N + k, or -1."""
    at = state.at
    batch = at[BATCH]
    if batch == arrays.submissions.size or now < arrays.submissions[batch]:
        return -1
    if options.algorithm < 3:
        k = at[UNSENT]
        at[UNSENT] += 1
        return int(batch * arrays.tasks + k)
    k = state.best[1]
    if options.predictor == COPIES:
        if -state.keys[k] >= options.copies:
            return -1
        set_key(state.keys, state.best, k, state.keys[k] - 1)
        return int(batch * arrays.tasks + k)
    deadline = arrays.deadlines[batch]
    if arrays.c[j] > deadline - now:
        return -1
    if options.predictor == HISTORY and missed_most(arrays, options, state, j, now, deadline):
        return -1
    chance = min(0.99, options.double_mean / arrays.c[j])
    set_key(state.keys, state.best, k, state.keys[k] * (1 - chance))
    return int(batch * arrays.tasks + k)


@kernel
def call_again(arrays: InstanceArrays, options: MasterOptions, state: State, record: Record, now: int) -> int:
    """Return R, or -1 for never, and open the next batch if this contact sent the last task of one."""
    at = state.at
    again = now + at[PERIOD]
    if options.algorithm < 3 and at[UNSENT] == arrays.tasks:
        _next_batch(arrays, options, state, record, now)
    if options.algorithm > 1:
        return int(again)
    batch, k = at[PLANNED] // arrays.tasks, at[PLANNED] % arrays.tasks
    if batch == arrays.submissions.size:
        return -1
    at[PLANNED] += 1
    if arrays.tasks == 1:
        return int(arrays.submissions[batch])
    below = (arrays.tasks - 1) * arrays.c.size
    return int(arrays.submissions[batch] + (k * arrays.margins[batch] + below - 1) // below)
