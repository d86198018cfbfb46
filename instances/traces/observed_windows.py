"""Choice of a window of a trace by the number of nodes: the earliest window, or the longest."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush, heappushpop
from typing import TypeAlias

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds

__all__ = ["observed", "place"]

#: For each node the periods (start, stop) in which it was observed without a gap.
Spans: TypeAlias = Sequence[Sequence[tuple[Seconds, Seconds]]]


def place(spans: Spans, count: int, start: Seconds | None, slots: int | None, slot_s: Seconds) -> tuple[Seconds, int]:
    """Return the start and the slots of a window in which ``count`` nodes are observed.

    A start or number of slots that is given is kept. Otherwise the earliest start is taken, and then the most slots.

    Raises
    ------
    InputError
        If there is no such window.

    Notes
    -----
    O(n log n) for n spans.
    """
    if not 1 <= count <= len(spans):
        raise InputError(f"{count}, expected 1 to {len(spans)}, the nodes of the trace", place="nodes")
    if slots is None:
        begin, length = _longest(spans, count, start)
        slots = int(length // slot_s)
        if slots < 1:
            raise InputError(f"{count}, expected fewer: they are never observed together for {slot_s} s", place="nodes")
        return begin, slots
    return (_earliest(spans, count, slots * slot_s) if start is None else start), slots


def observed(spans: Spans, count: int, begin: Seconds, end: Seconds) -> list[int]:
    """Return the first ``count`` nodes that are observed without a gap from ``begin`` to ``end``."""
    whole = [q for q, row in enumerate(spans) if any(start <= begin and end <= stop for start, stop in row)]
    if len(whole) < count:
        raise InputError(
            f"{count}, expected at most {len(whole)}: no more nodes are observed without a gap from {begin} to {end}",
            place="nodes",
        )
    return whole[:count]


def _earliest(spans: Spans, count: int, length: Seconds) -> Seconds:
    """Return the earliest second from which ``count`` nodes are observed for ``length`` seconds."""
    ranges = sorted((start, stop - length) for row in spans for start, stop in row if start + length <= stop)
    lasts: list[Seconds] = []  # for each range begun so far, the latest second at which a window can start
    most = 0
    for first, last in ranges:
        heappush(lasts, last)
        while lasts[0] < first:
            heappop(lasts)
        most = max(most, len(lasts))
        if most >= count:
            return first
    raise InputError(
        f"{count}, expected at most {most}: no more nodes are observed together without a gap for {length} s",
        place="nodes",
    )


def _longest(spans: Spans, count: int, start: Seconds | None) -> tuple[Seconds, Seconds]:
    """Return start and length of the longest period in which ``count`` nodes are observed; length 0 without one."""
    flat = sorted(span for row in spans for span in row)
    if start is not None:
        flat = [(start, stop) for begin, stop in flat if begin <= start < stop]
    stops: list[Seconds] = []  # the ``count`` latest ends of the periods begun so far
    best: tuple[Seconds, Seconds] = (flat[0][0] if flat else 0, 0)
    for begin, stop in flat:
        if len(stops) < count:
            heappush(stops, stop)
        else:
            heappushpop(stops, stop)
        if len(stops) == count and stops[0] - begin > best[1]:
            best = (begin, stops[0] - begin)
    return best
