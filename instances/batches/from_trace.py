"""Instances whose workers are the nodes of a real trace."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hindsched.instances.batches.availability import MOST, Availability, Ints, with_least_dtype
from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.volunteers import VolunteerParameters, Volunteers
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Presence, join_touching
from hindsched.instances.traces.trace import Trace

__all__ = ["from_trace"]


def from_trace(
    trace: Trace,
    *,
    tasks: int,
    batches: Sequence[tuple[int, int]],
    c: int = 1800,
    origin: int | None = None,
    start: int = 0,
    seed: int = 0,
    homogeneous: bool = False,
    compute: Compute | str = Compute.AVAILABLE,
) -> Instance:
    """Return an instance whose workers are the nodes of a real trace.

    A worker is available in the trace's available intervals. Intervals that touch are joined; their begin is rounded up
    to a whole second and their end is rounded down.

    Parameters
    ----------
    trace
        See `hindsched.instances.traces.read`.
    tasks, batches, start, compute
        See `Instance`. Times are seconds after ``origin``.
    c
        Mean seconds per task. Worker j is as fast as volunteer j of ``seed`` (see `Volunteers`), unless the workers
        are ``homogeneous``.
    origin
        UNIX second that becomes second 0. Earlier availability is dropped. None: the begin of the trace, rounded down.
    seed, homogeneous
        See ``c``.

    Raises
    ------
    InputError
        As in `Instance`.

    Examples
    --------
    >>> from hindsched.instances.intervals import Presence
    >>> node = (Interval(100, 105, Presence.AVAILABLE), Interval(105, 109, Presence.UNAVAILABLE))
    >>> instance = from_trace(Trace(("a",), (node,)), tasks=1, batches=[(0, 9)], c=2, homogeneous=True)
    >>> instance.up.of_worker(0).tolist(), instance.c
    ([[0, 5]], (2,))
    """
    if origin is None:
        origin = math.floor(min(row[0].start for row in trace.intervals))
    rows = [_seconds(row, origin) for row in trace.intervals]
    counts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    speeds = Volunteers(len(rows), seed, VolunteerParameters(), c, homogeneous)
    up = Availability(with_least_dtype(np.concatenate(rows)), counts)
    return Instance(tasks=tasks, batches=batches, c=speeds.c, up=up, start=start, compute=compute)


def _seconds(row: Sequence[Interval], origin: int) -> Ints:
    """Return the intervals of whole seconds in which a node is available, from the origin on; shape (n, 2)."""
    available = [i for i in row if i.presence is Presence.AVAILABLE and i.stop > i.start]
    pairs = [(max(0, math.ceil(start) - origin), math.floor(stop) - origin) for start, stop in join_touching(available)]
    if pairs and pairs[-1][1] > MOST:
        raise InputError(f"availability until {pairs[-1][1]}, expected seconds up to {MOST}", place="origin")
    return np.array([(a, b) for a, b in pairs if a < b], dtype=np.int64).reshape(-1, 2)
