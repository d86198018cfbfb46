"""Reader of logs of added and removed nodes, a common format of spot clusters."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise
from sys import intern

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Presence, Seconds
from hindsched.instances.traces.delimited import SEPARATORS, Candidate, cells_of, first_lines, significant
from hindsched.instances.traces.parsing import excerpt, read_lines
from hindsched.instances.traces.samples import COLUMNS
from hindsched.instances.traces.times import TimeUnit, plain_name, to_times
from hindsched.instances.traces.trace import Trace

__all__ = ["find_event_log", "read_event_log"]

#: Names of the columns of time, event and node, if the first line names them.
_NAMES = (COLUMNS["date"], ("event", "action", "event_type", "operation", "type"), COLUMNS["node"])
_EVENTS = {"add": "add", "added": "add", "remove": "remove", "removed": "remove"}
_ASSUMPTIONS = (
    "the log is complete: a node is absent until it is added, and all are observed from the first event to the last",
)
_PLACES = "no name occurs twice: nodes of the trace are places, and an added node takes the place that was left first"
_SAME = "a node that is added again under the same name is the same machine"


def read_event_log(path: str | os.PathLike[str], *, time_unit: TimeUnit | str | None = None) -> Trace:
    """Read a log of lines ``time_ms,add|remove,node``, plain, gzip or xz.

    The first line may name the columns, in any order. If a name occurs twice, the names are the nodes. If every added
    node has a new name, as in autoscaling groups, the nodes of the trace are places: as many as were ever taken at
    once. An added node takes the free place that was left first.

    Parameters
    ----------
    path
        The file.
    time_unit
        Unit of the times. None: the column's name decides, otherwise what is plausible; times from the beginning of the
        log are milliseconds.

    Raises
    ------
    InputError
        If a line has another number of columns, no time, a decreasing time or an unknown event, or if a node is added
        while it is present or removed while it is absent. The message names file and line.
    """
    try:
        return _trace(read_lines(path), time_unit)
    except InputError as error:
        raise error.in_file(path) from None


def find_event_log(lines: Sequence[str]) -> tuple[Candidate, list[int]] | str:
    """Return the line before the first event, and the columns of time, event and node; or why there are none."""
    heads = first_lines(lines)
    for head in heads:
        columns = [[i for i, name in enumerate(head.names) if plain_name(name) in names] for names in _NAMES]
        if not all(columns):
            continue
        number, line = next(significant(lines, head.number), (0, ""))
        cells = cells_of(line, head.separator, number)
        if len(cells) != len(head.names) or not any(cells[i].lower() in _EVENTS for i in columns[1]):
            continue
        several = next((found for found in columns if len(found) > 1), None)
        if several is not None:
            return f"columns {' and '.join(excerpt(head.names[i]) for i in several)} may have the same meaning"
        return head, [found[0] for found in columns]
    for head in heads:
        if len(head.names) == 3 and head.names[1].lower() in _EVENTS:
            names = ["time", "add or remove", "node"]
            return Candidate(head.number - 1, names, head.separator), [0, 1, 2]
    return "no line has a time, add or remove, and a node"


def _trace(lines: Sequence[str], time_unit: TimeUnit | str | None) -> Trace:
    found = find_event_log(lines)
    if isinstance(found, str):
        number, line = next(significant(lines), (1, ""))
        raise InputError(f"{excerpt(line)}, expected time_ms,add or remove,node", place=f"line {number}")
    head, (time, event, node) = found
    numbers = array("q")
    texts: list[str] = []
    moves: list[tuple[str, str]] = []
    there: set[str] = set()
    for number, cells in head.rows(lines):
        place = f"line {number}"
        what = _EVENTS.get(cells[event].lower())
        if what is None:
            raise InputError(f"event {excerpt(cells[event])}, expected add or remove", place=place)
        _move(cells[node], what, there, place)
        numbers.append(number)
        texts.append(intern(cells[time]))
        moves.append((what, intern(cells[node])))
    times = to_times(texts, numbers, name=head.names[time], unit=time_unit, usual=TimeUnit.MILLISECONDS, what="time")
    for (before, after), text, number in zip(pairwise(times.values), texts[1:], numbers[1:], strict=True):
        if after < before:
            raise InputError(
                f"time {excerpt(text)}, expected at least that of the previous event", place=f"line {number}"
            )
    events = [(at, what, name) for at, (what, name) in zip(times.values, moves, strict=True)]
    begin, end = events[0][0], events[-1][0]
    if begin == end:
        raise InputError("all events at the same time, expected at least two different times")
    added = [name for _, what, name in events if what == "add"]
    has_names = len(set(added)) < len(added)
    stays = _by_name(events) if has_names else _by_place(events)
    intervals = {name: _intervals(spans, begin, end) for name, spans in stays.items()}
    findings = (
        f"log of added and removed nodes, separator {SEPARATORS[head.separator]}",
        f"time: {times.description}",
        "nodes by their names" if has_names else "nodes by place",
        "available from add to remove",
    )
    assumptions = (*_ASSUMPTIONS, _SAME if has_names else _PLACES)
    return Trace(tuple(intervals), tuple(intervals.values()), assumptions, findings)


def _move(node: str, what: str, there: set[str], place: str) -> None:
    """Add a node to those that are present, or remove it."""
    if (node in there) == (what == "add"):
        state = "already present" if what == "add" else "not present"
        raise InputError(f"node {excerpt(node)}: {what}, but the node is {state}", place=place)
    (there.add if what == "add" else there.remove)(node)


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
