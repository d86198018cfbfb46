"""Kernels of the rungs ``free`` and ``stream``: the N earliest ends (docs/batches/model.md section 6)."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.batches.kernels.instance_arrays import NEVER, InstanceArrays, finish, next_available

__all__ = ["Earliest", "ends_in_order", "free_ends", "stream_ends"]


class Earliest(NamedTuple):
    """The N earliest ends so far, a heap with the latest end first."""

    end: Ints  # (N,)
    time: Ints  # (N,): of the contact
    worker: Ints  # (N,)
    size: Ints  # (1,)
    busy: Ints  # (W,): end of the last task of a worker
    row: Ints  # (W,): the row of that end
    batch: Ints  # (W,): the batch for which the two hold


@kernel
def _latest_allowed(arrays: InstanceArrays, earliest: Earliest) -> int:
    """Return the largest end that counts: E, or one less than the latest of the N."""
    if earliest.size[0] < arrays.tasks:
        return arrays.end
    return int(min(arrays.end, earliest.end[0] - 1))


@kernel
def _put(earliest: Earliest, place: int, end: int, time: int, worker: int) -> None:
    earliest.end[place], earliest.time[place], earliest.worker[place] = end, time, worker


@kernel
def _copy(earliest: Earliest, to: int, place: int) -> None:
    _put(earliest, to, earliest.end[place], earliest.time[place], earliest.worker[place])


@kernel
def _keep(arrays: InstanceArrays, earliest: Earliest, end: int, time: int, worker: int) -> None:
    """Add an end to the N earliest; with N of them, replace the latest."""
    size = earliest.size[0]
    if size < arrays.tasks:
        hole = size
        earliest.size[0] = size + 1
        while hole > 0 and earliest.end[(hole - 1) // 2] < end:
            _copy(earliest, hole, (hole - 1) // 2)
            hole = (hole - 1) // 2
        _put(earliest, hole, end, time, worker)
        return
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and earliest.end[child + 1] > earliest.end[child]:
            child += 1
        if earliest.end[child] <= end:
            break
        _copy(earliest, hole, child)
        hole = child
    _put(earliest, hole, end, time, worker)


@kernel
def free_ends(arrays: InstanceArrays, submission: int, earliest: Earliest) -> None:
    """Find the N earliest ends if every worker may be contacted in every available second."""
    earliest.size[0] = 0
    for place in range(arrays.order.size):
        j = arrays.order[place]
        if submission + arrays.c[j] > _latest_allowed(arrays, earliest):
            break  # later workers are not faster
        time, row = next_available(arrays, j, arrays.place[j], submission)
        end, end_row = time, row
        while time < NEVER:
            end, end_row = finish(arrays, j, max(row, end_row), max(time, end))
            if end > _latest_allowed(arrays, earliest):
                break
            _keep(arrays, earliest, end, time, j)
            time, row = next_available(arrays, j, row, time + 1)


@kernel
def _send(arrays: InstanceArrays, earliest: Earliest, batch: int, time: int, j: int) -> int:
    """Append a task to the queue of a worker, which is empty when the batch begins, and return its end."""
    if earliest.batch[j] != batch:
        earliest.batch[j], earliest.busy[j], earliest.row[j] = batch, 0, arrays.place[j]
    end = NEVER
    if earliest.busy[j] < NEVER:
        end, row = finish(arrays, j, earliest.row[j], max(time, earliest.busy[j]))
        earliest.row[j] = row
    earliest.busy[j] = end
    return int(end)


@kernel
def ends_in_order(
    arrays: InstanceArrays, earliest: Earliest, batch: int, times: Ints, workers: Ints, ends: Ints
) -> None:
    """Write the ends of the tasks of these contacts, which are in order of time."""
    for contact in range(times.size):
        ends[contact] = _send(arrays, earliest, batch, times[contact], workers[contact])


@kernel
def stream_ends(arrays: InstanceArrays, batch: int, first: int, earliest: Earliest) -> None:
    """Find the N earliest ends for the contacts of the run from contact ``first`` on."""
    earliest.size[0] = 0
    for contact in range(first, arrays.times.size):
        time, j = arrays.times[contact], arrays.workers[contact]
        allowed = _latest_allowed(arrays, earliest)
        if time >= allowed:
            break
        end = _send(arrays, earliest, batch, time, j)
        if end <= allowed:
            _keep(arrays, earliest, end, time, j)
