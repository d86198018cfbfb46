"""Instances from logs of real machines in the formats SWF and GWF (docs/grid/model.md section 1)."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from operator import itemgetter
from typing import NamedTuple

from hindsched.instances.errors import InputError
from hindsched.instances.grid.model import Instance
from hindsched.instances.intervals import Seconds
from hindsched.instances.text_files import excerpt
from hindsched.instances.traces.parsing import read_lines, seconds

__all__ = ["KINDS", "UNUSABLE", "WIDE_JOBS", "ImportedLog", "LogRecord", "import_log", "instance_from_jobs", "read_log"]

#: The kinds of logs, with the text that begins a comment.
KINDS = {"swf": ";", "gwf": "#"}
#: Reasons why a line is unusable, in the order in which they are checked, with their names in messages.
UNUSABLE = {
    "partial": "partial executions (status 2 to 4)",
    "no_submit": "without a submission",
    "no_run_time": "without a run time",
    "no_width": "without a number of processors",
}
#: Treatments of a job wider than the grid; the first is the default.
WIDE_JOBS = ("refuse", "drop")

#: The columns that are read, counted from 0. A line may lack the last one, and the status is then -1, unknown.
_COLUMNS = {"submit time": 1, "run time": 3, "processors": 4, "requested processors": 7, "status": 10}
_FEWEST_COLUMNS = 8
#: Status unknown; failed, completed; to be continued, last part completed, last part failed; cancelled.
_STATUSES, _PARTIAL = range(-1, 6), range(2, 5)
#: First letters of files, with the kind that they show.
_LOOKS_LIKE = {";": "swf", "#": "gwf", "{": "batsim"}
_MAX_PROCS = re.compile(r"[;#]\s*MaxProcs:\s*([0-9]{1,9})\s*", re.ASCII)


class LogRecord(NamedTuple):
    """A line of a log: line and job number, times in exact seconds, processors and status; -1: unknown."""

    line: int
    job: str
    submit: Seconds
    run: Seconds
    processors: Seconds
    requested: Seconds
    status: Seconds

    @property
    def width(self) -> Seconds:
        """The number of processors if it is positive, otherwise the number requested."""
        return self.processors if self.processors > 0 else self.requested

    @property
    def unusable(self) -> str | None:
        """The first reason of `UNUSABLE` that applies; None: the line is a job."""
        applies = {
            "partial": self.status in _PARTIAL,
            "no_submit": self.submit < 0,
            "no_run_time": self.run <= 0,
            "no_width": self.width <= 0 or self.width != int(self.width),
        }
        return next((reason for reason in UNUSABLE if applies[reason]), None)


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
    summary
        The numbers of read and omitted lines, in one line.
    """

    instance: Instance
    unusable: Mapping[str, int]
    wide: int
    summary: str


