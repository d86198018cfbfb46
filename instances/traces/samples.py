"""Reader of availability samples: tables of dates and values, one file per node or one file for all nodes.

A value is 0 or 1, or the number of machines that are available.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median_low
from sys import intern

from hindsched.instances.compression import PACKED_NAME
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Presence, Seconds, simplest
from hindsched.instances.text_files import as_unicode
from hindsched.instances.traces.delimited import SEPARATORS, Candidate, first_lines
from hindsched.instances.traces.parsing import excerpt, read_lines
from hindsched.instances.traces.times import TimeUnit, plain_name, seconds, to_times
from hindsched.instances.traces.trace import Trace

__all__ = [
    "COLUMNS",
    "COUNTED",
    "Meaning",
    "a_gap",
    "add_rows",
    "assumption_on_ones",
    "counted",
    "expect_counts_of_available",
    "find_samples",
    "from_samples",
    "joined",
    "meaning_of",
    "node_of",
    "not_used",
    "read_samples",
]

#: Names of columns in which 1 means that a machine is absent.
_ABSENT = (
    *("preempted", "unavailable", "down", "evicted", "interrupted", "terminated", "failed", "reclaimed", "revoked"),
    *("offline", "absent", "not_available", "not_up"),
)
_ABSENT_WORDS = {word for word in _ABSENT if "_" not in word} | {"not"}
#: Known names of columns by their content, in small letters with ``_`` between words and without a unit of time.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "date": (
        *("date", "time", "timestamp", "datetime", "date_time", "ts", "epoch", "unix", "utc", "time_utc"),
        *("unix_time", "unixtime", "unix_timestamp", "time_stamp", "timestamp_utc", "date_utc", "datetime_utc"),
    ),
    "availability": (
        "availability",
        "available",
        "is_available",
        "up",
        "is_up",
        *_ABSENT,
        *map("is_{}".format, _ABSENT),
    ),
    "count": (
        "count",
        "counts",
        "instances",
        "num_instances",
        "machines",
        "capacity",
        "num_available",
        "available_count",
    ),
    "node": (
        *("node", "machine", "host", "instance", "zone", "node_id", "node_name", "machine_id", "machine_name"),
        *("host_name", "hostname", "instance_id", "availability_zone", "az", "zone_id", "vm", "worker"),
    ),
}
#: A step longer than this number of median steps is a gap in the observation.
LONGEST_STEP = Fraction(3, 2)
#: Largest count of machines; a guard against a column that is not a count.
MOST_MACHINES = 10_000
#: Most intervals of one file with counts: a count that changes all the time makes many.
MOST_INTERVALS = 5_000_000


class Meaning(StrEnum):
    """Meaning of a sample of 1."""

    AVAILABLE = "available"
    PREEMPTED = "preempted"


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
    time_unit: TimeUnit | str | None = None,
) -> Trace:
    """Read availability samples, plain, gzip or xz.

    The first line that is neither blank nor a comment names the columns: a time (a date, or a number), and either an
    availability of 0 or 1 or a count of available machines. `COLUMNS` has the known names. Cells are separated by
    commas, semicolons, tabs, vertical bars or blanks. With a column for the node, one file contains all nodes;
    otherwise each file is a node. Files with counts are joined: the machines of each are nodes. ``assumptions`` of the
    trace lists other assumptions of the reader, and ``findings`` its findings.

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
    time_unit
        Unit of times that are numbers. None: the column's name decides, otherwise what is plausible.

    Raises
    ------
    InputError
        If a column is missing, or can be one of several; if a line has another number of columns, a date is invalid or
        not increasing, a value is not 0 or 1 or a count, a node has fewer than two samples, two files have the same
        node, or a file is missing, damaged or not text. The message names file and line.
    """
    names = [node_of(path) for path in paths] if nodes is None else list(nodes)
    if len(names) != len(paths):
        raise InputError(f"{len(names)} names of {len(paths)} files, expected one each", place="nodes")
    found: dict[str, tuple[Interval, ...]] = {}
    tables: list[_Table] = []
    for path, name in zip(paths, names, strict=True):
        try:
            if name in names[: len(tables)]:
                raise InputError(f"a second file of node {excerpt(name)}, expected one per node")
            table = _Table(read_lines(path), columns or {}, one_means)
            if tables and table.is_count is not tables[0].is_count:
                raise InputError("counts of machines and samples of 0 and 1, expected files of one kind")
            add_rows(found, table.intervals(name, time_unit))
        except InputError as error:
            raise error.in_file(path) from None
        tables.append(table)
    if not found:
        raise InputError("no machine in any sample, expected a count above 0", file=paths[0])
    assumptions = dict.fromkeys(sentence for table in tables for sentence in table.assumptions)
    return Trace(tuple(found), tuple(found.values()), tuple(assumptions), joined(table.findings for table in tables))


def add_rows(found: dict[str, tuple[Interval, ...]], rows: Mapping[str, tuple[Interval, ...]]) -> None:
    """Add the nodes of a file to those of the files before it.

    Raises
    ------
    InputError
        If a node occurs in two files, or there are too many machines.
    """
    twice = next((node for node in rows if node in found), None)
    if twice is not None:
        raise InputError(f"node {excerpt(twice)} occurs in two files, expected one per node")
    found |= rows
    if len(found) > MOST_MACHINES:
        raise InputError(f"{len(found)} machines, expected at most {MOST_MACHINES}")


def joined(findings: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Join the findings of several files; differences are listed.

    Examples
    --------
    >>> joined([("samples", "comma"), ("samples", "tab")])
    ('samples', 'comma or tab')
    """
    return tuple(" or ".join(filter(None, dict.fromkeys(column))) for column in zip(*findings, strict=True))


