"""The master ``booking``: the compiled twin of `hindsched.online.batches.booking`.

All floating-point operations have the order of the plain twin, so that both decide alike to the last bit.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.compiling import kernel
from hindsched.online.batches.booking import PARAMETERS
from hindsched.online.batches.kernels.arguments import (
    BATCH,
    BOOKED,
    CAME,
    ENDED,
    LEAST_CHANCE,
    NEXT_OPEN,
    OTHERS,
    REVISION,
    SENT,
    UNFINISHED,
    USUAL,
    InstanceArrays,
    MasterOptions,
    Record,
    State,
)
from hindsched.online.batches.kernels.heaps import reset_tasks, set_key, set_keys

__all__ = ["begin_booking", "book", "close_booking", "end_booked_copy", "send_booked"]

_RECORD_S, _MOMENTS, _DOUBT = PARAMETERS.record_s, PARAMETERS.moments, PARAMETERS.doubt
_REST_S, _KEPT, _LEAST_COMING = PARAMETERS.rest_s, PARAMETERS.kept, PARAMETERS.least_coming
_STEP, _MOST_WANTED, _REVISIONS, _GOLDEN = (
    PARAMETERS.step,
    PARAMETERS.most_wanted,
    PARAMETERS.revisions,
    PARAMETERS.golden,
)


@kernel
def begin_booking(arrays: InstanceArrays, state: State) -> None:
    """Open the first batch."""
    state.booking_state.means[USUAL], state.booking_state.means[SENT], state.booking_state.means[ENDED] = 0.5, 1.0, 0.5
    _open(arrays, state)


@kernel
def _open(arrays: InstanceArrays, state: State) -> None:
    reset_tasks(state, arrays.tasks, 1.0)
    state.booking_state.first[:] = -1
    state.at[REVISION] = 0


@kernel
def close_booking(arrays: InstanceArrays, options: MasterOptions, state: State, batch: int) -> None:
    """Count the calls that came, and open the next batch."""
    at, means, booked = state.at, state.booking_state.means, state.booking_state.booked
    means[BOOKED] = _KEPT * means[BOOKED] + booked[batch]
    means[CAME] = _KEPT * means[CAME] + state.booking_state.came[batch]
    means[OTHERS] = _KEPT * means[OTHERS] + (1 - _KEPT) * state.booking_state.others[batch]
    means[USUAL] = min(0.95, max(0.05, means[ENDED] / means[SENT]))
    means[SENT], means[ENDED] = _KEPT * means[SENT], _KEPT * means[ENDED]
    following = min(batch + 1, booked.size - 1)
    step = _STEP if booked[following] >= _to_book(options, state) else -_STEP
    means[LEAST_CHANCE] = min(_MOST_WANTED, max(0.0, means[LEAST_CHANCE] + step))
    at[BATCH] = batch + 1
    _open(arrays, state)


@kernel
def end_booked_copy(arrays: InstanceArrays, state: State, record: Record, task: int, worker: int) -> None:
    """Handle the end of a copy."""
    batch, k = task // arrays.tasks, task % arrays.tasks
    if batch != state.at[BATCH]:
        return
    state.booking_state.means[ENDED] += 1
    _unlink(state, record, k, worker, -1)
    if state.keys[k] > -np.inf:
        set_key(state.keys, state.best, k, -np.inf)
        state.at[UNFINISHED] -= 1


@kernel
def _unlink(state: State, record: Record, k: int, worker: int, instead: int) -> bool:
    """Remove a worker's copy from the list of a task, or replace it by another row; return whether there was one."""
    before, row = -1, state.booking_state.first[k]
    while row >= 0 and record.worker[row] != worker:
        before, row = row, record.sibling[row]
    if row < 0:
        return False
    after = record.sibling[row]
    if instead >= 0:
        record.sibling[instead] = after
        after = instead
    if before < 0:
        state.booking_state.first[k] = after
    else:
        record.sibling[before] = after
    return True


