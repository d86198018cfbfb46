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
    "a node is a pair of platform_id and node_id, whatever its components; a node_name that several nodes have is "
    "made unique as name#platform.node",
    "an event of length 0 is an instant: unless it is availability, the slot that contains it is not UP",
    "a node is not observed between two events that do not touch, before its first event and after its last",
)


def read_event_table(path: str | os.PathLike[str]) -> Trace:
    """Read the ``event_trace`` table of a Failure Trace Archive data set.

    The file is plain, gzip or xz; ``#`` begins a comment line. Its nine columns are separated by tabs or spaces:
    event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason.
    Times are UNIX seconds; fractions are kept exactly. The events of one node are in order of time; nodes may be mixed.

    Names of nodes are not unique (LANL has 3,577 nodes with 3,249 names), so the ids identify a node. ``assumptions``
    of the trace lists what the reader assumes.

    Parameters
    ----------
    path
        The file.

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
    names: dict[tuple[str, str], str] = {}
    rows: dict[tuple[str, str], list[Interval]] = {}
    try:
        for number, line in enumerate(read_lines(path), start=1):
            if line and not line.isspace() and not line.lstrip().startswith("#"):
                _add_event(line, f"line {number}", names, rows)
    except InputError as error:
        raise error.in_file(path) from None
    if not rows:
        raise InputError("no event, expected at least one line that is not a comment", file=path)
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