def node_of(path: str | os.PathLike[str]) -> str:
    """Return the name of the node of a file of samples: the file's name without suffixes.

    Examples
    --------
    >>> node_of("zones/us-east-1a.csv.bz2"), node_of("us-east-1a.json")
    ('us-east-1a', 'us-east-1a')
    """
    name = as_unicode(PACKED_NAME.sub("", Path(path).name))
    return name.removesuffix(".csv").removesuffix(".json")


def meaning_of(text: Meaning | str | None, name: str = "") -> Meaning:
    """Return the meaning of a sample of 1: ``text`` if given, otherwise from the name of its column or key.

    Examples
    --------
    >>> str(meaning_of(None, "isPreempted")), str(meaning_of(None, "up")), str(meaning_of("preempted", "up"))
    ('preempted', 'available', 'preempted')
    """
    if text is None:
        return Meaning.PREEMPTED if plain_name(name).removeprefix("is_") in _ABSENT else Meaning.AVAILABLE
    if text not in list(Meaning):
        raise InputError(f"{text!r}, expected {' or '.join(Meaning)}", place="one_means")
    return Meaning(text)


def expect_counts_of_available(name: str, one_means: Meaning | str | None) -> None:
    """Refuse counts of machines that are not available: the number of available ones does not follow.

    Raises
    ------
    InputError
        If ``one_means`` is given, or the name of the column or key says that absent machines are counted.
    """
    if one_means is not None:
        raise InputError(
            "does not apply to counts of machines, expected counts of available machines", place="--one-means"
        )
    if _ABSENT_WORDS & set(plain_name(name).split("_")):
        raise InputError(
            f"{excerpt(name)} counts machines that are not available, expected counts of available machines",
            place="count",
        )


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
    intervals: list[Interval] = []
    for start, stop, is_there in zip(dates, _stops(dates), values, strict=True):
        presence = Presence.AVAILABLE if is_there else Presence.UNAVAILABLE
        if intervals and intervals[-1].stop == start and intervals[-1].presence is presence:
            intervals[-1] = Interval(intervals[-1].start, stop, presence)
        else:
            intervals.append(Interval(start, stop, presence))
    return tuple(intervals)


