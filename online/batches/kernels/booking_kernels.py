"""The master that books its calls, as machine code (docs/batches/beyond.md; its plain twin: `online.batches.booking`).

Every real number is reckoned in the order of the plain twin, so that both decide alike to the last bit.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.compiling import kernel
from hindsched.online.batches import booking
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
    Record,
    Rules,
    State,
    World,
)
from hindsched.online.batches.kernels.heaps import reset_tasks, set_key, set_keys

__all__ = ["begin_booking", "book", "close_booking", "hear_booking", "send_booking"]

_RECORD_S, _MOMENTS, _DOUBT = booking.RECORD_S, booking.MOMENTS, booking.DOUBT
_REST_S, _KEPT, _LEAST_COMING = booking.REST_S, booking.KEPT, booking.LEAST_COMING
_STEP, _MOST_WANTED, _REVISIONS, _GOLDEN = booking.STEP, booking.MOST_WANTED, booking.REVISIONS, booking.GOLDEN


@kernel
def begin_booking(world: World, state: State) -> None:
    """Open the first batch."""
    state.ledger.means[USUAL], state.ledger.means[SENT], state.ledger.means[ENDED] = 0.5, 1.0, 0.5
    _open(world, state)


@kernel
def _open(world: World, state: State) -> None:
    reset_tasks(state, world.tasks, 1.0)
    state.ledger.first[:] = -1
    state.at[REVISION] = 0


@kernel
def close_booking(world: World, rules: Rules, state: State, batch: int) -> None:
    """Count who came, and go on to the next batch."""
    at, means, booked = state.at, state.ledger.means, state.ledger.booked
    means[BOOKED] = _KEPT * means[BOOKED] + booked[batch]
    means[CAME] = _KEPT * means[CAME] + state.ledger.came[batch]
    means[OTHERS] = _KEPT * means[OTHERS] + (1 - _KEPT) * state.ledger.others[batch]
    means[USUAL] = min(0.95, max(0.05, means[ENDED] / means[SENT]))
    means[SENT], means[ENDED] = _KEPT * means[SENT], _KEPT * means[ENDED]
    following = min(batch + 1, booked.size - 1)
    step = _STEP if booked[following] >= _to_book(rules, state) else -_STEP
    means[LEAST_CHANCE] = min(_MOST_WANTED, max(0.0, means[LEAST_CHANCE] + step))
    at[BATCH] = batch + 1
    _open(world, state)


@kernel
def hear_booking(world: World, state: State, record: Record, task: int, worker: int) -> None:
    """Hear that a copy has ended."""
    batch, k = task // world.tasks, task % world.tasks
    if batch != state.at[BATCH]:
        return
    state.ledger.means[ENDED] += 1
    _forget(state, record, k, worker, -1)
    if state.keys[k] > -np.inf:
        set_key(state.keys, state.best, k, -np.inf)
        state.at[UNFINISHED] -= 1


@kernel
def _forget(state: State, record: Record, k: int, worker: int, instead: int) -> bool:
    """Take a worker's copy out of the list of a task, or put another row in its place; return whether there was one."""
    before, row = -1, state.ledger.first[k]
    while row >= 0 and record.worker[row] != worker:
        before, row = row, record.sibling[row]
    if row < 0:
        return False
    after = record.sibling[row]
    if instead >= 0:
        record.sibling[instead] = after
        after = instead
    if before < 0:
        state.ledger.first[k] = after
    else:
        record.sibling[before] = after
    return True


@kernel
def _note(state: State, record: Record, k: int, row: int) -> None:
    """Note a copy as the last of a task, or in the place of one that this worker has."""
    if _forget(state, record, k, record.worker[row], row):
        return
    record.sibling[row] = -1
    last = state.ledger.first[k]
    if last < 0:
        state.ledger.first[k] = row
        return
    while record.sibling[last] >= 0:
        last = record.sibling[last]
    record.sibling[last] = row


@kernel
def _own_time(world: World, state: State, j: int, now: int) -> int:
    """Return a worker's available seconds before now, from its first row on, and find its first row of late."""
    ledger, place = state.ledger, state.place[j]
    row = ledger.own_place[j]
    while row < place:
        ledger.own[j] += world.ups[row, 1] - world.ups[row, 0]
        row += 1
    ledger.own_place[j] = row
    since = ledger.back[j]
    while since < place and world.ups[since, 1] <= now - _RECORD_S:
        since += 1
    ledger.back[j] = since
    return int(ledger.own[j] + now - world.ups[place, 0])


@kernel
def _seconds_before(world: World, state: State, j: int, now: int, until: int) -> int:
    """Return a worker's available seconds of late before a second that is not after now."""
    since, total = now - _RECORD_S, 0
    for row in range(state.ledger.back[j], state.place[j] + 1):
        total += max(0, min(until, world.ups[row, 1]) - max(since, world.ups[row, 0]))
    return total


@kernel
def _chance(world: World, state: State, j: int, now: int, length: int, need: int) -> float:
    """Return the chance that a worker advances by ``need`` seconds in the next ``length`` ones, by its own past."""
    usual = float(state.ledger.means[USUAL])
    if need > length:
        return 0.0
    seen = _seconds_before(world, state, j, now, now - length)
    if seen < 1:
        return usual
    since, stop = now - _RECORD_S, state.place[j] + 1
    begin_row = end_row = state.ledger.back[j]
    begin_own = end_own = 0.0  # before these rows
    count = 0
    for moment in range(_MOMENTS):
        own = (moment + 0.5) / _MOMENTS * seen
        a, b = max(since, world.ups[begin_row, 0]), world.ups[begin_row, 1]
        while begin_own + (b - a) <= own:
            begin_own += b - a
            begin_row += 1
            a, b = max(since, world.ups[begin_row, 0]), world.ups[begin_row, 1]
        until = own - begin_own + a + length
        while end_row < stop and min(now, world.ups[end_row, 1]) <= until:
            end_own += min(now, world.ups[end_row, 1]) - max(since, world.ups[end_row, 0])
            end_row += 1
        reached = end_own
        if end_row < stop and until > max(since, world.ups[end_row, 0]):
            reached = until - max(since, world.ups[end_row, 0]) + end_own
        count += reached - own >= need
    return (count + _DOUBT * usual) / (_MOMENTS + _DOUBT)


