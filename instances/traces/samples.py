"""Reader of availability sampled over time, one file per node."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median_low

from instances.errors import InputError
from instances.intervals import Interval, Presence, Seconds, simplest
from instances.traces.text import excerpt, moment, read_lines
from instances.traces.trace import Trace

__all__ = ["HEADER", "read_samples"]

HEADER = "date,availability"
#: A step longer than this many median steps is a hole in the observation.
LONGEST_STEP = Fraction(3, 2)

_PRESENCE = {"1": Presence.AVAILABLE, "0": Presence.UNAVAILABLE}
_ASSUMPTIONS = (
    "1 means available, 0 unavailable",
    "dates are UTC unless they name an offset, and are trusted before any sampling gap told elsewhere",
    "a sample holds until the next one, the last for one median step",
    "after a step longer than 1.5 median steps there is a hole: its sample holds for one median step, and then nobody "
    "observed the node",
)


def read_samples(*paths: str | os.PathLike[str]) -> Trace:
    """Read availability sampled over time: one CSV file per node, called as the file without its suffixes.

    The first line is ``date,availability``; each other line has an ISO date and time and 1 (available) or 0. Plain or
    gzip. What else it assumes is in ``assumptions`` of the trace.

    Parameters
    ----------
    *paths
        The files, in the order of the nodes.

    Raises
    ------
    InputError
        Naming file and line: another header, another number of columns, no date, dates that do not increase, a value
        other than 0 and 1; and a file with fewer than two samples, missing, damaged or not text; and
        two files of one node.
    """
    nodes: list[str] = []
    for path in paths:
        node = Path(path).name.removesuffix(".gz").removesuffix(".csv")
        if node in nodes:
            raise InputError(f"a second file of node {excerpt(node)}, expected one per node", file=path)
        nodes.append(node)
    return Trace(tuple(nodes), tuple(_intervals(path) for path in paths), _ASSUMPTIONS)


def _intervals(path: str | os.PathLike[str]) -> tuple[Interval, ...]:
    try:
        dates, values = _samples(read_lines(path))
    except InputError as error:
        raise error.in_file(path) from None
    if len(dates) < 2:
        raise InputError(f"{len(dates)} samples, expected at least two: the step is unknown", file=path)
    step = median_low([after - before for before, after in pairwise(dates)])
    intervals: list[Interval] = []
    for i, (start, presence) in enumerate(zip(dates, values, strict=True)):
        stop = dates[i + 1] if i + 1 < len(dates) else simplest(Fraction(start + step))
        if stop - start > LONGEST_STEP * step:
            stop = simplest(Fraction(start + step))
        if intervals and intervals[-1].stop == start and intervals[-1].presence is presence:
            intervals[-1] = Interval(intervals[-1].start, stop, presence)
        else:
            intervals.append(Interval(start, stop, presence))
    return tuple(intervals)


def _samples(lines: list[str]) -> tuple[list[Seconds], list[Presence]]:
    if lines[0].strip() != HEADER:
        raise InputError(f"{excerpt(lines[0])}, expected the header {HEADER}", place="line 1")
    dates: list[Seconds] = []
    values: list[Presence] = []
    for number, line in enumerate(lines[1:], start=2):
        if not line or line.isspace():
            continue
        place = f"line {number}"
        columns = line.split(",")
        if len(columns) != 2:
            raise InputError(f"{len(columns)} columns, expected 2: {HEADER}", place=place)
        date = moment(columns[0].strip())
        if date is None:
            raise InputError(
                f"date {excerpt(columns[0])}, expected a date and time as 2023-02-15 22:08:16", place=place
            )
        if dates and date <= dates[-1]:
            raise InputError(f"date {excerpt(columns[0])}, expected one after that of the sample before", place=place)
        presence = _PRESENCE.get(columns[1].strip())
        if presence is None:
            raise InputError(f"availability {excerpt(columns[1])}, expected 0 or 1", place=place)
        dates.append(date)
        values.append(presence)
    return dates, values
