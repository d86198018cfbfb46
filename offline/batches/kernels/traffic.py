"""The rung ``traffic``: contacts flow into workers (docs/batches/model.md section 6).

A worker takes contacts at seconds x so that, for each r, at most r of them have a rank of at most r; the rank of a
second is how many tasks fit between it and the deadline. First a sweep from the latest second to the earliest, which
serves whoever is available; then augmenting paths, if it fell short; where there is no path any more, the seconds that
were not reached are the cut.
"""

from __future__ import annotations

from typing import NamedTuple

from offline.batches.kernels.compiling import Ints, Shorts, kernel
from offline.batches.kernels.field import Field, latest, own_time, row_at

__all__ = ["Flow", "augment", "reaches", "sweep"]


class Flow(NamedTuple):
    """Which contacts go to whom."""

    size: Ints  # (1,): pairs of a second and a worker
    second: Shorts  # (N,): its place among the seconds
    worker: Shorts  # (N,)
    rank: Ints  # (N,)
    link: Shorts  # (N,): the next pair of the same worker
    used: Shorts  # pairs in each second
    bucket: Shorts  # workers to be released at each second: the first of a list
    visited: Shorts  # in which search a second was reached
    by_pair: Shorts  # from which pair of it
    by_second: Shorts  # for the sake of which second
    queue: Shorts
    head: Shorts  # (W,): a worker's first pair
    held: Ints  # (W,): how many it has
    stamp: Ints  # (W,): in which evaluation these hold
    next: Shorts  # (W,): the next worker in a bucket
    pool: Shorts  # (W,)
    epoch: Ints  # (2,): evaluations and searches so far


@kernel()
def _touch(flow: Flow, j: int) -> None:
    if flow.stamp[j] != flow.epoch[0]:
        flow.stamp[j], flow.held[j], flow.head[j] = flow.epoch[0], 0, -1


@kernel()
def _is_alive(field: Field, j: int, deadline: int) -> bool:
    row = field.place[j]
    return bool(row < field.high[j] and field.ups[row, 0] < deadline)