@kernel
def _link(state: State, record: Record, k: int, row: int) -> None:
    """Append a copy to the list of a task, or replace the one that this worker has."""
    if _unlink(state, record, k, record.worker[row], row):
        return
    record.sibling[row] = -1
    last = state.booking_state.first[k]
    if last < 0:
        state.booking_state.first[k] = row
        return
    while record.sibling[last] >= 0:
        last = record.sibling[last]
    record.sibling[last] = row


@kernel
def _own_time(arrays: InstanceArrays, state: State, j: int, now: int) -> int:
    """Return a worker's available seconds before now, from its first row on, and update ``back``."""
    booking_state, place = state.booking_state, state.place[j]
    row = booking_state.own_place[j]
    while row < place:
        booking_state.own[j] += arrays.ups[row, 1] - arrays.ups[row, 0]
        row += 1
    booking_state.own_place[j] = row
    since = booking_state.back[j]
    while since < place and arrays.ups[since, 1] <= now - _RECORD_S:
        since += 1
    booking_state.back[j] = since
    return int(booking_state.own[j] + now - arrays.ups[place, 0])


@kernel
def _seconds_before(arrays: InstanceArrays, state: State, j: int, now: int, until: int) -> int:
    """Return a worker's available seconds of the last two weeks before ``until`` <= now."""
    since, total = now - _RECORD_S, 0
    for row in range(state.booking_state.back[j], state.place[j] + 1):
        total += max(0, min(until, arrays.ups[row, 1]) - max(since, arrays.ups[row, 0]))
    return total


@kernel
def _chance(arrays: InstanceArrays, state: State, j: int, now: int, length: int, need: int) -> float:
    """Return the probability that a worker advances by ``need`` seconds in the next ``length``, by its own past."""
    usual = float(state.booking_state.means[USUAL])
    if need > length:
        return 0.0
    seen = _seconds_before(arrays, state, j, now, now - length)
    if seen < 1:
        return usual
    since, stop = now - _RECORD_S, state.place[j] + 1
    begin_row = end_row = state.booking_state.back[j]
    begin_own = end_own = 0.0  # before these rows
    count = 0
    for moment in range(_MOMENTS):
        own = (moment + 0.5) / _MOMENTS * seen
        a, b = max(since, arrays.ups[begin_row, 0]), arrays.ups[begin_row, 1]
        while begin_own + (b - a) <= own:
            begin_own += b - a
            begin_row += 1
            a, b = max(since, arrays.ups[begin_row, 0]), arrays.ups[begin_row, 1]
        until = own - begin_own + a + length
        while end_row < stop and min(now, arrays.ups[end_row, 1]) <= until:
            end_own += min(now, arrays.ups[end_row, 1]) - max(since, arrays.ups[end_row, 0])
            end_row += 1
        reached = end_own
        if end_row < stop and until > max(since, arrays.ups[end_row, 0]):
            reached = until - max(since, arrays.ups[end_row, 0]) + end_own
        count += reached - own >= need
    return (count + _DOUBT * usual) / (_MOMENTS + _DOUBT)


@kernel
def send_booked(arrays: InstanceArrays, state: State, record: Record, row: int, j: int, now: int) -> int:
    """Count a call, and return the task to send, batch * N + k, or -1; update the worker's queue."""
    at, booking_state = state.at, state.booking_state
    own = _own_time(arrays, state, j, now)
    queue = max(0, booking_state.queue_ends[j] - own)
    batch = at[BATCH]
    is_on = batch < arrays.deadlines.size and now >= arrays.submissions[batch]
    if is_on:
        if booking_state.booking[j] == batch:
            booking_state.came[batch] += 1
        else:
            booking_state.others[batch] += 1
    booking_state.booking[j] = -1
    booking_state.queue[0] = queue
    if not is_on or at[UNFINISHED] == 0:
        return -1
    need = queue + arrays.c[j]
    chance = _chance(arrays, state, j, now, arrays.deadlines[batch] - now, need)
    if chance <= 0:
        return -1
    _revise(arrays, state, record, now)
    k = state.best[1]
    record.need[row], record.chance[row] = need, chance
    _link(state, record, k, row)
    booking_state.means[SENT] += 1
    set_key(state.keys, state.best, k, state.keys[k] * (1 - chance))
    booking_state.queue[0] = need
    booking_state.queue_ends[j] = own + need
    return int(batch * arrays.tasks + k)


