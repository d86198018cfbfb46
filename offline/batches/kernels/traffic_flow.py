"""Kernels of the rung ``traffic``: a maximum flow of contacts to workers (docs/batches/model.md section 6).

The rank of a second for a worker is the number of its tasks that fit between the second and the deadline. A worker can
take a set of contacts if, for each r, at most r of them have a rank of at most r. A sweep from the latest second to the
earliest serves available workers; if it serves too few, augmenting paths follow. Without a further path, the seconds
that were not reached are a minimum cut.

`Flow` bundles all working arrays; the functions that a sweep calls have up to eight arguments, which costs no speed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.batches.kernels.instance_arrays import InstanceArrays

__all__ = ["FEW", "Candidates", "Flow", "augment", "bound", "gather", "most", "reaches", "sweep"]


_WORKER = 2**31 - 1
#: Number of the fastest workers that suffice for most cuts.
FEW = 300


class Candidates(NamedTuple):
    """The workers of one batch by c, with their intervals within the window: small enough for the cache."""

    size: Ints  # (1,): number of workers
    worker: Int32s  # (W,): index of each among all workers
    c: Int32s
    low: Int32s  # (W + 1,): first row of each; its last row precedes the first of the next
    ups: Int32s  # (rows, 2): cut to the window


class Flow(NamedTuple):
    """Pairs of contacts and workers, which are numbered as in `Candidates`."""

    size: Ints  # (1,): number of pairs of a second and a worker
    second: Int32s  # (N,): place of the second of a pair
    worker: Int32s  # (N,)
    rank: Ints  # (N,)
    link: Int32s  # (N,): the next pair of the same worker
    used: Int32s  # pairs in each second
    bucket: Int32s  # first of a list of workers that are released at each second
    visited: Int32s  # search in which a second was reached
    by_pair: Int32s  # pair of the second from which it was reached
    by_second: Int32s  # second that replaces it in that pair
    queue: Int32s
    head: Int32s  # (W,): first pair of a worker
    held: Ints  # (W,): number of pairs of a worker
    stamp: Ints  # (W,): evaluation in which the two hold
    next: Int32s  # (W,): next worker in a bucket
    pool: Ints  # (W,): heap of workers that are released and available
    epoch: Ints  # (2,): evaluations and searches so far
    gain: Int32s  # contacts that the workers alone would take in each second
    best: Ints  # (2,): last result: a worker; or the least bound and the end of its cut
    search: Int32s  # (W,): search in which the next one holds
    explored: Int32s  # (W,): seconds up to this rank lead to no new second


@kernel
def gather(arrays: InstanceArrays, candidates: Candidates, submission: int, horizon: int) -> bool:
    """Gather the workers that can end a task in [submission, horizon); return False if there is too little room."""
    size = rows = 0
    for fast in range(arrays.order.size):
        j = arrays.order[fast]
        if arrays.c[j] > horizon - submission:
            break
        row = arrays.place[j]
        if row == arrays.high[j] or arrays.ups[row, 0] >= horizon:
            continue
        candidates.worker[size], candidates.c[size], candidates.low[size] = j, arrays.c[j], rows
        size += 1
        while row < arrays.high[j] and arrays.ups[row, 0] < horizon:
            if rows == len(candidates.ups):
                return False
            candidates.ups[rows, 0] = max(submission, arrays.ups[row, 0])
            candidates.ups[rows, 1] = min(horizon, arrays.ups[row, 1])
            rows += 1
            row += 1
    candidates.low[size] = rows
    candidates.size[0] = size
    return True


@kernel
def _row_at(candidates: Candidates, j: int, time: int) -> int:
    """Return the last row of a worker that begins by ``time``, or the row before its first."""
    low, high = candidates.low[j], candidates.low[j + 1]
    while high - low > 8:
        middle = (low + high) // 2
        if candidates.ups[middle, 0] <= time:
            low = middle
        else:
            high = middle
    while low < high and candidates.ups[low, 0] <= time:
        low += 1
    return int(low - 1)


@kernel
def _rank(arrays: InstanceArrays, candidates: Candidates, j: int, row: int, time: int, deadline: int) -> int:
    """Return the number of tasks of a worker that fit between an available second of a row and the deadline."""
    if arrays.is_reliable:
        return int((deadline - time) // candidates.c[j])
    total = 0
    while row < candidates.low[j + 1] and candidates.ups[row, 0] < deadline:
        total += min(deadline, candidates.ups[row, 1]) - max(time, candidates.ups[row, 0])
        row += 1
    return int(total // candidates.c[j])


@kernel
def most(arrays: InstanceArrays, candidates: Candidates, deadline: int) -> int:
    """Return the smaller of N and a bound on the tasks that can end by a deadline with a contact in every second."""
    total = 0
    for j in range(candidates.size[0]):
        begin = candidates.ups[candidates.low[j], 0]
        if candidates.c[j] <= deadline - begin:
            total += _rank(arrays, candidates, j, candidates.low[j], begin, deadline)
            if total >= arrays.tasks:
                return int(arrays.tasks)
    return total


@kernel
def _latest(arrays: InstanceArrays, candidates: Candidates, j: int, need: int, deadline: int) -> int:
    """Return the latest available second of a worker that leaves ``need`` seconds of computing, or -1."""
    first = candidates.low[j]
    if arrays.is_reliable:
        row = _row_at(candidates, j, deadline - need)
        return int(min(deadline - need, candidates.ups[row, 1] - 1)) if row >= first else -1
    row = _row_at(candidates, j, deadline - 1)
    while row >= first:
        a, b = candidates.ups[row, 0], min(deadline, candidates.ups[row, 1])
        if b - a >= need:
            return int(b - need)
        need -= b - a
        row -= 1
    return -1


@kernel
def _touch(flow: Flow, j: int) -> None:
    if flow.stamp[j] != flow.epoch[0]:
        flow.stamp[j], flow.held[j], flow.head[j] = flow.epoch[0], 0, -1


@kernel
def _last_by(arrays: InstanceArrays, first: int, stop: int, time: int) -> int:
    """Return the place of the last second by ``time``, or the place before the first."""
    low, high = first, stop
    while low < high:
        middle = (low + high) // 2
        if arrays.seconds[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return low - 1


@kernel
def _pair(flow: Flow, second: int, j: int, rank: int) -> None:
    place = flow.size[0]
    flow.size[0] = place + 1
    flow.second[place], flow.worker[place], flow.rank[place] = second, j, rank
    flow.link[place] = flow.head[j]
    flow.head[j] = place
    flow.held[j] += 1
    flow.used[second] += 1


@kernel
def _release(arrays: InstanceArrays, flow: Flow, j: int, time: int, first: int, stop: int) -> None:
    """Schedule a worker to enter the pool when the sweep reaches a time, if a contact remains."""
    if time < 0:
        return
    place = _last_by(arrays, first, stop, time)
    if place >= first:
        flow.next[j] = flow.bucket[place]
        flow.bucket[place] = j


@kernel
def _push(flow: Flow, size: int, begin: int, j: int) -> None:
    """Add a worker to the pool, a heap with the latest begin of the present interval first."""
    key = (np.int64(begin) << 31) | j
    hole = size
    while hole > 0 and flow.pool[(hole - 1) // 2] < key:
        flow.pool[hole] = flow.pool[(hole - 1) // 2]
        hole = (hole - 1) // 2
    flow.pool[hole] = key


@kernel
def _pop(flow: Flow, size: int) -> None:
    """Remove the first worker from a pool of this size."""
    key = flow.pool[size - 1]
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and flow.pool[child + 1] > flow.pool[child]:
            child += 1
        if flow.pool[child] <= key:
            break
        flow.pool[hole] = flow.pool[child]
        hole = child
    flow.pool[hole] = key


@kernel
def _enter(
    arrays: InstanceArrays, candidates: Candidates, flow: Flow, size: int, j: int, first: int, place: int
) -> int:
    """Add a worker to the pool now or when it is available; return the size of the pool."""
    second = arrays.seconds[place]
    row = _row_at(candidates, j, second)
    if row < candidates.low[j]:
        return size
    if second >= candidates.ups[row, 1]:  # not available: released at its last available second before
        _release(arrays, flow, j, candidates.ups[row, 1] - 1, first, place)
        return size
    _push(flow, size, candidates.ups[row, 0], j)
    return size + 1


@kernel
def _take(
    arrays: InstanceArrays, candidates: Candidates, flow: Flow, size: int, first: int, place: int, is_careful: bool
) -> int:
    """Take one worker of the pool, into ``flow.best`` if it is available; return the new size."""
    second = arrays.seconds[place]
    flow.best[0] = -1
    if not is_careful:
        j = flow.pool[size - 1]
        row = _row_at(candidates, j, second)
        if row >= candidates.low[j] and second < candidates.ups[row, 1]:
            flow.best[0] = j
        elif row >= candidates.low[j]:
            _release(arrays, flow, j, candidates.ups[row, 1] - 1, first, place)
        return size - 1
    begin, j = flow.pool[0] >> 31, flow.pool[0] & _WORKER
    _pop(flow, size)
    if begin > second:
        return _enter(arrays, candidates, flow, size - 1, j, first, place)
    flow.best[0] = j
    return size - 1


@kernel
def sweep(
    arrays: InstanceArrays, candidates: Candidates, flow: Flow, deadline: int, first: int, stop: int, is_careful: bool
) -> bool:
    """Serve contacts of the seconds [first, stop), the latest first; return whether N found a worker.

    A careful sweep takes the available worker whose interval begins latest, since it is the first to become
    unavailable; a quick sweep takes any.
    """
    flow.epoch[0] += 1
    flow.size[0] = 0
    flow.bucket[first:stop] = -1
    flow.used[first:stop] = 0
    fast = size = 0
    for place in range(stop - 1, first - 1, -1):
        second = arrays.seconds[place]
        while fast < candidates.size[0] and candidates.c[fast] <= deadline - second:
            _touch(flow, fast)
            _release(
                arrays, flow, fast, _latest(arrays, candidates, fast, candidates.c[fast], deadline), first, place + 1
            )
            fast += 1
        j = flow.bucket[place]
        while j >= 0:
            following = flow.next[j]
            if is_careful:
                size = _enter(arrays, candidates, flow, size, j, first, place)
            else:
                flow.pool[size] = j
                size += 1
            j = following
        while size > 0 and flow.used[place] < arrays.counts[place]:
            size = _take(arrays, candidates, flow, size, first, place, is_careful)
            j = flow.best[0]
            if j < 0:
                continue
            _pair(flow, place, j, _rank(arrays, candidates, j, _row_at(candidates, j, second), second, deadline))
            if flow.size[0] == arrays.tasks:
                return True
            need = (flow.held[j] + 1) * candidates.c[j]
            _release(arrays, flow, j, _latest(arrays, candidates, j, need, deadline), first, place)
    return False


@kernel
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


@kernel
def _has(flow: Flow, j: int, second: int) -> bool:
    pair = flow.head[j]
    while pair >= 0:
        if flow.second[pair] == second:
            return True
        pair = flow.link[pair]
    return False


@kernel
def _shift_along(arrays: InstanceArrays, candidates: Candidates, flow: Flow, second: int, deadline: int) -> None:
    """Shift the pairs on the path to a second, so that this second has room for a new pair."""
    while flow.by_pair[second] >= 0:
        pair, before = flow.by_pair[second], flow.by_second[second]
        j = flow.worker[pair]
        time = arrays.seconds[before]
        flow.second[pair] = before
        flow.rank[pair] = _rank(arrays, candidates, j, _row_at(candidates, j, time), time, deadline)
        flow.used[second] -= 1
        flow.used[before] += 1
        second = before


@kernel
def augment(arrays: InstanceArrays, candidates: Candidates, flow: Flow, deadline: int, first: int, stop: int) -> bool:
    """Serve one more contact by a shortest augmenting path; False if there is none.

    Then the seconds of [first, stop) that were not visited, and those without contacts, are a minimum cut.
    """
    flow.epoch[1] += 1
    search = flow.epoch[1]
    done = size = 0
    for place in range(first, stop):
        if flow.used[place] < arrays.counts[place]:
            flow.visited[place], flow.by_pair[place] = search, -1
            flow.queue[size] = place
            size += 1
    while done < size:
        place = flow.queue[done]
        done += 1
        second = arrays.seconds[place]
        for j in range(candidates.size[0]):
            if candidates.c[j] > deadline - second:
                break
            _touch(flow, j)
            if flow.search[j] != search:
                flow.search[j], flow.explored[j] = search, 0
            if (deadline - second) // candidates.c[j] <= flow.explored[j]:
                continue  # all its seconds up to that rank are visited
            row = _row_at(candidates, j, second)
            if row < candidates.low[j] or second >= candidates.ups[row, 1]:
                continue
            rank = _rank(arrays, candidates, j, row, second, deadline)
            if rank <= flow.explored[j] or _has(flow, j, place):
                continue
            tight = _tight_rank(flow, j, rank)
            if tight == 0:
                _shift_along(arrays, candidates, flow, place, deadline)
                _pair(flow, place, j, rank)
                return True
            flow.explored[j] = tight
            pair = flow.head[j]
            while pair >= 0:
                other = flow.second[pair]
                if flow.rank[pair] <= tight and flow.visited[other] != search:
                    flow.visited[other], flow.by_pair[other], flow.by_second[other] = search, pair, place
                    flow.queue[size] = other
                    size += 1
                pair = flow.link[pair]
    return False


@kernel
def _latest_contact(arrays: InstanceArrays, candidates: Candidates, j: int, time: int, first: int, stop: int) -> int:
    """Return the place of the last second of [first, stop) by a time at which a worker is available, or -1."""
    while time >= 0:
        stop = _last_by(arrays, first, stop, time) + 1
        if stop <= first:
            return -1
        second = arrays.seconds[stop - 1]
        row = _row_at(candidates, j, second)
        if row < candidates.low[j]:
            return -1
        if second < candidates.ups[row, 1]:
            return stop - 1
        time = candidates.ups[row, 1] - 1
    return -1


@kernel
def bound(
    arrays: InstanceArrays, candidates: Candidates, flow: Flow, fast: int, deadline: int, first: int, stop: int
) -> int:
    """Return the least bound of the cuts {seconds before a place of [first, stop]}, and store that place.

    Each worker alone takes contacts from the latest back; the bound of a cut counts those after it. Only cuts after
    which no worker but the ``fast`` fastest can end a task are considered.
    """
    least_place = first
    if fast < candidates.size[0]:
        least_place = _last_by(arrays, first, stop, deadline - candidates.c[fast]) + 1
    flow.gain[least_place:stop] = 0
    for j in range(min(fast, candidates.size[0])):
        need, place = candidates.c[j], stop
        while place > least_place:
            place = _latest_contact(
                arrays, candidates, j, _latest(arrays, candidates, j, need, deadline), least_place, place
            )
            if place < 0:
                break
            flow.gain[place] += 1
            need += candidates.c[j]
    total = 0
    for place in range(first, least_place):
        total += arrays.counts[place]
    for place in range(least_place, stop):
        total += flow.gain[place]
    least, flow.best[1] = total, least_place
    for place in range(least_place, stop):
        total += arrays.counts[place] - flow.gain[place]
        if total < least:
            least, flow.best[1] = total, place + 1
    flow.best[0] = least
    return int(least)


@kernel
def reaches(
    arrays: InstanceArrays, candidates: Candidates, flow: Flow, deadline: int, first: int, stop: int, is_exact: bool
) -> tuple[bool, bool]:
    """Return whether N contacts of the seconds [first, stop) can be served by a deadline, and how the cut is stored.

    If they cannot and the answer has to be exact, the flow is a maximum flow. Its cut is that of `bound` if the second
    value is True; otherwise it consists of the seconds that `augment` did not visit.
    """
    contacts, enough = 0, first
    while enough < stop and contacts < arrays.tasks:
        contacts += arrays.counts[enough]
        enough += 1
    if contacts >= arrays.tasks and sweep(arrays, candidates, flow, deadline, first, enough, False):
        return True, True
    most = bound(arrays, candidates, flow, FEW, deadline, first, stop)
    if most < arrays.tasks and not is_exact:
        return False, True
    if sweep(arrays, candidates, flow, deadline, first, stop, True):
        return True, True
    most = bound(arrays, candidates, flow, FEW, deadline, first, stop)
    if flow.size[0] == most:
        return False, True
    most = bound(arrays, candidates, flow, candidates.size[0], deadline, first, stop)
    if most < arrays.tasks and not is_exact:
        return False, True
    while flow.size[0] < min(most, arrays.tasks):
        if not augment(arrays, candidates, flow, deadline, first, stop):
            return False, False
    return flow.size[0] == arrays.tasks, True
