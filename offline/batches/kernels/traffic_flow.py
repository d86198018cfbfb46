"""The rung ``traffic``: contacts flow into workers (docs/batches/model.md section 6).

A worker takes contacts at seconds x so that, for each r, at most r of them have a rank of at most r; the rank of a
second is how many tasks fit between it and the deadline. First a sweep from the latest second to the earliest, which
serves whoever is available; then augmenting paths, if it fell short; where there is no path any more, the seconds that
were not reached are the cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.batches.kernels.instance_arrays import InstanceArrays

__all__ = ["FEW", "Candidates", "Flow", "augment", "bound", "gather", "most", "reaches", "sweep"]


_WORKER = 2**31 - 1
#: So many of the fastest workers tell most cuts.
FEW = 300


class Candidates(NamedTuple):
    """The workers of one batch by c, with what is within reach of their intervals: little enough to stay in cache."""

    size: Ints  # (1,): how many
    worker: Int32s  # (W,): who each is
    c: Int32s
    low: Int32s  # (W + 1,): its first row; the last row is before the next one's first
    ups: Int32s  # (rows, 2): cut to the window


class Flow(NamedTuple):
    """Which contacts go to whom; workers by their place in the candidates."""

    size: Ints  # (1,): pairs of a second and a worker
    second: Int32s  # (N,): its place among the seconds
    worker: Int32s  # (N,)
    rank: Ints  # (N,)
    link: Int32s  # (N,): the next pair of the same worker
    used: Int32s  # pairs in each second
    bucket: Int32s  # workers to be released at each second: the first of a list
    visited: Int32s  # in which search a second was reached
    by_pair: Int32s  # from which pair of it
    by_second: Int32s  # for the sake of which second
    queue: Int32s
    head: Int32s  # (W,): a worker's first pair
    held: Ints  # (W,): how many it has
    stamp: Ints  # (W,): in which evaluation these hold
    next: Int32s  # (W,): the next worker in a bucket
    pool: Ints  # (W,): a heap of workers that are released and available
    epoch: Ints  # (2,): evaluations and searches so far
    gain: Int32s  # contacts that workers alone would take in each second
    best: Ints  # (2,): what was found last: a worker; or the least bound, and where its cut ends
    search: Int32s  # (W,): in which search the next one holds
    explored: Int32s  # (W,): a second of up to this rank opens no way that is not known


@kernel
def gather(arrays: InstanceArrays, candidates: Candidates, submission: int, horizon: int) -> bool:
    """Bring together who can end a task in [submission, horizon); return whether there was room."""
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
    """Return the last row of a worker that begins by ``time``, or one before its first."""
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
    """Return how many tasks of a worker fit between an available second, in this row, and the deadline."""
    if arrays.is_reliable:
        return int((deadline - time) // candidates.c[j])
    total = 0
    while row < candidates.low[j + 1] and candidates.ups[row, 0] < deadline:
        total += min(deadline, candidates.ups[row, 1]) - max(time, candidates.ups[row, 0])
        row += 1
    return int(total // candidates.c[j])


@kernel
def most(arrays: InstanceArrays, candidates: Candidates, deadline: int) -> int:
    """Return N, or a bound below it on the tasks that can end by a deadline if every second may be a contact."""
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
    """Return a worker's latest available second from which ``need`` seconds of computing fit, or -1."""
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
    """Return the place of the last second by ``time``, or one before the first."""
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
    """Let a worker into the pool when the sweep comes to a time, if there is a contact from then back."""
    if time < 0:
        return
    place = _last_by(arrays, first, stop, time)
    if place >= first:
        flow.next[j] = flow.bucket[place]
        flow.bucket[place] = j


@kernel
def _push(flow: Flow, size: int, begin: int, j: int) -> None:
    """Put a worker into the pool, a heap with the latest begin of the present interval first."""
    key = (np.int64(begin) << 31) | j
    hole = size
    while hole > 0 and flow.pool[(hole - 1) // 2] < key:
        flow.pool[hole] = flow.pool[(hole - 1) // 2]
        hole = (hole - 1) // 2
    flow.pool[hole] = key


@kernel
def _pop(flow: Flow, size: int) -> None:
    """Take the first worker out of a pool of this size."""
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
    """Let a worker into the pool if it is available, else later; return the size of the pool."""
    second = arrays.seconds[place]
    row = _row_at(candidates, j, second)
    if row < candidates.low[j]:
        return size
    if second >= candidates.ups[row, 1]:  # away: it comes again when it was last there
        _release(arrays, flow, j, candidates.ups[row, 1] - 1, first, place)
        return size
    _push(flow, size, candidates.ups[row, 0], j)
    return size + 1


@kernel
def _take(
    arrays: InstanceArrays, candidates: Candidates, flow: Flow, size: int, first: int, place: int, is_careful: bool
) -> int:
    """Look at one worker of the pool; return the new size, and put the worker into ``flow.best`` if it is available."""
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

    Of the workers that are there any is taken; or, with more care, the one that came last: going back, it is the first
    to be gone.
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
    """Move the pairs on the path that led to a second, so that this second has room for a new one."""
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
    """Serve one contact more by a shortest augmenting path; False if there is none.

    Then the seconds in [first, stop) that were not visited, with those that have no contact, are a smallest cut.
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
                continue  # all it could give back is visited
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
    """Return the place of the last second of [first, stop) by a time in which a worker is available, or -1."""
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
    """Return the least bound of the cuts that hold all seconds before one of [first, stop], and note that one.

    Each worker alone takes contacts from the latest back; the cut counts those it takes after it. Of the cuts only
    those are looked at after which nobody but the ``fast`` first workers can end a task.
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
    """Whether N contacts of the seconds [first, stop) find workers that end their tasks by the deadline.

    Unless the first answer is yes or the question need not be answered exactly, the flow is a largest one afterwards;
    then the second answer is whether `bound` has found its cut, else it is what `augment` did not visit.
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