def median_step(dates: Sequence[Seconds]) -> Seconds:
    """Return the median of the seconds between one date and the next.

    Raises
    ------
    InputError
        If there are fewer than two dates.
    """
    if len(dates) < 2:
        raise InputError(f"{len(dates)} samples, expected at least two: the step is unknown")
    return median_low([after - before for before, after in pairwise(dates)])


def _stops(dates: Sequence[Seconds]) -> list[Seconds]:
    """Return until when each sample holds."""
    step = median_step(dates)
    longest, unit = LONGEST_STEP.numerator * step, LONGEST_STEP.denominator  # integers compare faster than fractions
    stops = [
        simplest(Fraction(start + step)) if (stop - start) * unit > longest else stop for start, stop in pairwise(dates)
    ]
    return [*stops, simplest(Fraction(dates[-1] + step))]


def counted(name: str, dates: Sequence[Seconds], counts: Sequence[int]) -> dict[str, tuple[Interval, ...]]:
    """Return the intervals of machines from their number at each date: machine i is available while it exceeds i.

    Raises
    ------
    InputError
        If there are too many machines, or their number changes so often that they have too many intervals.

    Notes
    -----
    Linear in the samples and the intervals.

    Examples
    --------
    >>> rows = counted("zone", [0, 10, 20], [2, 1, 0])
    >>> [[(row.start, row.stop, str(row.presence)) for row in rows[node]] for node in rows]
    [[(0, 20, 'available'), (20, 30, 'unavailable')], [(0, 10, 'available'), (10, 30, 'unavailable')]]
    """
    stops, most = _stops(dates), max(counts)
    if most > MOST_MACHINES:
        raise InputError(f"at most {most} machines, expected 1 to {MOST_MACHINES}", place="count")
    pieces = most * (1 + sum(stop != start for stop, start in zip(stops, dates[1:], strict=False)))
    pieces += sum(abs(after - before) for before, after in pairwise(counts))
    if pieces > MOST_INTERVALS:
        raise InputError(
            f"{most} machines in {len(counts)} samples have {pieces} intervals, expected at most {MOST_INTERVALS}",
            place="count",
        )
    rows: list[list[Interval]] = [[] for _ in range(most)]
    starts = [dates[0]] * most
    for i, (count, stop) in enumerate(zip(counts, stops, strict=True)):
        is_gap = i + 1 == len(dates) or stop != dates[i + 1]
        after = count if is_gap else counts[i + 1]
        for machine in range(most) if is_gap else range(min(count, after), max(count, after)):
            presence = Presence.AVAILABLE if machine < count else Presence.UNAVAILABLE
            rows[machine].append(Interval(starts[machine], stop, presence))
            starts[machine] = stop if i + 1 == len(dates) else dates[i + 1]
    return {f"{name} {machine + 1}": tuple(row) for machine, row in enumerate(rows)}


def find_samples(lines: Sequence[str], columns: Mapping[str, str]) -> Candidate | str:
    """Return the first line of a table of samples; if none is found, the reason as a text."""
    best, most = None, 0
    for head in first_lines(lines):
        kinds = {kind for kind in COLUMNS if _find(head, kind, columns)}
        if best is not None and head.number != best.number:
            break
        if "date" in kinds and kinds & {"availability", "count"} and len(kinds) > most:
            best, most = head, len(kinds)
    if best is not None:
        return best
    known = {kind: ", ".join(COLUMNS[kind][:3]) for kind in COLUMNS}
    return (
        f"no line names columns of a date ({known['date']}, ...) and of an availability ({known['availability']}, ...) "
        f"or a count ({known['count']}, ...); --columns names others"
    )


def _find(head: Candidate, kind: str, columns: Mapping[str, str]) -> list[int]:
    """Return the indices of the columns that may have this content."""
    if kind in columns:
        return [i for i, name in enumerate(head.names) if name == columns[kind]]
    others = {"availability": "count", "count": "availability"}
    if others.get(kind) in columns:
        return []
    taken = set(columns.values())
    return [i for i, name in enumerate(head.names) if name not in taken and plain_name(name) in COLUMNS[kind]]


