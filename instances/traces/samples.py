"""Reader of availability sampled over time, one file per node."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median_low

from instances.errors import InputError
from instances.intervals import Interval, Presence, Seconds, simplest
from instances.traces.text import excerpt, moment, read_lines
from instances.traces.trace import Trace

__all__ = ["HEADER", "node_of", "read_samples"]

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


def read_samples(*paths: str | os.PathLike[str], nodes: Sequence[str] | None = None) -> Trace:
    """Read availability sampled over time: one CSV file per node.

    The first line is ``date,availability``; each other line has an ISO date and time and 1 (available) or 0. Plain,
    gzip or xz. What else it assumes is in ``assumptions`` of the trace.

    Parameters
    ----------
    *paths
        The files, in the order of the nodes.
    nodes
        What the nodes are called; None: as their files without the suffixes.

    Raises
    ------
    InputError
        Naming file and line: another header, another number of columns, no date, dates that do not increase, a value
        other than 0 and 1; and a file with fewer than two samples, missing, damaged or not text; and
        two files of one node.
    """
    names = [node_of(path) for path in paths] if nodes is None else list(nodes)
    if len(names) != len(paths):
        raise InputError(f"{len(names)} names of {len(paths)} files, expected one each", place="nodes")
    for i, path in enumerate(paths):
        if names[i] in names[:i]:
            raise InputError(f"a second file of node {excerpt(names[i])}, expected one per node", file=path)
    return Trace(tuple(names), tuple(_intervals(path) for path in paths), _ASSUMPTIONS)


def node_of(path: str | os.PathLike[str]) -> str:
    """Return what the node of a file of samples is called: the file's name without its suffixes.

    Examples
    --------
    >>> node_of("zones/us-east-1a.csv.xz")
    'us-east-1a'
    """
    return Path(path).name.removesuffix(".gz").removesuffix(".xz").removesuffix(".csv")


def _intervals(path: str | os.PathLike[str]) -> tuple[Interval, ...]:
    try:
        dates, values = _samples(read_lines(path))
    except InputError as error:
        raise error.in_file(path) from None
    if len(dates) < 2:
        raise InputError(f"{len(dates)} samples, expected at least two: the step is unknown", file=path)
    step = median_low([after - before for before, after in pairwise(dates)])
    longest, unit = LONGEST_STEP.numerator * step, LONGEST_STEP.denominator  # integers compare faster than fractions
    intervals: list[Interval] = []
    for i, (start, presence) in enumerate(zip(dates, values, strict=True)):
        stop = dates[i + 1] if i + 1 < len(dates) else simplest(Fraction(start + step))
        if (stop - start) * unit > longest:
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
