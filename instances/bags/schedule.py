"""The schedule type of the family ``bags``: runs of copies and saves on demand; the file format ``bags-schedule/1``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, TypeAlias

from hindsched.instances.errors import InputError
from hindsched.instances.text_files import excerpt, expect_format, expect_integer, format_document

__all__ = ["SCHEDULE_FORMATS", "Instant", "Run", "Save", "Schedule", "read_schedule", "write_schedule"]

SCHEDULE_FORMATS = ("bags-schedule/1",)

#: Exact ticks since the start.
Instant: TypeAlias = int | Fraction

_KEYS = ("format", "instance", "runs", "saves", "turnaround")
_RATIONAL = re.compile(r"(-?[0-9]{1,40})/([0-9]{1,40})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Run:
    """A run: a copy of a task on a machine, without a slot DOWN.

    Parameters
    ----------
    machine, task
        Indices of machine and task.
    start, end
        The copy is on the machine in [start, end).
    origin
        State from which it starts: completed segments, plus the completed part of the next one. ``from`` in the file.
    """

    machine: int
    task: int
    start: Instant
    end: Instant
    origin: Instant


@dataclass(frozen=True, slots=True)
class Save:
    """A save on demand of the state that the copy on a machine has reached by an instant."""

    machine: int
    instant: Instant


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as text (docs/bags/model.md section 5). The checker decides whether it obeys the rules.

    Parameters
    ----------
    instance
        Fingerprint of the instance that the schedule is for; None: unknown.
    runs, saves
        In any order. States at ends of segments are saved automatically and are not listed.
    turnaround
        T, the last completion rounded up to a tick; None: not all tasks are completed.
    defect
        The first place in the file that does not have the right form, and the reason; None if there is none.
    """

    family: ClassVar[str] = "bags"

    instance: str | None
    runs: tuple[Run, ...]
    saves: tuple[Save, ...] = ()
    turnaround: int | None = None
    defect: str | None = None


def read_schedule(document: dict[str, Any]) -> Schedule:
    """Return the schedule of a parsed file with format ``bags-schedule/1``.

    A file that does not have the right form is not an error here. It becomes a schedule with a `Schedule.defect`, for
    which the checker reports the rule ``form``.

    Raises
    ------
    InputError
        If the format is unknown.

    Examples
    --------
    >>> text = {"format": "bags-schedule/1", "runs": [[0, 0, 3, "19/2", [1, "1/2"]]], "saves": [], "turnaround": 10}
    >>> read_schedule(text).runs[0].end, read_schedule(text).runs[0].origin
    (Fraction(19, 2), Fraction(3, 2))
    >>> read_schedule({**text, "runs": [[0, 0, 3, 4.5, 0]]}).defect
    'runs[0].end: 4.5, expected an integer or a text like "7/2"'
    """
    expect_format(document, SCHEDULE_FORMATS)
    name = document.get("instance")
    fingerprint = name if isinstance(name, str) else None
    try:
        for key in document:
            if key not in _KEYS:
                raise InputError(f"unknown key {excerpt(key)}")
        if name is not None and fingerprint is None:
            raise InputError("expected a text", place="instance")
        runs = tuple(_run(row, f"runs[{i}]") for i, row in enumerate(_list(document, "runs")))
        saves = tuple(_save(row, f"saves[{i}]") for i, row in enumerate(_list(document, "saves")))
        if "turnaround" not in document:
            raise InputError("missing key turnaround")
        turnaround = document["turnaround"]
        if turnaround is not None:
            turnaround = expect_integer(turnaround, "turnaround", "an integer or null")
    except InputError as error:
        return Schedule(fingerprint, (), defect=str(error))
    return Schedule(fingerprint, runs, saves, turnaround)


def _list(document: dict[str, Any], key: str) -> list[Any]:
    if key not in document:
        raise InputError(f"missing key {key}")
    rows = document[key]
    if not isinstance(rows, list):
        raise InputError("expected a list", place=key)
    return rows


def _run(row: object, place: str) -> Run:
    if not isinstance(row, list) or len(row) != 5:
        raise InputError("expected [machine, task, start, end, from]", place=place)
    machine, task = (expect_integer(row[i], f"{place}.{name}") for i, name in enumerate(("machine", "task")))
    start, end = (_rational(row[i], f"{place}.{name}") for i, name in ((2, "start"), (3, "end")))
    return Run(machine, task, start, end, _origin(row[4], f"{place}.from"))


def _origin(value: object, place: str) -> Instant:
    if not isinstance(value, list):
        return expect_integer(value, place, 'an integer or [segments, "a/b"]')
    if len(value) != 2:
        raise InputError('expected an integer or [segments, "a/b"]', place=place)
    segments, part = expect_integer(value[0], f"{place}[0]"), _rational(value[1], f"{place}[1]")
    if not 0 <= part < 1:
        raise InputError(f"{part}, expected a part of a segment, at least 0 and below 1", place=f"{place}[1]")
    return segments + part


def _save(row: object, place: str) -> Save:
    if not isinstance(row, list) or len(row) != 2:
        raise InputError("expected [machine, instant]", place=place)
    return Save(expect_integer(row[0], f"{place}.machine"), _rational(row[1], f"{place}.instant"))


def _rational(value: object, place: str) -> Instant:
    if isinstance(value, str):
        match = _RATIONAL.fullmatch(value)
        if match and int(match[2]):
            return _plain(Fraction(int(match[1]), int(match[2])))
    return expect_integer(value, place, 'an integer or a text like "7/2"')


def _plain(number: Instant) -> Instant:
    return number.numerator if number.denominator == 1 else number


def write_schedule(schedule: Schedule) -> str:
    """Return the text of a schedule's file, one run or save per line.

    If the schedule has no defect, `read_schedule` returns an equal schedule.
    """
    document = {
        "format": SCHEDULE_FORMATS[0],
        "instance": schedule.instance,
        "runs": (
            [run.machine, run.task, _text(run.start), _text(run.end), _origin_text(run.origin)] for run in schedule.runs
        ),
        "saves": ([save.machine, _text(save.instant)] for save in schedule.saves),
        "turnaround": schedule.turnaround,
    }
    return format_document(document, ["runs", "saves"])


def _text(number: Instant) -> int | str:
    return number.numerator if number.denominator == 1 else f"{number.numerator}/{number.denominator}"


def _origin_text(origin: Instant) -> object:
    segments = floor(origin)
    return segments if origin == segments else [segments, _text(origin - segments)]
