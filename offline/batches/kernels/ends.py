"""The rungs ``free`` and ``stream``: the N earliest ends that workers can reach (docs/batches/model.md section 6)."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.batches.kernels.field import NEVER, Field, finish, next_available

__all__ = ["Earliest", "ends_in_order", "free_ends", "stream_ends"]


class Earliest(NamedTuple):
    """The N earliest ends found so far, a heap with the latest first."""

    end: Ints  # (N,)
    time: Ints  # (N,): when the contact was
    worker: Ints  # (N,)
    size: Ints  # (1,)
    busy: Ints  # (W,): when a worker's last task ends
    row: Ints  # (W,): in which row
    batch: Ints  # (W,): for which batch the two hold


@kernel
def _latest_allowed(field: Field, earliest: Earliest) -> int:
    """Return what an end must not pass to count: E, or less than the latest of the N."""
    if earliest.size[0] < field.tasks:
        return field.end
    return int(min(field.end, earliest.end[0] - 1))


@kernel
def _put(earliest: Earliest, place: int, end: int, time: int, worker: int) -> None:
    earliest.end[place], earliest.time[place], earliest.worker[place] = end, time, worker


@kernel
def _copy(earliest: Earliest, to: int, place: int) -> None:
    _put(earliest, to, earliest.end[place], earliest.time[place], earliest.worker[place])


@kernel
def _keep(field: Field, earliest: Earliest, end: int, time: int, worker: int) -> None:
    """Put an end among the N earliest, in the place of the latest if there are N."""
    size = earliest.size[0]
    if size < field.tasks:
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
def free_ends(field: Field, submission: int, earliest: Earliest) -> None:
    """Find the N earliest ends when everybody may be contacted in every available second."""
    earliest.size[0] = 0
    for place in range(field.order.size):
        j = field.order[place]
        if submission + field.c[j] > _latest_allowed(field, earliest):
            break  # whoever follows is not faster
        time, row = next_available(field, j, field.place[j], submission)
        end, end_row = time, row
        while time < NEVER:
            end, end_row = finish(field, j, max(row, end_row), max(time, end))
            if end > _latest_allowed(field, earliest):
                break
            _keep(field, earliest, end, time, j)
            time, row = next_available(field, j, row, time + 1)


@kernel
def _send(field: Field, earliest: Earliest, batch: int, time: int, j: int) -> int:
    """Append a task to a worker's queue, empty when the batch begins, and return when it ends."""
    if earliest.batch[j] != batch:
        earliest.batch[j], earliest.busy[j], earliest.row[j] = batch, 0, field.place[j]
    end = NEVER
    if earliest.busy[j] < NEVER:
        end, row = finish(field, j, earliest.row[j], max(time, earliest.busy[j]))
        earliest.row[j] = row
    earliest.busy[j] = end
    return int(end)


@kernel
def ends_in_order(field: Field, earliest: Earliest, batch: int, times: Ints, workers: Ints, ends: Ints) -> None:
    """Write down when the tasks of these contacts end, in order of time."""
    for contact in range(times.size):
        ends[contact] = _send(field, earliest, batch, times[contact], workers[contact])


@kernel
def stream_ends(field: Field, batch: int, first: int, earliest: Earliest) -> None:
    """Find the N earliest ends when the contacts are the run's, from its contact ``first`` on."""
    earliest.size[0] = 0
    for contact in range(first, field.times.size):
        time, j = field.times[contact], field.workers[contact]
        allowed = _latest_allowed(field, earliest)
        if time >= allowed:
            break
        end = _send(field, earliest, batch, time, j)
        if end <= allowed:
            _keep(field, earliest, end, time, j)
