"""Instances whose workers are the nodes of a real trace."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hindsched.instances.batches.availability import MOST, Availability, Ints, with_least_dtype
from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.volunteers import VolunteerParameters, Volunteers
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Presence, Seconds
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
    """Return an instance with one worker per node of a trace.

    Only what the trace calls available is; availability that touches is one interval. Its begin is rounded up to a
    whole second and its end down.

    Parameters
    ----------
    trace
        See `hindsched.instances.traces.read`.
    tasks, batches, start, compute
        See `Instance`; in seconds from ``origin`` on.
    c
        Mean seconds per task. Worker j is as fast as volunteer j of ``seed`` (see `Volunteers`), unless the workers
        are ``homogeneous``.
    origin
        UNIX second that becomes second 0; what lies before it is cut off. None: the begin of the trace, rounded down.
    seed, homogeneous
        See ``c``.

    Raises
    ------
    InputError
        As `Instance`.

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
    """Return the whole seconds of a node's availability, from the origin on."""
    joined: list[tuple[Seconds, Seconds]] = []
    for interval in row:
        if interval.presence is not Presence.AVAILABLE or interval.stop <= interval.start:
            continue
        if joined and joined[-1][1] == interval.start:
            joined[-1] = (joined[-1][0], interval.stop)
        else:
            joined.append((interval.start, interval.stop))
    pairs: list[tuple[int, int]] = []
    for start, stop in joined:
        a, b = max(0, math.ceil(start) - origin), math.floor(stop) - origin
        if b > MOST:
            raise InputError(f"availability until {b}, expected seconds up to {MOST}", place="origin")
        if a >= b:
            continue
        if pairs and pairs[-1][1] == a:
            pairs[-1] = (pairs[-1][0], b)
        else:
            pairs.append((a, b))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
