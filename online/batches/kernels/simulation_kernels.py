"""The run itself: instant by instant V2, V3, V5 and V6."""

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
    Record,
    Rules,
    State,
    World,
)
from hindsched.online.batches.kernels.booking_kernels import (
    begin_booking,
    book,
    close_booking,
    hear_booking,
    send_booking,
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
def _roomier(record: Record) -> Record:
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
def _first_calls(world: World, state: State, firsts: Ints) -> None:
    size = 0
    for j in range(world.c.size):
        time = next_available(world, state, j, firsts[j])
        if time < world.end:
            state.calls[size] = (np.int64(time) << SHIFT) | j
            size += 1
    state.at[CALLS] = size
    heapify(state)


@kernel
def _finish(world: World, rules: Rules, state: State, record: Record, task: int, j: int, now: int) -> None:
    if rules.algorithm == BOOKING:
        hear_booking(world, state, record, task, j)
    else:
        finish(world, rules, state, record, task, now)


@kernel
def _hear(world: World, rules: Rules, state: State, record: Record, j: int, now: int) -> None:
    """Tell the master of the ends of the worker that calls."""
    row = state.head[j]
    while row >= 0 and record.end[row] <= now:
        _finish(world, rules, state, record, record.task[row], j, now)
        row = record.link[row]
    state.head[j] = row


@kernel
def _note(state: State, record: Record, j: int, row: int) -> None:
    """Remember a task of whose end the master will hear at a contact."""
    record.link[row] = -1
    if state.head[j] < 0:
        state.head[j] = row
    else:
        record.link[state.tail[j]] = row
    state.tail[j] = row


@kernel
def _contact(world: World, rules: Rules, state: State, record: Record, ends: Ends, now: int) -> None:
    at = state.at
    j = state.calls[0] & _WORKER
    row = at[CONTACTS]
    at[CONTACTS] = row + 1
    record.time[row], record.worker[row] = now, j
    state.last[j] = now
    if rules.hears_at_contact:
        _hear(world, rules, state, record, j, now)
    if rules.algorithm == BOOKING:
        task = send_booking(world, state, record, row, j, now)
    else:
        task = choose(world, rules, state, j, now)
    end = _NOTHING
    if task >= 0:
        end = compute(world, state, j, now)
        if end > world.end:
            end = _NOTHING
    record.task[row], record.end[row] = task, end
    if end != _NOTHING and rules.algorithm >= 3:
        if rules.hears_at_contact:
            _note(state, record, j, row)
        else:
            push_end(state, ends, end, j, task)
    if rules.algorithm == BOOKING:
        again = book(world, rules, state, j, now)
    else:
        again = call_again(world, rules, state, record, now)
    if again >= 0 and rules.waits:
        again = max(again, state.busy[j])
    if 0 <= again < world.end:
        again = next_available(world, state, j, max(again, now + 1))
    replace_call(state, again if again < world.end else -1, j)


@kernel(allocates=True)
def run(world: World, rules: Rules, state: State, record: Record, ends: Ends, firsts: Ints, period: int) -> Record:
    """Run a master to the end; return the contacts, of which ``state.at[CONTACTS]`` are filled."""
    at = state.at
    if rules.algorithm == BOOKING:
        begin_booking(world, state)
    else:
        begin(world, rules, state, period)
    _first_calls(world, state, firsts)
    batch = 0
    while batch < world.deadlines.size and at[TOO_LARGE] == 0:
        now = world.deadlines[batch]
        if at[CALLS] > 0:
            now = min(now, state.calls[0] >> SHIFT)
        if at[ENDS] > 0:
            now = min(now, ends.key[0] >> SHIFT)
        while at[ENDS] > 0 and ends.key[0] >> SHIFT == now:
            j = ends.key[0] & _WORKER
            _finish(world, rules, state, record, pop_end(state, ends), j, now)
        if now == world.deadlines[batch]:
            if rules.algorithm == BOOKING:
                close_booking(world, rules, state, batch)
            else:
                close(world, rules, state, record, now, batch)
            if rules.is_shifting:
                shift(world, rules, state, record, now, batch)
            batch += 1
            if batch == world.deadlines.size:
                break
        while at[CALLS] > 0 and state.calls[0] >> SHIFT == now:
            if at[CONTACTS] == record.time.size:
                record = _roomier(record)
            if at[ENDS] == ends.key.size:
                ends = _more_ends(ends)
            _contact(world, rules, state, record, ends, now)
    return record
