"""Reader of logs of added and removed nodes, a common format of spot clusters."""

from __future__ import annotations

import os
import re
from fractions import Fraction
from heapq import heappop, heappush

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Presence, Seconds, simplest
from hindsched.instances.traces.parsing import excerpt, read_lines, seconds
from hindsched.instances.traces.trace import Trace

__all__ = ["FIRST_LINE", "read_event_log"]

#: Pattern of the first line.
FIRST_LINE = re.compile(r"\s*[0-9.]+\s*,\s*(add|remove)\s*,.+")

_MILLI = Fraction(1, 1000)
_ASSUMPTIONS = (
    "times are milliseconds",
    "the log is complete: a node is absent until it is added, and all are observed from the first event to the last",
)
_PLACES = "no name occurs twice: nodes of the trace are places, and an added node takes the place that was left first"
_NAMES = "a node that is added again under the same name is the same machine"


def read_event_log(path: str | os.PathLike[str]) -> Trace:
    """Read a log of lines ``time_ms,add|remove,node``, plain, gzip or xz.

    If a name occurs twice, the names are the nodes. If every added node has a new name, as in autoscaling groups, the
    nodes of the trace are places: as many as were ever taken at once. An added node takes the free place that was left
    first.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If a line has another number of columns, no time, a decreasing time or an unknown event, or if a node is added
        while it is present or removed while it is absent. The message names file and line.
    """
    events: list[tuple[Seconds, str, str]] = []
    there: set[str] = set()
    try:
        for number, line in enumerate(read_lines(path), start=1):
            if line and not line.isspace():
                events.append(_event(line, f"line {number}", there, events[-1][0] if events else None))
    except InputError as error:
        raise error.in_file(path) from None
    begin, end = events[0][0], events[-1][0]
    if begin == end:
        raise InputError("all events at the same time, expected at least two different times", file=path)
    added = [node for _, what, node in events if what == "add"]
    has_names = len(set(added)) < len(added)
    stays = _by_name(events) if has_names else _by_place(events)
    rows = {name: _intervals(spans, begin, end) for name, spans in stays.items()}
    assumption = _NAMES if has_names else _PLACES
    return Trace(tuple(rows), tuple(rows.values()), (*_ASSUMPTIONS, assumption))


def _event(line: str, place: str, there: set[str], before: Seconds | None) -> tuple[Seconds, str, str]:
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != 3:
        raise InputError(f"{len(cells)} columns, expected 3: time_ms,add or remove,node", place=place)
    milliseconds, what, node = seconds(cells[0]), cells[1], cells[2]
    if milliseconds is None:
        raise InputError(f"time {excerpt(cells[0])}, expected milliseconds", place=place)
    time = simplest(Fraction(milliseconds) * _MILLI)
    if before is not None and time < before:
        raise InputError(f"time {excerpt(cells[0])}, expected at least that of the previous event", place=place)
    if what not in ("add", "remove"):
        raise InputError(f"event {excerpt(what)}, expected add or remove", place=place)
    if (node in there) == (what == "add"):
        state = "already present" if what == "add" else "not present"
        raise InputError(f"node {excerpt(node)}: {what}, but the node is {state}", place=place)
    (there.add if what == "add" else there.remove)(node)
    return time, what, node


def _by_name(events: list[tuple[Seconds, str, str]]) -> dict[str, list[tuple[Seconds, Seconds | None]]]:
    """Return when each node was added and removed (None: it stayed)."""
    stays: dict[str, list[tuple[Seconds, Seconds | None]]] = {}
    for time, what, node in events:
        mine = stays.setdefault(node, [])
        if what == "add":
            mine.append((time, None))
        else:
            mine[-1] = (mine[-1][0], time)
    return stays


def _by_place(events: list[tuple[Seconds, str, str]]) -> dict[str, list[tuple[Seconds, Seconds | None]]]:
    """Return the same for places; a free place waits in a queue for the next node."""
    stays: dict[str, list[tuple[Seconds, Seconds | None]]] = {}
    free: list[tuple[Seconds, int]] = []
    taken: dict[str, int] = {}
    for time, what, node in events:
        if what == "add":
            place = heappop(free)[1] if free else len(stays)
            taken[node] = place
            stays.setdefault(f"place {place + 1}", []).append((time, None))
        else:
            place = taken.pop(node)
            mine = stays[f"place {place + 1}"]
            mine[-1] = (mine[-1][0], time)
            heappush(free, (time, place))
    return stays


def _intervals(spans: list[tuple[Seconds, Seconds | None]], begin: Seconds, end: Seconds) -> tuple[Interval, ...]:
    intervals: list[Interval] = []
    at = begin
    for start, stop in spans:
        if start > at:
            intervals.append(Interval(at, start, Presence.UNAVAILABLE))
        at = end if stop is None else stop
        if at > start:
            intervals.append(Interval(start, at, Presence.AVAILABLE))
    if at < end:
        intervals.append(Interval(at, end, Presence.UNAVAILABLE))
    return tuple(intervals)
