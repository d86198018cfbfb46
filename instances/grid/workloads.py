"""Instances from logs of real machines in the formats SWF and GWF (docs/grid/model.md section 1)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from operator import itemgetter

from hindsched.instances.errors import InputError
from hindsched.instances.grid.model import Instance
from hindsched.instances.intervals import Seconds
from hindsched.instances.text_files import excerpt
from hindsched.instances.traces.parsing import read_lines, seconds

__all__ = ["KINDS", "UNUSABLE", "WIDE_JOBS", "ImportedLog", "import_log", "instance_from_jobs"]

#: The kinds of logs, with the text that begins a comment.
KINDS = {"swf": ";", "gwf": "#"}
#: Reasons why a line is unusable, in the order in which they are checked.
UNUSABLE = ("no_submit", "no_run_time", "no_width")
#: Treatments of a job wider than the grid; the first is the default.
WIDE_JOBS = ("refuse", "drop")

#: The columns that are read, counted from 0.
_COLUMNS = {"submit time": 1, "run time": 3, "processors": 4, "requested processors": 7}
_FEWEST_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class ImportedLog:
    """The instance of a log, with the numbers of lines that are not in it.

    Parameters
    ----------
    instance
        The usable jobs of the window.
    unusable
        Number of unusable lines of the whole log, by the first reason of `UNUSABLE` that applies.
    wide
        Number of jobs of the window that are dropped because they are wider than the grid.
    """

    instance: Instance
    unusable: Mapping[str, int]
    wide: int


@dataclass(frozen=True, slots=True)
class _Line:
    """A usable line: line number, submission and run time in exact seconds, width."""

    number: int
    submit: Seconds
    run: Seconds
    width: int


def import_log(
    path: str | os.PathLike[str],
    *,
    nodes: int,
    slot_s: int,
    kind: str = "swf",
    compress: Fraction | int | str = 1,
    first: int = 0,
    count: int | None = None,
    wide: str = WIDE_JOBS[0],
) -> ImportedLog:
    """Return the instance of a log of a real machine.

    Both formats have submission, run time, processors and requested processors in columns 2, 4, 5 and 8. The width of a
    job is its number of processors if positive, otherwise the number requested. A line is unusable if the submission
    is before 0, the run time is not positive, or the width is not a positive integer. Unusable lines are counted; the
    others are sorted by submission, and lines with the same submission keep their order.

    Parameters
    ----------
    path
        The log, plain or gzip.
    nodes, slot_s
        M and the seconds of a slot.
    kind
        ``swf``, with comment lines that begin with ``;``, or ``gwf``, with comment lines that begin with ``#``.
    compress
        Factor of the gaps between submissions: a number above 0, or a text such as ``28/95``.
    first, count
        The window: number of usable jobs that are skipped, then number of jobs that are taken (None: all). Slot 0
        begins with the first submission of the window.
    wide
        Treatment of a job in the window that is wider than the grid: an error, or dropped.

    Raises
    ------
    InputError
        If a line has fewer than 8 columns or no number in one of the four, or a job is wider than the grid and ``wide``
        is ``refuse``. The message names the file and the line. Also if an option is invalid; the message names it.

    Notes
    -----
    Times are computed exactly: submit = ceil((t - t0) x compress / slot_s), length = max(1, ceil(run / slot_s)).

    References
    ----------
    S. J. Chapin et al., "Benchmarks and Standards for the Evaluation of Parallel Job Schedulers", JSSPP 1999 (SWF).
    A. Iosup et al., "The Grid Workloads Archive", Future Generation Computer Systems 24 (2008) (GWF).
    """
    if kind not in KINDS:
        raise InputError(f"{kind!r}, expected one of {', '.join(KINDS)}", place="kind")
    if wide not in WIDE_JOBS:
        raise InputError(f"{wide!r}, expected one of {', '.join(WIDE_JOBS)}", place="wide")
    factor = _factor(compress)
    for name, number in (("first", first), ("count", count)):
        if number is not None and number < 0:
            raise InputError(f"{number}, expected an integer >= 0", place=name)
    unusable: Counter[str] = Counter(dict.fromkeys(UNUSABLE, 0))
    lines: list[_Line] = []
    try:
        for number, text in enumerate(read_lines(path, is_lenient=True), start=1):
            if text and not text.isspace() and not text.lstrip().startswith(KINDS[kind]):
                found = _line(number, text)
                if isinstance(found, _Line):
                    lines.append(found)
                else:
                    unusable[found] += 1
        lines.sort(key=lambda line: line.submit)  # stable
        window = lines[first : None if count is None else first + count]
        fitting = [line for line in window if line.width <= nodes]
        if wide == "refuse" and len(fitting) < len(window):
            line = next(line for line in window if line.width > nodes)
            raise InputError(f"width {line.width}, expected at most {nodes}, the nodes", place=f"line {line.number}")
    except InputError as error:
        raise error.in_file(path) from None
    start = window[0].submit if window else 0
    rows = [((line.submit - start) * factor, line.run, line.width) for line in fitting]
    return ImportedLog(instance_from_jobs(rows, nodes, slot_s), dict(unusable), len(window) - len(fitting))


def instance_from_jobs(rows: Sequence[tuple[Seconds, Seconds, int]], nodes: int, slot_s: int) -> Instance:
    """Return the instance of jobs given as (submission, run time, width) in exact seconds, in any order.

    Both times are rounded up to whole slots, and every job runs at least one slot.

    Examples
    --------
    >>> list(instance_from_jobs([(61, 0, 1), (0, 60, 2)], nodes=2, slot_s=60).rows())
    [(0, 2, 1), (2, 1, 1)]
    """
    if slot_s < 1:
        raise InputError(f"{slot_s}, expected an integer >= 1", place="slot_s")
    rows = sorted(rows, key=itemgetter(0))
    return Instance(
        nodes,
        slot_s,
        [ceil(Fraction(submit) / slot_s) for submit, _, _ in rows],
        [width for _, _, width in rows],
        [max(1, ceil(Fraction(run) / slot_s)) for _, run, _ in rows],
    )


def _line(number: int, text: str) -> _Line | str:
    """Return a usable line, or the reason why it is unusable."""
    columns = text.split()
    place = f"line {number}"
    if len(columns) < _FEWEST_COLUMNS:
        raise InputError(f"{len(columns)} columns, expected at least {_FEWEST_COLUMNS}", place=place)
    values = []
    for name, column in _COLUMNS.items():
        value = seconds(columns[column])
        if value is None:
            raise InputError(
                f"{name} {excerpt(columns[column])} in column {column + 1}, expected a number", place=place
            )
        values.append(value)
    submit, run, processors, requested = values
    width = processors if processors > 0 else requested
    if submit < 0:
        return "no_submit"
    if run <= 0:
        return "no_run_time"
    if width <= 0 or width != int(width):
        return "no_width"
    return _Line(number, submit, run, int(width))


def _factor(compress: Fraction | int | str) -> Fraction:
    above, slash, below = str(compress).partition("/")
    numerator, denominator = seconds(above), seconds(below if slash else "1")
    if numerator is None or denominator is None or numerator <= 0 or denominator <= 0:
        text = excerpt(repr(str(compress)))
        raise InputError(f"{text}, expected a number above 0, or a fraction such as 28/95", place="compress")
    return Fraction(numerator) / Fraction(denominator)
