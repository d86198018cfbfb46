"""Reader of the ``event_trace`` table of the Failure Trace Archive."""

from __future__ import annotations

import os
from collections import Counter

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Presence, Seconds
from hindsched.instances.traces.parsing import excerpt, read_lines, seconds
from hindsched.instances.traces.trace import Trace

__all__ = ["read_event_table"]

_COLUMNS = (
    "event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason"
)
_PRESENCE = {
    "0": Presence.UNAVAILABLE,
    "1": Presence.AVAILABLE,
    "2": Presence.CLAIMED,
    "3": Presence.CLAIMED,
}
_ASSUMPTIONS = (
    "event types 0 unavailable, 1 available, 2 (user present) and 3 (CPU threshold exceeded) claimed",
    "a node is a pair of platform_id and node_id, whatever its components; a node_name that several nodes bear is "
    "made unique as name#platform.node",
    "an event of no length is an instant: where it is not availability, the slot that contains it is not UP",
    "between two events of a node that do not touch it was not observed, nor before the first and after the last",
)


def read_event_table(path: str | os.PathLike[str]) -> Trace:
    """Read the ``event_trace`` table of a Failure Trace Archive data set.

    Nine columns separated by tabs or spaces, ``#`` begins a comment line, plain, gzip or xz: event_id component_id
    node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason. Times are UNIX seconds,
    fractions allowed and kept exactly. The events of one node come in order of time; different nodes may be mixed.

    What it assumes is in ``assumptions`` of the trace. The published names are not unique (LANL has 3,577 nodes under
    3,249 names), so a node is told by its ids.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        Naming file and line: another number of columns, an unknown event type, a time that is no finite number,
        an event that stops before it starts, events of a node that overlap or are out of order, a node that
        changes its name; and a file without events, missing, damaged or not text.

    Notes
    -----
    Linear in the file; about 0.2 s for the 43,325 events of LANL.

    References
    ----------
    D. Kondo, B. Javadi, A. Iosup, D. Epema, "The Failure Trace Archive: Enabling Comparative Analysis of Failures in
    Diverse Distributed Systems", CCGrid 2010.
    """
    names: dict[tuple[str, str], str] = {}
    rows: dict[tuple[str, str], list[Interval]] = {}
    try:
        for number, line in enumerate(read_lines(path), start=1):
            if line and not line.isspace() and not line.lstrip().startswith("#"):
                _add_event(line, f"line {number}", names, rows)
    except InputError as error:
        raise error.in_file(path) from None
    if not rows:
        raise InputError("no event, expected at least one line that is no comment", file=path)
    return Trace(_unique(names), tuple(tuple(row) for row in rows.values()), _ASSUMPTIONS)


def _add_event(
    line: str, place: str, names: dict[tuple[str, str], str], rows: dict[tuple[str, str], list[Interval]]
) -> None:
    columns = line.split()
    if len(columns) != 9 and line.count("\t") == 8:  # spaces inside a column
        columns = [column.strip() for column in line.split("\t")]
    if len(columns) != 9:
        raise InputError(f"{len(columns)} columns, expected 9: {_COLUMNS}", place=place)
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
        problem = "is out of order" if start < row[-1].start else "overlaps the one before"
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
    bearers = Counter(names.values())
    return tuple(
        name if bearers[name] == 1 else f"{name}#{platform_id}.{node_id}"
        for (platform_id, node_id), name in names.items()
    )