def import_log(
    path: str | os.PathLike[str],
    *,
    nodes: int | None = None,
    slot_s: int,
    kind: str = "swf",
    compress: Fraction | int | str = 1,
    first: int = 0,
    count: int | None = None,
    wide: str = WIDE_JOBS[0],
) -> ImportedLog:
    """Return the instance of a log of a real machine.

    Both formats have submission, run time, processors, requested processors and status in columns 2, 4, 5, 8 and 11.
    The width of a job is its number of processors if positive, otherwise the number requested. A line is unusable if it
    is a partial execution (status 2 to 4: another line has the whole job), the submission is before 0, the run time is
    not positive, or the width is not a positive integer. Unusable lines are counted; the others are sorted by
    submission, and lines with the same submission keep their order.

    Parameters
    ----------
    path
        The log, plain or gzip.
    nodes
        M. None: ``MaxProcs`` in the header of the log.
    slot_s
        Seconds of a slot.
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
        If a line has fewer than 8 columns, no number in one of the five or an unknown status, if a job is wider than
        the grid and ``wide`` is ``refuse``, or if no job is left. The message names the file and the line. Also if an
        option is invalid; the message names it.

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
    records, header = read_log(path, kind)
    if nodes is None and header is None:
        raise InputError("missing, expected it (--nodes) or MaxProcs in the header", place="nodes", file=path)
    most = nodes if nodes is not None else int(header or 0)
    unusable = Counter(dict.fromkeys(UNUSABLE, 0))
    unusable.update(record.unusable for record in records if record.unusable is not None)
    jobs = sorted((record for record in records if record.unusable is None), key=lambda job: job.submit)  # stable
    window = jobs[first : None if count is None else first + count]
    fitting = [job for job in window if job.width <= most]
    if wide == "refuse" and len(fitting) < len(window):
        job = next(job for job in window if job.width > most)
        raise InputError(f"width {job.width}, expected at most {most}, the nodes", place=f"line {job.line}", file=path)
    left_out = {UNUSABLE[reason]: number for reason, number in unusable.items()}
    left_out |= {"outside the window": len(jobs) - len(window), "wider than the grid": len(window) - len(fitting)}
    summary = _summary(fitting, records, left_out)
    if header not in (None, most):
        summary += f"; {most} nodes, but MaxProcs {header} in the header"
    if not fitting:
        raise InputError(f"{summary}; expected at least one job", file=path)
    start = window[0].submit
    rows = [((job.submit - start) * factor, job.run, int(job.width)) for job in fitting]
    try:
        instance = instance_from_jobs(rows, most, slot_s)
    except InputError as error:
        raise error.in_file(path) from None
    return ImportedLog(instance, dict(unusable), len(window) - len(fitting), summary)


def read_log(path: str | os.PathLike[str], kind: str = "swf") -> tuple[list[LogRecord], int | None]:
    """Return the lines of a log that are not comments, and ``MaxProcs`` of its header if it has exactly one.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is not one of the format. The message names the file and the line.
    """
    records = []
    header = set()
    try:
        for number, text in enumerate(read_lines(path, is_lenient=True), start=1):
            if text.lstrip().startswith(KINDS[kind]):
                found = _MAX_PROCS.fullmatch(text.strip())
                header |= {int(found[1])} if found else set()
            elif text and not text.isspace():
                records.append(_record(number, text))
    except InputError as error:
        raise error.in_file(path) from None
    return records, header.pop() if len(header) == 1 else None


def instance_from_jobs(rows: Sequence[tuple[Seconds, Seconds, int]], nodes: int, slot_s: int) -> Instance:
    """Return the instance of jobs given as (submission, run time, width) in exact seconds, in any order.

    Both times are rounded up to whole slots, and every job runs at least one slot.

    Raises
    ------
    InputError
        If there is no job, a number is out of range, or a job is wider than the grid.

    Examples
    --------
    >>> list(instance_from_jobs([(61, 0, 1), (0, 60, 2)], nodes=2, slot_s=60).rows())
    [(0, 2, 1), (2, 1, 1)]
    """
    if slot_s < 1:
        raise InputError(f"{slot_s}, expected an integer >= 1", place="slot_s")
    if not rows:
        raise InputError("none, expected at least one", place="jobs")
    rows = sorted(rows, key=itemgetter(0))
    return Instance(
        nodes,
        slot_s,
        [ceil(Fraction(submit) / slot_s) for submit, _, _ in rows],
        [width for _, _, width in rows],
        [max(1, ceil(Fraction(run) / slot_s)) for _, run, _ in rows],
    )


def _record(number: int, text: str) -> LogRecord:
    columns = text.split()
    place = f"line {number}"
    kind = _LOOKS_LIKE.get(columns[0][0])
    hint = f"; it looks like --kind {kind}" if kind else ""
    if len(columns) < _FEWEST_COLUMNS:
        raise InputError(f"{len(columns)} columns, expected at least {_FEWEST_COLUMNS}{hint}", place=place)
    values = []
    for name, column in _COLUMNS.items():
        cell = columns[column] if column < len(columns) else "-1"
        value = seconds(cell)
        if value is None:
            raise InputError(f"{name} {excerpt(cell)} in column {column + 1}, expected a number{hint}", place=place)
        values.append(value)
    record = LogRecord(number, columns[0], *values)
    if record.status not in _STATUSES:
        raise InputError(f"status {record.status} in column 11, expected -1 to 5", place=place)
    return record


def _summary(jobs: Sequence[LogRecord], records: Sequence[LogRecord], left_out: Mapping[str, int]) -> str:
    """Return in one line what is read and what is left out."""
    parts = [f"jobs: {len(jobs)} of {len(records)} lines"]
    counts = ", ".join(f"{number} {what}" for what, number in left_out.items() if number)
    if counts:
        parts.append(f"left out: {counts}")
    numbers = [job.job for job in jobs if job.job != "-1"]
    in_parts = {record.job for record in records if record.unusable == "partial"}
    notes = {
        "with the number of processors requested, since no other is known": sum(job.processors <= 0 for job in jobs),
        "with the job number of another": len(numbers) - len(set(numbers)),
        "in partial executions only": len(
            in_parts - {record.job for record in records if record.unusable != "partial"}
        ),
    }
    return "; ".join(parts + [f"{number} {what}" for what, number in notes.items() if number])


def _factor(compress: Fraction | int | str) -> Fraction:
    above, slash, below = str(compress).partition("/")
    numerator, denominator = seconds(above), seconds(below if slash else "1")
    if numerator is None or denominator is None or numerator <= 0 or denominator <= 0:
        text = excerpt(repr(str(compress)))
        raise InputError(f"{text}, expected a number above 0, or a fraction such as 28/95", place="compress")
    return Fraction(numerator) / Fraction(denominator)
