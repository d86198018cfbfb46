"""The schedule type of the family ``deadline``: runs in zones, of spot or on-demand; format ``deadline-schedule/1``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any, ClassVar, NamedTuple, TypeAlias

from hindsched.instances.errors import InputError
from hindsched.instances.text_files import excerpt, expect_format, expect_integer, format_document, quoted

__all__ = [
    "SCHEDULE_FORMATS",
    "Kind",
    "Placement",
    "Run",
    "Schedule",
    "read_schedule",
    "runs_of",
    "write_schedule",
]

SCHEDULE_FORMATS = ("deadline-schedule/1",)

_KEYS = ("format", "instance", "runs", "finish", "cost")


class Kind(StrEnum):
    """The kind of an instance that computes: one that can be preempted, or one that cannot."""

    SPOT = "s"
    ON_DEMAND = "o"


#: Where the job runs in a slot: zone and kind; None: nowhere.
Placement: TypeAlias = tuple[int, Kind] | None


class Run(NamedTuple):
    """A run: the job is in one placement in slots first, ..., end - 1."""

    first: int
    end: int
    zone: int
    kind: Kind

    @property
    def placement(self) -> tuple[int, Kind]:
        """Zone and kind."""
        return self.zone, self.kind


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as text (docs/deadline/model.md section 3). The checker decides whether it obeys the rules.

    Parameters
    ----------
    instance
        Fingerprint of the instance that the schedule is for; None: unknown.
    runs
        In order of time. Runs of one placement that touch are one run, without a launch between them.
    finish
        Slots until the work is done; None: the deadline is missed.
    cost
        Units of money paid, also if the deadline is missed.
    defect
        The first place in the file that does not have the right form, and the reason; None if there is none.
    """

    family: ClassVar[str] = "deadline"

    instance: str | None
    runs: tuple[Run, ...]
    finish: int | None
    cost: int
    defect: str | None = None


def runs_of(placements: Sequence[Placement]) -> tuple[Run, ...]:
    """Return the runs of the placements of slots 0, 1, ....

    Examples
    --------
    >>> [tuple(run) for run in runs_of([None, (0, Kind.SPOT), (0, Kind.SPOT), (0, Kind.ON_DEMAND)])]
    [(1, 3, 0, <Kind.SPOT: 's'>), (3, 4, 0, <Kind.ON_DEMAND: 'o'>)]
    """
    found = []
    slot = 0
    for placement, slots in groupby(placements):
        end = slot + sum(1 for _ in slots)
        if placement is not None:
            found.append(Run(slot, end, *placement))
        slot = end
    return tuple(found)


def read_schedule(document: dict[str, Any]) -> Schedule:
    """Return the schedule of a parsed file with format ``deadline-schedule/1``.

    A file that does not have the right form is not an error here. It becomes a schedule with a `Schedule.defect`, for
    which the checker reports the rule ``form``.

    Raises
    ------
    InputError
        If the format is unknown.

    Examples
    --------
    >>> text = {"format": "deadline-schedule/1", "instance": None, "runs": [[0, 2, 0, "s"]], "finish": 2, "cost": 9}
    >>> read_schedule(text).runs[0].kind
    <Kind.SPOT: 's'>
    >>> read_schedule({**text, "runs": [[0, 2, 0, "x"]]}).defect
    'runs[0].kind: "x", expected "s" or "o"'
    """
    expect_format(document, SCHEDULE_FORMATS)
    name = document.get("instance")
    fingerprint = name if isinstance(name, str) else None
    try:
        for key in document:
            if key not in _KEYS:
                raise InputError(f"unknown key {excerpt(key)}")
        for key in ("runs", "finish", "cost"):
            if key not in document:
                raise InputError(f"missing key {key}")
        if name is not None and fingerprint is None:
            raise InputError("expected a text", place="instance")
        if not isinstance(document["runs"], list):
            raise InputError("expected a list", place="runs")
        runs = tuple(_run(row, f"runs[{i}]") for i, row in enumerate(document["runs"]))
        finish = document["finish"]
        if finish is not None:
            finish = expect_integer(finish, "finish", "an integer or null")
        cost = expect_integer(document["cost"], "cost")
    except InputError as error:
        return Schedule(fingerprint, (), None, 0, defect=str(error))
    return Schedule(fingerprint, runs, finish, cost)


def _run(row: object, place: str) -> Run:
    if not isinstance(row, list) or len(row) != 4:
        raise InputError("expected [first, end, zone, kind]", place=place)
    first, end, zone = (expect_integer(row[i], f"{place}.{name}") for i, name in enumerate(("first", "end", "zone")))
    if row[3] not in ("s", "o"):
        raise InputError(f'{quoted(row[3])}, expected "s" or "o"', place=f"{place}.kind")
    return Run(first, end, zone, Kind(row[3]))


def write_schedule(schedule: Schedule) -> str:
    """Return the text of a schedule's file, one run per line; `read_schedule` returns an equal schedule."""
    document = {
        "format": SCHEDULE_FORMATS[0],
        "instance": schedule.instance,
        "runs": [[run.first, run.end, run.zone, str(run.kind)] for run in schedule.runs],
        "finish": schedule.finish,
        "cost": schedule.cost,
    }
    return format_document(document, ["runs"])