class _Table:
    """The samples of one file."""

    def __init__(self, lines: Sequence[str], columns: Mapping[str, str], one_means: Meaning | str | None) -> None:
        for kind in columns:
            if kind not in COLUMNS:
                raise InputError(f"{kind!r}, expected one of {', '.join(COLUMNS)}", place="columns")
        head = find_samples(lines, columns)
        if isinstance(head, str):
            raise _no_header(lines, columns)
        self.head, self.lines, self.place = head, lines, f"line {head.number}"
        names = [name.casefold() for name in head.names]
        twice = next((name for i, name in enumerate(names) if name and name in names[:i]), None)
        if twice is not None:
            raise InputError(f"column {excerpt(twice)} occurs twice, expected each name once", place=self.place)
        self.date = self._only("date", _find(head, "date", columns))
        values = _find(head, "availability", columns) + _find(head, "count", columns)
        self.value = self._only("availability" if _find(head, "availability", columns) else "count", values)
        self.is_count = self.value in _find(head, "count", columns)
        nodes = _find(head, "node", columns)
        if len(nodes) > 1:  # a column that has the same value in all rows does not tell nodes apart
            seen = [set[str]() for _ in nodes]
            for _, cells in head.rows(lines):
                for i, column in enumerate(nodes):
                    seen[i].add(cells[column])
            nodes = [column for i, column in enumerate(nodes) if len(seen[i]) > 1] or nodes[:1]
        self.node = self._only("node", nodes) if nodes else None
        self.is_node_named = "node" in columns
        used = {self.date, self.value, self.node}
        self.unused = [i for i, name in enumerate(head.names) if i not in used and name]
        self.meaning = meaning_of(one_means, head.names[self.value])
        if self.is_count:
            expect_counts_of_available(head.names[self.value], one_means)
        assumption = COUNTED if self.is_count else assumption_on_ones(self.meaning)
        self.assumptions = (assumption, *_HOLD)
        self.findings: tuple[str, ...] = ()

    def _only(self, kind: str, columns: Sequence[int]) -> int:
        if len(columns) > 1:
            names = [self.head.names[column] for column in columns]
            raise InputError(
                f"columns {' and '.join(map(excerpt, names))} may both be the {kind}, expected one of them by "
                f"--columns {kind}={names[0]}",
                place=self.place,
            )
        return columns[0]

    def intervals(self, name: str, time_unit: TimeUnit | str | None) -> dict[str, tuple[Interval, ...]]:
        """Return the observed intervals of each node, or of the single node that the file is named after."""
        numbers = array("q")
        texts: list[str] = []
        owners: list[str] = []
        values: list[int] = []
        others: dict[int, list[str]] = {}
        latest: dict[str, str] = {}
        for number, cells in self.head.rows(self.lines):
            if not numbers:
                others = {i: [] for i in self.unused if cells[i] and seconds(cells[i]) is None}
            owner = name if self.node is None else intern(cells[self.node])
            if not owner:
                raise InputError("no name of a node, expected one in each line", place=f"line {number}")
            text = cells[self.date]
            if latest.get(owner) == text:  # an early end for a file that repeats a line
                raise self._not_later(text, number)
            latest[owner] = text
            if len(latest) > MOST_MACHINES:
                raise InputError(f"more than {MOST_MACHINES} nodes, expected at most these", place=f"line {number}")
            numbers.append(number)
            texts.append(text)
            values.append(self._value(cells[self.value], number))
            for i, kept in others.items():
                kept.append(cells[i])
            owners.append(owner)
        if not texts:
            median_step([])
        times, description = to_times(texts, numbers, name=self.head.names[self.date], unit=time_unit)
        rows: dict[str, tuple[list[Seconds], list[int]]] = {}
        for i, time in enumerate(times):
            dates, mine = rows.setdefault(owners[i], ([], []))
            if dates and time <= dates[-1]:
                raise self._not_later(texts[i], numbers[i])
            dates.append(time)
            mine.append(values[i])
        if not self.is_node_named:
            for column, cells in others.items():
                self._expect_one_series(column, cells, owners, times)
        self.findings = self._describe(description, [median_step(dates) for dates, _ in rows.values()])
        if self.is_count:
            return {k: row for node, pair in rows.items() for k, row in counted(node, *pair).items()}
        ones = int(self.meaning is Meaning.AVAILABLE)
        return {node: from_samples(dates, [value == ones for value in mine]) for node, (dates, mine) in rows.items()}

    def _not_later(self, text: str, number: int) -> InputError:
        """Return the error for a date that is not after the previous one of its node."""
        unused = [self.head.names[column] for column in self.unused]
        hint = f" (for several nodes, --columns node={unused[0]})" if unused and self.node is None else ""
        return InputError(f"date {excerpt(text)}, expected a date after the previous one{hint}", place=f"line {number}")

    def _expect_one_series(
        self, column: int, cells: Sequence[str], owners: Sequence[str], times: Sequence[Seconds]
    ) -> None:
        """Refuse a column that is not used, if its values take turns: the samples of each may be those of a node."""
        by_owner: dict[str, dict[str, list[Seconds]]] = {}
        for cell, owner, time in zip(cells, owners, times, strict=True):
            by_owner.setdefault(owner, {}).setdefault(cell, []).append(time)
        for series in by_owner.values():
            if len(series) < 2 or any(len(dates) < 2 for dates in series.values()):
                continue
            step = median_step(sorted(date for dates in series.values() for date in dates))
            if all(median_step(dates) > LONGEST_STEP * step for dates in series.values()):
                shown = " and ".join(map(excerpt, list(series)[:2]))
                column_name = self.head.names[column]
                raise InputError(
                    f"column {excerpt(column_name)} may be the node: its values, such as {shown}, take turns; expected "
                    f"the node by --columns node={column_name}, or the column left out",
                    place=self.place,
                )

    def _describe(self, times: str, steps: Sequence[Seconds]) -> tuple[str, ...]:
        """Return the meaning of each column."""
        names = self.head.names
        kind = "count of available machines" if self.is_count else "availability"
        unused = [names[i] for i in self.unused]
        return (
            f"samples, separator {SEPARATORS[self.head.separator]}",
            f"time {excerpt(names[self.date])}: {times}",
            f"node {'by file' if self.node is None else excerpt(names[self.node])}",
            f"{kind} {excerpt(names[self.value])}"
            + ("" if self.is_count else f": {assumption_on_ones(self.meaning).partition(',')[0]}"),
            a_gap(steps),
            not_used("columns", unused),
        )

    def _value(self, text: str, number: int) -> int:
        if text in ("0", "1"):
            return int(text)
        is_count = text.isascii() and text.isdigit() and len(text) < 10
        if is_count and self.is_count:
            return int(text)
        name = self.head.names[self.value]
        if self.is_count:
            expected = "a whole number of machines"
        else:
            expected = f"0 or 1{f' (for counts of machines, --columns count={name})' if is_count else ''}"
        raise InputError(
            f"{'count' if self.is_count else 'availability'} {excerpt(text)}, expected {expected}",
            place=f"line {number}",
        )


def not_used(what: str, names: Sequence[str]) -> str:
    """Return a text on names without effect, at most five of them; empty without any."""
    shown = ", ".join(map(excerpt, names[:5]))
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{what} not used: {shown}{more}" if names else ""


def a_gap(steps: Sequence[Seconds]) -> str:
    """Return a text on the median steps of several nodes."""
    low, high = (f"{float(step):g}" for step in (min(steps), max(steps)))
    return f"a sample every {low if low == high else f'{low} to {high}'} s"


def _no_header(lines: Sequence[str], columns: Mapping[str, str]) -> InputError:
    """Return the error for a table without the columns of samples."""
    heads = first_lines(lines)
    head = max(heads, key=lambda head: (head.number == heads[0].number, len(head.names)))
    place = f"line {head.number}"
    for name in columns.values():
        if name not in head.names:
            return InputError(f"no column {excerpt(name)}, expected one of {', '.join(head.names)}", place=place)
    return InputError(
        f"'{head.shown}', expected the header date,availability or date,count, or columns by name", place=place
    )
