"""The event loop, rules V2, V3, V5 and V6: the compiled twin of `hindsched.online.batches.simulate`."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.batches.run import NOTHING
from hindsched.instances.compiling import kernel
from hindsched.online.batches.kernels.algorithm_kernels import begin, call_again, choose, close, finish, shift
from hindsched.online.batches.kernels.arguments import (
    BOOKING,
    CALLS,
    CONTACTS,
    ENDS,
    SHIFT,
    TOO_LARGE,
    Ends,
    InstanceArrays,
    MasterOptions,
    Record,
    State,
)
from hindsched.online.batches.kernels.booking_kernels import (
    begin_booking,
    book,
    close_booking,
    end_booked_copy,
    send_booked,
)
from hindsched.online.batches.kernels.heaps import heapify, pop_end, push_end, replace_call
from hindsched.online.batches.kernels.worker_kernels import compute, next_available

__all__ = ["run"]

_NOTHING = NOTHING
_WORKER = (1 << SHIFT) - 1


@kernel(allocates=True)
def _longer(array: Int32s) -> Int32s:
    more = np.empty(array.size + max(array.size, 1024), dtype=np.int32)
    more[: array.size] = array
    return more


@kernel(allocates=True)
def _longer_record(record: Record) -> Record:
    link = _longer(record.link) if record.link.size else record.link
    need, chance, sibling = record.need, record.chance, record.sibling
    size = record.time.size
    if sibling.size:
        sibling = _longer(sibling)
        need, chance = np.empty(sibling.size, dtype=np.int64), np.empty(sibling.size, dtype=np.float64)
        need[:size], chance[:size] = record.need, record.chance
    time, worker, task, end = _longer(record.time), _longer(record.worker), _longer(record.task), _longer(record.end)
    return Record(time, worker, task, end, link, need, chance, sibling)


@kernel(allocates=True)
def _more_ends(ends: Ends) -> Ends:
    key = np.empty(2 * ends.key.size, dtype=np.int64)
    key[: ends.key.size] = ends.key
    task = np.empty(2 * ends.key.size, dtype=np.int32)
    task[: ends.key.size] = ends.task
    return Ends(key, task)


@kernel
def _first_calls(arrays: InstanceArrays, state: State, firsts: Ints) -> None:
    size = 0
    for j in range(arrays.c.size):
        time = next_available(arrays, state, j, firsts[j])
        if time < arrays.end:
            state.calls[size] = (np.int64(time) << SHIFT) | j
            size += 1
    state.at[CALLS] = size
    heapify(state)


@kernel
def _finish(
    arrays: InstanceArrays, options: MasterOptions, state: State, record: Record, task: int, j: int, now: int
) -> None:
    if options.algorithm == BOOKING:
        end_booked_copy(arrays, state, record, task, j)
    else:
        finish(arrays, options, state, record, task, now)


@kernel
def _report_ends(
    arrays: InstanceArrays, options: MasterOptions, state: State, record: Record, j: int, now: int
) -> None:
    """Report the ends of the worker that calls."""
    row = state.head[j]
    while row >= 0 and record.end[row] <= now:
        _finish(arrays, options, state, record, record.task[row], j, now)
        row = record.link[row]
    state.head[j] = row


@kernel
def _store_unreported(state: State, record: Record, j: int, row: int) -> None:
    """Store a task whose end is reported at a contact."""
    record.link[row] = -1
    if state.head[j] < 0:
        state.head[j] = row
    else:
        record.link[state.tail[j]] = row
    state.tail[j] = row


@kernel
def _contact(
    arrays: InstanceArrays, options: MasterOptions, state: State, record: Record, ends: Ends, now: int
) -> None:
    at = state.at
    j = state.calls[0] & _WORKER
    row = at[CONTACTS]
    at[CONTACTS] = row + 1
    record.time[row], record.worker[row] = now, j
    state.last[j] = now
    if options.reports_at_contact:
        _report_ends(arrays, options, state, record, j, now)
    if options.algorithm == BOOKING:
        task = send_booked(arrays, state, record, row, j, now)
    else:
        task = choose(arrays, options, state, j, now)
    end = _NOTHING
    if task >= 0:
        end = compute(arrays, state, j, now)
        if end > arrays.end:
            end = _NOTHING
    record.task[row], record.end[row] = task, end
    if end != _NOTHING and options.algorithm >= 3:
        if options.reports_at_contact:
            _store_unreported(state, record, j, row)
        else:
            push_end(state, ends, end, j, task)
    if options.algorithm == BOOKING:
        again = book(arrays, options, state, j, now)
    else:
        again = call_again(arrays, options, state, record, now)
    if again >= 0 and options.waits:
        again = max(again, state.busy[j])
    if 0 <= again < arrays.end:
        again = next_available(arrays, state, j, max(again, now + 1))
    replace_call(state, again if again < arrays.end else -1, j)


@kernel(allocates=True)
def run(
    arrays: InstanceArrays, options: MasterOptions, state: State, record: Record, ends: Ends, firsts: Ints, period: int
) -> Record:
    """Run a master to the end; return the contacts, the first ``state.at[CONTACTS]`` of which are valid."""
    at = state.at
    if options.algorithm == BOOKING:
        begin_booking(arrays, state)
    else:
        begin(arrays, options, state, period)
    _first_calls(arrays, state, firsts)
    batch = 0
    while batch < arrays.deadlines.size and at[TOO_LARGE] == 0:
        now = arrays.deadlines[batch]
        if at[CALLS] > 0:
            now = min(now, state.calls[0] >> SHIFT)
        if at[ENDS] > 0:
            now = min(now, ends.key[0] >> SHIFT)
        while at[ENDS] > 0 and ends.key[0] >> SHIFT == now:
            j = ends.key[0] & _WORKER
            _finish(arrays, options, state, record, pop_end(state, ends), j, now)
        if now == arrays.deadlines[batch]:
            if options.algorithm == BOOKING:
                close_booking(arrays, options, state, batch)
            else:
                close(arrays, options, state, record, now, batch)
            if options.is_shifting:
                shift(arrays, options, state, record, now, batch)
            batch += 1
            if batch == arrays.deadlines.size:
                break
        while at[CALLS] > 0 and state.calls[0] >> SHIFT == now:
            if at[CONTACTS] == record.time.size:
                record = _longer_record(record)
            if at[ENDS] == ends.key.size:
                ends = _more_ends(ends)
            _contact(arrays, options, state, record, ends, now)
    return record
