"""Logs of one real job: when it ran in which zone, on spot or on-demand instances."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from hindsched.instances.deadline.columns import TIME_NAMES, ZONE_NAMES, timed_rows
from hindsched.instances.deadline.schedule import Kind
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds
from hindsched.instances.text_files import excerpt
from hindsched.instances.traces.parsing import read_lines
from hindsched.instances.traces.times import to_text

__all__ = ["JobLog", "LoggedRun", "read_job_log"]

_COLUMNS = {"time": TIME_NAMES, "zone": ZONE_NAMES, "kind": ("kind", "lifecycle", "market")}
_KINDS = {
    "spot": Kind.SPOT,
    "on-demand": Kind.ON_DEMAND,
    "on_demand": Kind.ON_DEMAND,
    "ondemand": Kind.ON_DEMAND,
    "none": None,
    "lost": None,
    "stopped": None,
}


class LoggedRun(NamedTuple):
    """A run of the job: from ``start`` to ``stop``, in seconds, it had an instance of a kind in a zone.

    ``is_lost`` says that the instance was spot and was preempted at ``stop``.
    """

    start: Seconds
    stop: Seconds
    zone: str
    kind: Kind
    is_lost: bool


@dataclass(frozen=True, slots=True)
class JobLog:
    """What one job really did.

    Parameters
    ----------
    start
        Time of the first row in UNIX seconds, or from the beginning of the log: the job could have started.
    runs
        In order of time, without overlap.
    assumptions
        Assumptions of the reader, one sentence each.
    """

    start: Seconds
    runs: tuple[LoggedRun, ...]
    assumptions: tuple[str, ...] = ()

    @property
    def stop(self) -> Seconds:
        """The end of the last run."""
        return self.runs[-1].stop

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones in which the job ran, in the order of their first runs."""
        return tuple(dict.fromkeys(run.zone for run in self.runs))


class _Row(NamedTuple):
    line: int
    time: Seconds
    zone: str
    word: str

    @property
    def kind(self) -> Kind | None:
        return _KINDS[self.word]

    def continues(self, before: _Row) -> bool:
        """Return whether the job stays where the row before has it."""
        return self.kind is before.kind and (self.kind is None or self.zone == before.zone)


def read_job_log(path: str | os.PathLike[str]) -> JobLog:
    """Return the log of a job from a table, plain or compressed; its first line names the columns time, zone and kind.

    From the time of a row on, the job has an instance of the row's kind in its zone: ``spot`` or ``on-demand``. With
    the kinds ``none``, ``lost`` (spot was preempted) and ``stopped`` (the job gave its instance back) it has none, and
    the zone may be empty. A row like the one before it only confirms that the instance still runs. The last row is the
    end of the last run.

    Raises
    ------
    InputError
        If a column is missing, a time, zone or kind is invalid, times decrease, no run has a length, or the last row
        is not the end of a run. The message names file and line.
    """
    try:
        return _log(read_lines(path))
    except InputError as error:
        raise error.in_file(path) from None


def _log(lines: Sequence[str]) -> JobLog:
    rows = _rows(lines)
    changes = [rows[0], *(row for before, row in pairwise(rows) if not row.continues(before))]
    if changes[-1].kind is not None:
        last = changes[-1]
        message = f"the job still runs on {last.word} in {last.zone}, expected a last row of kind none: when it ended"
        raise InputError(message, place=f"line {rows[-1].line}")
    runs = []
    taken_as_lost = 0
    for row, after in pairwise(changes):
        if row.kind is None or row.time == after.time:
            continue
        is_unsaid = after.word == "none" and after is not changes[-1]
        is_lost = row.kind is Kind.SPOT and (after.word == "lost" or is_unsaid)
        taken_as_lost += is_lost and is_unsaid
        runs.append(LoggedRun(row.time, after.time, row.zone, row.kind, is_lost))
    if not runs:
        raise InputError("no run on spot or on-demand, expected at least one", place=f"line {rows[-1].line}")
    assumptions = []
    if taken_as_lost:
        assumptions.append(
            f"spot was preempted at the end of {taken_as_lost} spot runs that end with kind none (stopped: it was not)"
        )
    return JobLog(rows[0].time, tuple(runs), tuple(assumptions))


def _rows(lines: Sequence[str]) -> list[_Row]:
    rows: list[_Row] = []
    for line, time, cells in timed_rows(lines, _COLUMNS, "no row, expected the first launch", "time"):
        place = f"line {line}"
        zone, word = cells["zone"], cells["kind"].lower()
        if word not in _KINDS:
            raise InputError(f"kind {excerpt(word)}, expected spot, on-demand, none, lost or stopped", place=place)
        if _KINDS[word] is not None and not zone:
            raise InputError(f"no zone, expected the zone in which the job runs on {word}", place=place)
        if rows and time < rows[-1].time:
            message = f"time {to_text(time)} is before {to_text(rows[-1].time)} of line {rows[-1].line}"
            raise InputError(f"{message}, expected rows in order of time", place=place)
        if word == "lost" and (not rows or rows[-1].kind is not Kind.SPOT):
            raise InputError("kind lost, expected it after a row of kind spot", place=place)
        rows.append(_Row(line, time, zone, word))
    return rows
