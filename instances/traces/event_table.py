"""Reader of the ``event_trace`` table of the Failure Trace Archive."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Presence, Seconds
from hindsched.instances.traces.delimited import MOST_ROWS, SEPARATORS, Candidate, cells_of, first_lines, significant
from hindsched.instances.traces.parsing import excerpt, read_lines
from hindsched.instances.traces.times import (
    TimeUnit,
    in_seconds,
    is_before_2100,
    plain_name,
    plausible_unit,
    seconds,
    unit_named,
)
from hindsched.instances.traces.trace import Trace

__all__ = ["find_event_table", "read_event_table"]

_COLUMNS = (
    "event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason"
)
_NAMES = _COLUMNS.split()
_PRESENCE = {
    "0": Presence.UNAVAILABLE,
    "1": Presence.AVAILABLE,
    "2": Presence.CLAIMED,
    "3": Presence.CLAIMED,
}
_ASSUMPTIONS = (
    "event types 0 unavailable, 1 available, 2 (user present) and 3 (CPU threshold exceeded) claimed",
    "a node is a pair of platform_id and node_id, for all of its components; a node_name that several nodes have is "
    "made unique as name#platform.node",
    "an event of length 0 is an instant: unless it is availability, the slot that contains it is not UP",
    "a node is not observed between two events that do not touch, before its first event and after its last",
)


def read_event_table(path: str | os.PathLike[str], *, time_unit: TimeUnit | str | None = None) -> Trace:
    """Read the ``event_trace`` table of a Failure Trace Archive data set.

    The file is plain, gzip or xz; ``#`` begins a comment line. Its nine columns are separated by tabs or spaces, or by
    commas, semicolons or vertical bars: event_id component_id node_id platform_id node_name event_type event_start_time
    event_stop_time event_end_reason. The first line may name them, with or without ``#``, in any order. Times are UNIX
    seconds; fractions are kept exactly. The events of one node are in order of time; nodes may be mixed.

    Names of nodes are not unique (LANL has 3,577 nodes with 3,249 names), so the ids identify a node. ``assumptions``
    of the trace lists the assumptions of the reader.

    Parameters
    ----------
    path
        The file.
    time_unit
        Unit of the times. None: seconds, unless all times are plausible in a finer unit after 1970.

    Raises
    ------
    InputError
        If a line has another number of columns, an unknown event type, a time that is not a finite number, or an event
        that stops before it starts; if events of a node overlap or are out of order, or a node changes its name; if the
        file has no events, is missing or damaged, or is not text. The message names file and line.

    Notes
    -----
    Linear in the file; about 0.2 s for the 43,325 events of LANL.

    References
    ----------
    D. Kondo, B. Javadi, A. Iosup, D. Epema, "The Failure Trace Archive: Enabling Comparative Analysis of Failures in
    Diverse Distributed Systems", CCGrid 2010.
    """
    try:
        return _trace(read_lines(path), time_unit)
    except InputError as error:
        raise error.in_file(path) from None


def find_event_table(lines: Sequence[str]) -> tuple[Candidate, list[int]] | str:
    """Return the line before the first event, and the places of the nine columns; or why there are none."""
    heads = first_lines(lines)
    for head in heads:
        names = [plain_name(name) for name in head.names]
        if set(_NAMES) <= set(names):
            return head, [names.index(name) for name in _NAMES]
    for head in heads:
        if head.number == heads[0].number and _may_be_event(head.names):
            return Candidate(head.number - 1, _NAMES, head.separator), list(range(9))
    counts = {len(head.names) for head in heads if head.number == heads[0].number}
    return f"{max(counts)} columns, expected the 9 of an event table with its type and times"


def _may_be_event(cells: Sequence[str]) -> bool:
    """Return whether a line has nine cells, and the type or a time of an event among them."""
    return len(cells) == 9 and (cells[5] in _PRESENCE or any(seconds(cell) is not None for cell in cells[6:8]))


def _trace(lines: Sequence[str], time_unit: TimeUnit | str | None) -> Trace:
    found = find_event_table(lines)
    head, columns = (Candidate(0, _NAMES, " "), list(range(9))) if isinstance(found, str) else found
    names: dict[tuple[str, str], str] = {}
    rows: dict[tuple[str, str], list[Interval]] = {}
    for number, line in significant(lines, head.number, MOST_ROWS):
        cells = _cells(line, head, number)
        _add_event([cells[column] for column in columns], f"line {number}", names, rows)
    if not rows:
        raise InputError("no event, expected at least one line that is not a comment")
    unit = _unit(rows, time_unit)
    if unit is not TimeUnit.SECONDS:
        for row in rows.values():
            starts, stops = (in_seconds(times, unit) for times in list(zip(*row, strict=True))[:2])
            row[:] = map(Interval, starts, stops, [presence for _, _, presence in row])
    findings = (
        f"event table, separator {SEPARATORS[head.separator]}",
        f"times: {unit.word}",
        "nodes by platform_id and node_id",
        "event_type 1 means available",
    )
    return Trace(_unique(names), tuple(map(tuple, rows.values())), _ASSUMPTIONS, findings)


def _unit(rows: Mapping[tuple[str, str], Sequence[Interval]], named: TimeUnit | str | None) -> TimeUnit:
    """Return the unit of the times: seconds, unless only a finer one is plausible."""
    unit = unit_named(named)
    low = min(row[0].start for row in rows.values())
    high = max(row[-1].stop for row in rows.values())
    if low == high:
        raise InputError("all events at the same time, expected at least one that lasts")
    if unit is None:
        unit = TimeUnit.SECONDS if is_before_2100(high) else plausible_unit(low, high)
    if unit is None or unit is TimeUnit.DATE:
        raise InputError(f"times from {low} to {high}: the unit is not certain, expected it by --time-unit")
    return unit


def _cells(line: str, head: Candidate, number: int) -> list[str]:
    width = len(head.names)
    if head.separator in " \t":  # a table may mix blanks and tabs, and have blanks in a cell between tabs
        cells = line.split()
        if len(cells) != width and line.count("\t") == width - 1:
            cells = [cell.strip() for cell in line.split("\t")]
    else:
        cells = cells_of(line, head.separator, number)
    if len(cells) != width:
        raise InputError(f"{len(cells)} columns, expected {width}: {head.shown}", place=f"line {number}")
    return cells


def _add_event(
    columns: Sequence[str], place: str, names: dict[tuple[str, str], str], rows: dict[tuple[str, str], list[Interval]]
) -> None:
    _, _, node_id, platform_id, name, kind, start_text, stop_text, _ = columns
    if kind not in _PRESENCE:
        raise InputError(
            f"event type {excerpt(kind)}, expected 0 (unavailable), 1 (available), 2 or 3 (claimed)", place=place
        )
    start = _time("event_start_time", start_text, place)
    stop = _time("event_stop_time", stop_text, place)
    if stop < start:
        raise InputError(f"event_stop_time {stop_text}, expected at least event_start_time {start_text}", place=place)
    node = (platform_id, node_id)
    if names.setdefault(node, name) != name:
        raise InputError(
            f"node_id {excerpt(node_id)} is called {excerpt(name)}, expected {excerpt(names[node])} as before",
            place=place,
        )
    row = rows.setdefault(node, [])
    if row and start < row[-1].stop:
        problem = "is out of order" if start < row[-1].start else "overlaps the previous one"
        raise InputError(
            f"event of node {excerpt(name)} {problem}: starts at {start_text}, expected {row[-1].stop} or later",
            place=place,
        )
    row.append(Interval(start, stop, _PRESENCE[kind]))


def _time(column: str, text: str, place: str) -> Seconds:
    time = seconds(text)
    if time is None:
        raise InputError(f"{column} {excerpt(text)}, expected a finite number of seconds", place=place)
    return time


def _unique(names: dict[tuple[str, str], str]) -> tuple[str, ...]:
    number = Counter(names.values())
    return tuple(
        name if number[name] == 1 else f"{name}#{platform_id}.{node_id}"
        for (platform_id, node_id), name in names.items()
    )