@kernel
def _revise(arrays: InstanceArrays, state: State, record: Record, now: int) -> None:
    """Update all success probabilities, a few times per batch."""
    at, batch = state.at, state.at[BATCH]
    since, until = arrays.submissions[batch], arrays.deadlines[batch]
    revision = (now - since) * _REVISIONS // (until - since)
    if revision == at[REVISION]:
        return
    at[REVISION] = revision
    for k in range(arrays.tasks):
        if state.keys[k] == -np.inf:
            continue
        chance, row = 1.0, state.booking_state.first[k]
        while row >= 0:
            chance *= 1 - _still(record, row, now, until)
            row = record.sibling[row]
        state.keys[k] = chance
    set_keys(state.keys, state.best)


@kernel
def _still(record: Record, row: int, now: int, deadline: int) -> float:
    """Return the probability that a copy still ends in time."""
    first = np.int64(record.time[row]) + record.need[row]
    gone = 0.0 if now <= first else min(1.0, (now - first) / max(1, deadline - first))
    left = record.chance[row] * (1 - gone)
    return left / (1 - record.chance[row] + left) if left != 0 else 0.0


@kernel
def _to_book(options: MasterOptions, state: State) -> float:
    """Return the number of calls to book for a batch."""
    means = state.booking_state.means
    coming = (means[CAME] + 1) / (means[BOOKED] + 2)
    return float(max(0.0, options.calls - means[OTHERS]) / min(1.0, max(_LEAST_COMING, coming)))


@kernel
def book(arrays: InstanceArrays, options: MasterOptions, state: State, j: int, now: int) -> int:
    """Return the second of a worker's next call, or -1 for never."""
    at, booking_state, num = state.at, state.booking_state, arrays.deadlines.size
    to_book, batch = _to_book(options, state), at[BATCH]
    again = _again(arrays, state, j, now, to_book)
    if again >= 0:
        return again
    following = batch
    if batch < num and now >= arrays.submissions[batch]:
        following += 1
    if following >= num:
        return -1
    length = arrays.deadlines[following] - arrays.submissions[following]
    if _chance(arrays, state, j, now, length, arrays.c[j]) < booking_state.means[LEAST_CHANCE]:
        return int(now + _REST_S)
    place = max(at[NEXT_OPEN], following)
    while place < num and booking_state.booked[place] >= to_book:
        place += 1
    at[NEXT_OPEN] = place
    if place == num:
        return int(now + _REST_S)
    booking_state.booked[place] += 1
    booking_state.booking[j] = place
    return _slot(arrays, state, j, now, place)


@kernel
def _again(arrays: InstanceArrays, state: State, j: int, now: int, to_book: float) -> int:
    """Return the second of another call in the present batch, or -1."""
    batch, booking_state = state.at[BATCH], state.booking_state
    if batch == arrays.deadlines.size or state.at[UNFINISHED] == 0 or booking_state.booked[batch] >= to_book:
        return -1
    call = max(arrays.submissions[batch], now) + max(1, int(booking_state.queue[0] / _share(arrays, state, j, now)))
    if now < arrays.submissions[batch] or call + arrays.c[j] > arrays.deadlines[batch]:
        return -1
    booking_state.booked[batch] += 1
    booking_state.booking[j] = batch
    return int(call)


@kernel
def _share(arrays: InstanceArrays, state: State, j: int, now: int) -> float:
    """Return the share of the last two weeks in which a worker was available."""
    known = min(_RECORD_S, now - arrays.firsts[j])
    return float((_seconds_before(arrays, state, j, now, now) + 1) / (known + 1))


@kernel
def _slot(arrays: InstanceArrays, state: State, j: int, now: int, place: int) -> int:
    """Return a second in the first part of a batch; this part is longer for fast and often available workers."""
    length = arrays.deadlines[place] - arrays.submissions[place]
    latest = length - 2 * arrays.c[j] / _share(arrays, state, j, now)
    width = min(max(latest, length / 10), length * 0.9)
    return int(arrays.submissions[place] + int(state.booking_state.booked[place] * _GOLDEN % 1.0 * width))