@kernel
def send_booking(world: World, state: State, record: Record, row: int, j: int, now: int) -> int:
    """Note a call, and return the task to send, batch * N + k, or -1; what its worker has to do is noted."""
    at, ledger = state.at, state.ledger
    own = _own_time(world, state, j, now)
    queue = max(0, ledger.queue_ends[j] - own)
    batch = at[BATCH]
    is_on = batch < world.deadlines.size and now >= world.submissions[batch]
    if is_on:
        if ledger.booking[j] == batch:
            ledger.came[batch] += 1
        else:
            ledger.others[batch] += 1
    ledger.booking[j] = -1
    ledger.queue[0] = queue
    if not is_on or at[UNFINISHED] == 0:
        return -1
    need = queue + world.c[j]
    chance = _chance(world, state, j, now, world.deadlines[batch] - now, need)
    if chance <= 0:
        return -1
    _revise(world, state, record, now)
    k = state.best[1]
    record.need[row], record.chance[row] = need, chance
    _note(state, record, k, row)
    ledger.means[SENT] += 1
    set_key(state.keys, state.best, k, state.keys[k] * (1 - chance))
    ledger.queue[0] = need
    ledger.queue_ends[j] = own + need
    return int(batch * world.tasks + k)


@kernel
def _revise(world: World, state: State, record: Record, now: int) -> None:
    """Reckon all chances anew, a few times a batch."""
    at, batch = state.at, state.at[BATCH]
    since, until = world.submissions[batch], world.deadlines[batch]
    revision = (now - since) * _REVISIONS // (until - since)
    if revision == at[REVISION]:
        return
    at[REVISION] = revision
    for k in range(world.tasks):
        if state.keys[k] == -np.inf:
            continue
        chance, row = 1.0, state.ledger.first[k]
        while row >= 0:
            chance *= 1 - _still(record, row, now, until)
            row = record.sibling[row]
        state.keys[k] = chance
    set_keys(state.keys, state.best)


@kernel
def _still(record: Record, row: int, now: int, deadline: int) -> float:
    """Return the chance that a copy still ends in time."""
    first = np.int64(record.time[row]) + record.need[row]
    gone = 0.0 if now <= first else min(1.0, (now - first) / max(1, deadline - first))
    left = record.chance[row] * (1 - gone)
    return left / (1 - record.chance[row] + left) if left != 0 else 0.0


@kernel
def _to_book(rules: Rules, state: State) -> float:
    """Return how many calls to book for a batch."""
    means = state.ledger.means
    coming = (means[CAME] + 1) / (means[BOOKED] + 2)
    return float(max(0.0, rules.calls - means[OTHERS]) / min(1.0, max(_LEAST_COMING, coming)))


@kernel
def book(world: World, rules: Rules, state: State, j: int, now: int) -> int:
    """Return when a worker shall call again, or -1 for never."""
    at, ledger, num = state.at, state.ledger, world.deadlines.size
    to_book, batch = _to_book(rules, state), at[BATCH]
    again = _again(world, state, j, now, to_book)
    if again >= 0:
        return again
    following = batch
    if batch < num and now >= world.submissions[batch]:
        following += 1
    if following >= num:
        return -1
    length = world.deadlines[following] - world.submissions[following]
    if _chance(world, state, j, now, length, world.c[j]) < ledger.means[LEAST_CHANCE]:
        return int(now + _REST_S)
    place = max(at[NEXT_OPEN], following)
    while place < num and ledger.booked[place] >= to_book:
        place += 1
    at[NEXT_OPEN] = place
    if place == num:
        return int(now + _REST_S)
    ledger.booked[place] += 1
    ledger.booking[j] = place
    return _slot(world, state, j, now, place)


@kernel
def _again(world: World, state: State, j: int, now: int, to_book: float) -> int:
    """Return when a worker shall call once more in the present batch, or -1."""
    batch, ledger = state.at[BATCH], state.ledger
    if batch == world.deadlines.size or state.at[UNFINISHED] == 0 or ledger.booked[batch] >= to_book:
        return -1
    call = max(world.submissions[batch], now) + max(1, int(ledger.queue[0] / _share(world, state, j, now)))
    if now < world.submissions[batch] or call + world.c[j] > world.deadlines[batch]:
        return -1
    ledger.booked[batch] += 1
    ledger.booking[j] = batch
    return int(call)


@kernel
def _share(world: World, state: State, j: int, now: int) -> float:
    """Return the share of the last two weeks in which a worker was available."""
    known = min(_RECORD_S, now - world.firsts[j])
    return float((_seconds_before(world, state, j, now, now) + 1) / (known + 1))


@kernel
def _slot(world: World, state: State, j: int, now: int, place: int) -> int:
    """Return a second in the first part of a batch's time, longer for who computes fast and is often there."""
    length = world.deadlines[place] - world.submissions[place]
    latest = length - 2 * world.c[j] / _share(world, state, j, now)
    width = min(max(latest, length / 10), length * 0.9)
    return int(world.submissions[place] + int(state.ledger.booked[place] * _GOLDEN % 1.0 * width))