@kernel()
def _last_by(field: Field, first: int, stop: int, time: int) -> int:
    """Return the place of the last second by ``time``, or one before the first."""
    low, high = first, stop
    while low < high:
        middle = (low + high) // 2
        if field.seconds[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return low - 1


@kernel()
def _pair(field: Field, flow: Flow, second: int, j: int, rank: int) -> None:
    place = flow.size[0]
    flow.size[0] = place + 1
    flow.second[place], flow.worker[place], flow.rank[place] = second, j, rank
    flow.link[place] = flow.head[j]
    flow.head[j] = place
    flow.held[j] += 1
    flow.used[second] += 1


@kernel()
def _release(field: Field, flow: Flow, j: int, time: int, first: int, stop: int) -> None:
    """Let a worker into the pool when the sweep comes to a time, if there is a contact from then back."""
    if time < 0:
        return
    place = _last_by(field, first, stop, time)
    if place >= first:
        flow.next[j] = flow.bucket[place]
        flow.bucket[place] = j


@kernel()
def sweep(field: Field, flow: Flow, submission: int, deadline: int, first: int, stop: int) -> bool:
    """Serve contacts of the seconds [first, stop), the latest first; return whether N found a worker."""
    flow.epoch[0] += 1
    flow.size[0] = 0
    flow.bucket[first:stop] = -1
    flow.used[first:stop] = 0
    fast = pooled = 0
    for place in range(stop - 1, first - 1, -1):
        second = field.seconds[place]
        while fast < field.order.size and field.c[field.order[fast]] <= deadline - second:
            j = field.order[fast]
            fast += 1
            if _is_alive(field, j, deadline):
                _touch(flow, j)
                _release(field, flow, j, latest(field, j, field.c[j], submission, deadline), first, place + 1)
        j = flow.bucket[place]
        while j >= 0:
            flow.pool[pooled] = j
            pooled += 1
            j = flow.next[j]
        while pooled > 0 and flow.used[place] < field.counts[place]:
            pooled -= 1
            j = flow.pool[pooled]
            row = row_at(field, j, second)
            if row < field.place[j]:
                continue
            if second >= field.ups[row, 1]:  # away: it comes again when it was last there
                _release(field, flow, j, field.ups[row, 1] - 1, first, place)
                continue
            rank = own_time(field, j, row, second, deadline) // field.c[j]
            _pair(field, flow, place, j, rank)
            if flow.size[0] == field.tasks:
                return True
            need = (flow.held[j] + 1) * field.c[j]
            _release(field, flow, j, latest(field, j, need, submission, deadline), first, place)
    return False


@kernel()
def _tight_rank(flow: Flow, j: int, rank: int) -> int:
    """Return the least r from ``rank`` on such that a worker has r pairs of ranks up to r; 0 if there is none."""
    for r in range(rank, flow.held[j] + 1):
        count = 0
        pair = flow.head[j]
        while pair >= 0:
            count += flow.rank[pair] <= r
            pair = flow.link[pair]
        if count == r:
            return r
    return 0


@kernel()
def _has(flow: Flow, j: int, second: int) -> bool:
    pair = flow.head[j]
    while pair >= 0:
        if flow.second[pair] == second:
            return True
        pair = flow.link[pair]
    return False


@kernel()
def _shift_along(field: Field, flow: Flow, second: int, submission: int, deadline: int) -> None:
    """Move the pairs on the path that led to a second, so that this second has room for a new one."""
    while flow.by_pair[second] >= 0:
        pair, before = flow.by_pair[second], flow.by_second[second]
        j = flow.worker[pair]
        time = field.seconds[before]
        flow.second[pair] = before
        flow.rank[pair] = own_time(field, j, row_at(field, j, time), time, deadline) // field.c[j]
        flow.used[second] -= 1
        flow.used[before] += 1
        second = before


@kernel()
def augment(field: Field, flow: Flow, submission: int, deadline: int, first: int, stop: int) -> bool:
    """Serve one contact more by a shortest augmenting path; False if there is none.

    Then the seconds in [first, stop) that were not visited, with those that have no contact, are a smallest cut.
    """
    flow.epoch[1] += 1
    search = flow.epoch[1]
    done = size = 0
    for place in range(first, stop):
        if flow.used[place] < field.counts[place]:
            flow.visited[place], flow.by_pair[place] = search, -1
            flow.queue[size] = place
            size += 1
    while done < size:
        place = flow.queue[done]
        done += 1
        second = field.seconds[place]
        for fast in range(field.order.size):
            j = field.order[fast]
            if field.c[j] > deadline - second:
                break
            if not _is_alive(field, j, deadline):
                continue
            row = row_at(field, j, second)
            if row < field.place[j] or second >= field.ups[row, 1]:
                continue
            rank = own_time(field, j, row, second, deadline) // field.c[j]
            if rank < 1:
                continue
            _touch(flow, j)
            if _has(flow, j, place):
                continue
            tight = _tight_rank(flow, j, rank)
            if tight == 0:
                _shift_along(field, flow, place, submission, deadline)
                _pair(field, flow, place, j, rank)
                return True
            pair = flow.head[j]
            while pair >= 0:
                other = flow.second[pair]
                if flow.rank[pair] <= tight and flow.visited[other] != search:
                    flow.visited[other], flow.by_pair[other], flow.by_second[other] = search, pair, place
                    flow.queue[size] = other
                    size += 1
                pair = flow.link[pair]
    return False


@kernel()
def reaches(field: Field, flow: Flow, submission: int, deadline: int, first: int, stop: int) -> bool:
    """Whether N contacts of the seconds [first, stop) find workers that end their tasks by the deadline.

    Afterwards the flow is a largest one, of at most N.
    """
    contacts, enough = 0, first
    while enough < stop and contacts < field.tasks:
        contacts += field.counts[enough]
        enough += 1
    if enough < stop and sweep(field, flow, submission, deadline, first, enough):
        return True
    if sweep(field, flow, submission, deadline, first, stop):
        return True
    while flow.size[0] < field.tasks:
        if not augment(field, flow, submission, deadline, first, stop):
            return False
    return True
