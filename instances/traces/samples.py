"""Reader of availability samples: tables of dates and values, one file per node or one file for all nodes.

A value is 0 or 1, or the number of machines that are available.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median_low

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Presence, Seconds, simplest
from hindsched.instances.traces.parsing import excerpt, moment, read_lines, seconds
from hindsched.instances.traces.trace import Trace

__all__ = [
    "COLUMNS",
    "COUNTED",
    "Meaning",
    "assumption_on_ones",
    "counted",
    "from_samples",
    "meaning_of",
    "node_of",
    "read_samples",
]

#: Known names of columns by their content; case does not matter.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "date": ("date", "time", "timestamp", "datetime"),
    "availability": ("availability", "available", "is_available", "up", "preempted", "is_preempted"),
    "count": ("count", "instances", "num_instances", "machines", "capacity"),
    "node": ("node", "machine", "host", "instance", "zone"),
}
#: A step longer than this number of median steps is a gap in the observation.
LONGEST_STEP = Fraction(3, 2)
#: Largest count of machines; a guard against a column that is not a count.
MOST_MACHINES = 100_000


class Meaning(StrEnum):
    """Meaning of a sample of 1."""

    AVAILABLE = "available"
    PREEMPTED = "preempted"


_DATES = "dates are UTC unless they have an offset, and take precedence over a sampling gap stated elsewhere"
_HOLD = (
    "a sample holds until the next one, the last for one median step",
    "a step longer than 1.5 median steps is a gap: its sample holds for one median step, and then the node is "
    "not observed",
)
#: The assumption about counts.
COUNTED = "a count of k means that the first k machines are available: the last machine added is the first removed"


def read_samples(
    *paths: str | os.PathLike[str],
    nodes: Sequence[str] | None = None,
    one_means: Meaning | str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Trace:
    """Read availability samples, plain, gzip or xz.

    The first line names the columns: a date and time (ISO, or UNIX seconds), and either an availability of 0 or 1 or a
    count of available machines. `COLUMNS` has the known names. With a column for the node, one file contains all nodes;
    otherwise each file is a node. ``assumptions`` of the trace lists what else the reader assumes.

    Parameters
    ----------
    *paths
        The files, in the order of the nodes.
    nodes
        Names of the nodes. None: names of the files without suffixes.
    one_means
        Meaning of a sample of 1: ``available`` or ``preempted``. None: the column's name decides, otherwise available.
    columns
        Names of columns by their content (``date``, ``availability``, ``count``, ``node``), if they are not known ones.

    Raises
    ------
    InputError
        If a column is missing, a line has another number of columns, a date is invalid or not increasing, a value is
        not 0 or 1 or a count, a node has fewer than two samples, two files have the same node, one of several files
        has counts, or a file is missing, damaged or not text. The message names file and line.
    """
    names = [node_of(path) for path in paths] if nodes is None else list(nodes)
    if len(names) != len(paths):
        raise InputError(f"{len(names)} names of {len(paths)} files, expected one each", place="nodes")
    for i, path in enumerate(paths):
        if names[i] in names[:i]:
            raise InputError(f"a second file of node {excerpt(names[i])}, expected one per node", file=path)
    found: dict[str, tuple[Interval, ...]] = {}
    assumptions: tuple[str, ...] = ()
    for path, name in zip(paths, names, strict=True):
        try:
            table = _Table(read_lines(path), columns or {}, one_means)
            rows = table.intervals(name)
        except InputError as error:
            raise error.in_file(path) from None
        if len(paths) > 1 and table.holds != "availability":
            raise InputError("counts of machines in one of several files, expected a single file", file=path)
        twice = next((node for node in rows if node in found), None)
        if twice is not None:
            raise InputError(f"node {excerpt(twice)} occurs in two files, expected one per node", file=path)
        found |= rows
        assumptions = table.assumptions
    return Trace(tuple(found), tuple(found.values()), assumptions)


def node_of(path: str | os.PathLike[str]) -> str:
    """Return the name of the node of a file of samples: the file's name without suffixes.

    Examples
    --------
    >>> node_of("zones/us-east-1a.csv.xz"), node_of("us-east-1a.json")
    ('us-east-1a', 'us-east-1a')
    """
    name = Path(path).name.removesuffix(".gz").removesuffix(".xz")
    return name.removesuffix(".csv").removesuffix(".json")


def meaning_of(text: Meaning | str | None, name: str = "") -> Meaning:
    """Return the meaning of a sample of 1: ``text`` if given, otherwise from the name of its column or key."""
    if text is None:
        return Meaning.PREEMPTED if "preempted" in name.lower() else Meaning.AVAILABLE
    if text not in list(Meaning):
        raise InputError(f"{text!r}, expected {' or '.join(Meaning)}", place="one_means")
    return Meaning(text)


def assumption_on_ones(meaning: Meaning) -> str:
    """Return the assumption about the meaning of a sample of 1."""
    if meaning is Meaning.AVAILABLE:
        return "1 means available, 0 unavailable"
    return "1 means preempted, 0 available"


def from_samples(dates: Sequence[Seconds], values: Sequence[bool]) -> tuple[Interval, ...]:
    """Return the intervals of one node: each sample holds until the next one, but not over a gap.

    Parameters
    ----------
    dates
        Increasing seconds, at least two.
    values
        Whether the node was available at each date.
    """
    if len(dates) < 2:
        raise InputError(f"{len(dates)} samples, expected at least two: the step is unknown")
    step = median_low([after - before for before, after in pairwise(dates)])
    longest, unit = LONGEST_STEP.numerator * step, LONGEST_STEP.denominator  # integers compare faster than fractions
    intervals: list[Interval] = []
    for i, (start, is_there) in enumerate(zip(dates, values, strict=True)):
        presence = Presence.AVAILABLE if is_there else Presence.UNAVAILABLE
        stop = dates[i + 1] if i + 1 < len(dates) else simplest(Fraction(start + step))
        if (stop - start) * unit > longest:
            stop = simplest(Fraction(start + step))
        if intervals and intervals[-1].stop == start and intervals[-1].presence is presence:
            intervals[-1] = Interval(intervals[-1].start, stop, presence)
        else:
            intervals.append(Interval(start, stop, presence))
    return tuple(intervals)


def counted(name: str, dates: Sequence[Seconds], counts: Sequence[int]) -> dict[str, tuple[Interval, ...]]:
    """Return the intervals of machines from their number at each date: machine i is available while it exceeds i.

    Examples
    --------
    >>> rows = counted("zone", [0, 10, 20], [2, 1, 0])
    >>> [[(row.start, row.stop, str(row.presence)) for row in rows[node]] for node in rows]
    [[(0, 20, 'available'), (20, 30, 'unavailable')], [(0, 10, 'available'), (10, 30, 'unavailable')]]
    """
    most = max(counts, default=0)
    if not 1 <= most <= MOST_MACHINES:
        raise InputError(f"{most} machines at most, expected 1 to {MOST_MACHINES}", place="count")
    return {f"{name} {i + 1}": from_samples(dates, [count > i for count in counts]) for i in range(most)}


class _Table:
    """The samples of one file."""

    def __init__(self, lines: Sequence[str], columns: Mapping[str, str], one_means: Meaning | str | None) -> None:
        for kind in columns:
            if kind not in COLUMNS:
                raise InputError(f"{kind!r}, expected one of {', '.join(COLUMNS)}", place="columns")
        self.header = [name.strip() for name in _cells(lines[0])]
        self.lines = lines
        date, availability, count, node = (self._find(kind, columns.get(kind)) for kind in COLUMNS)
        if date is None:
            raise InputError(f"{excerpt(lines[0])}, expected the header date,availability", place="line 1")
        if availability is None and count is None:
            raise InputError(
                f"{excerpt(lines[0])}, expected the header date,availability, or columns by name", place="line 1"
            )
        self.date, self.node = date, node
        self.holds = "count" if availability is None or "count" in columns else "availability"
        self.value = availability if self.holds == "availability" and availability is not None else count
        self.meaning = meaning_of(one_means, "" if availability is None else self.header[availability])
        assumption = assumption_on_ones(self.meaning) if self.holds == "availability" else COUNTED
        self.assumptions = (assumption, _DATES, *_HOLD)

    def _find(self, kind: str, name: str | None) -> int | None:
        """Return the index of a column; None if there is none."""
        if name is not None:
            if name not in self.header:
                expected = ", ".join(self.header)
                raise InputError(f"no column {excerpt(name)}, expected one of {expected}", place="line 1")
            return self.header.index(name)
        lower = [column.lower() for column in self.header]
        return next((lower.index(known) for known in COLUMNS[kind] if known in lower), None)

    def intervals(self, name: str) -> dict[str, tuple[Interval, ...]]:
        """Return the observed intervals of each node, or of the single node that the file is named after."""
        dates: dict[str, list[Seconds]] = {}
        values: dict[str, list[int]] = {}
        width, at, value = len(self.header), self.date, self.value
        assert value is not None
        first = next((line for line in self.lines[1:] if line and not line.isspace()), "")
        are_numbers = len(_cells(first)) == width and seconds(_cells(first)[at].strip()) is not None
        parse, expected = (
            (seconds, "UNIX seconds") if are_numbers else (moment, "a date and time such as 2023-02-15 22:08:16")
        )
        for number, line in enumerate(self.lines[1:], start=2):
            if not line or line.isspace():
                continue
            cells = line.split(",") if '"' not in line else _cells(line)
            if len(cells) != width:
                raise InputError(
                    f"{len(cells)} columns, expected {width}: {','.join(self.header)}", place=f"line {number}"
                )
            node = name if self.node is None else cells[self.node].strip()
            mine = dates.setdefault(node, [])
            date = parse(cells[at].strip())
            if date is None:
                raise InputError(f"date {excerpt(cells[at])}, expected {expected}", place=f"line {number}")
            if mine and date <= mine[-1]:
                raise InputError(
                    f"date {excerpt(cells[at])}, expected a date after the previous one", place=f"line {number}"
                )
            mine.append(date)
            values.setdefault(node, []).append(self._value(cells[value].strip(), number))
        if self.holds == "count":
            if self.node is not None and len(dates) > 1:
                return {k: row for node in dates for k, row in counted(node, dates[node], values[node]).items()}
            (only,) = dates or {name: []}
            return counted(only, dates.get(only, []), values.get(only, []))
        if not dates:
            from_samples([], [])
        ones = int(self.meaning is Meaning.AVAILABLE)
        return {node: from_samples(dates[node], [value == ones for value in values[node]]) for node in dates}

    def _value(self, text: str, number: int) -> int:
        if text in ("0", "1"):
            return int(text)
        if self.holds == "availability":
            raise InputError(f"availability {excerpt(text)}, expected 0 or 1", place=f"line {number}")
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise InputError(f"count {excerpt(text)}, expected a whole number of machines", place=f"line {number}")
        return int(text)


def _cells(line: str) -> list[str]:
    return next(csv.reader([line]), [])
