"""The file forms of instances: ``batches/1`` spells out all intervals, ``batches/2`` names what they are drawn from."""

from __future__ import annotations

import re
from dataclasses import asdict, fields
from typing import Annotated, Any

import msgspec

from hindsched.instances.batches.availability import Availability
from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.volunteers import VolunteerParameters, Volunteers
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import convert, encode, expect_format

__all__ = ["INSTANCE_FORMATS", "read_instance", "write_instance"]

#: The forms that an instance's file may have.
INSTANCE_FORMATS = ("batches/1", "batches/2")

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Positive = Annotated[int, msgspec.Meta(ge=1)]
_Pair = tuple[int, int]
_WITHIN = re.compile(r"((?:workers\[\d+\]\.up|batches)\[\d+\])\[\d+\]")
_HABITS = tuple(field.name for field in fields(VolunteerParameters))


class _WorkerFile(msgspec.Struct, forbid_unknown_fields=True):
    c: int
    up: list[_Pair]


class _Head(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    format: str
    tasks: int
    batches: list[_Pair]
    compute: str = Compute.AVAILABLE
    start: int = 0


class _InstanceFile(_Head, forbid_unknown_fields=True, kw_only=True):
    workers: list[_WorkerFile]


class _VolunteerFile(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    workers: _Positive
    c: _Positive
    seed: _Count = 0
    homogeneous: bool = False
    habits: dict[str, float | int] = {}


class _DrawnInstanceFile(_Head, forbid_unknown_fields=True, kw_only=True):
    volunteer: _VolunteerFile


def read_instance(document: dict[str, Any]) -> Instance:
    """Return the instance of a parsed file (docs/batches/model.md section 1).

    Parameters
    ----------
    document
        Of the form ``batches/1`` or ``batches/2``.

    Raises
    ------
    InputError
        Naming the place: an unknown or missing key (of a worker: the worker), a number that is no integer, intervals
        or batches that are empty, overlap or are out of order (the interval or batch).
    """
    name = expect_format(document, INSTANCE_FORMATS)
    try:
        if name == "batches/1":
            return _spelled_out(convert(document, _InstanceFile))
        return _drawn(convert(document, _DrawnInstanceFile))
    except InputError as error:
        found_in = _WITHIN.fullmatch(error.place or "")
        if found_in is None:
            raise
        raise InputError(error.expected, place=found_in[1]) from None  # the interval or batch, not one end of it


def _spelled_out(file: _InstanceFile) -> Instance:
    return Instance(
        tasks=file.tasks,
        batches=file.batches,
        c=[worker.c for worker in file.workers],
        up=[worker.up for worker in file.workers],
        start=file.start,
        compute=file.compute,
    )


def _drawn(file: _DrawnInstanceFile) -> Instance:
    drawn = file.volunteer
    for name in drawn.habits:
        if name not in _HABITS:
            raise InputError(f"unknown key {name}, expected one of {', '.join(_HABITS)}", place="volunteer.habits")
    try:
        habits: Any = drawn.habits
        source = Volunteers(drawn.workers, drawn.seed, VolunteerParameters(**habits), drawn.c, drawn.homogeneous)
    except InputError as error:
        raise InputError(error.expected, place=f"volunteer.habits.{error.place}") from None
    return Instance(
        tasks=file.tasks,
        batches=file.batches,
        c=source.c,
        up=source,
        start=file.start,
        compute=file.compute,
    )


def write_instance(instance: Instance) -> str:
    """Return the text of an instance's file: one worker a line, so that a person can read it.

    It is of the form ``batches/2`` where volunteers are drawn and compute as drawn, else ``batches/1``.

    Examples
    --------
    >>> lone = Instance(tasks=1, batches=[(0, 5)], c=[2], up=[[(0, 9)]])
    >>> print(write_instance(lone), end="")
    {"format":"batches/1","tasks":1,"compute":"available","start":0,"batches":[[0,5]],"workers":[
    {"c":2,"up":[[0,9]]}
    ]}
    """
    head: dict[str, Any] = {
        "format": "batches/1",
        "tasks": instance.tasks,
        "compute": str(instance.compute),
        "start": instance.start,
        "batches": instance.batches,
    }
    source = instance.source
    if isinstance(source, Volunteers) and source.c == instance.c:
        head["format"] = "batches/2"
        head["volunteer"] = {
            "workers": source.num_workers,
            "c": source.mean_c,
            "seed": source.seed,
            "homogeneous": source.homogeneous,
            "habits": asdict(source.habits),
        }
        return encode(head) + "\n"
    up: Availability = instance.up
    workers = (encode({"c": c, "up": up.of_worker(j).tolist()}) for j, c in enumerate(instance.c))
    return encode(head)[:-1] + ',"workers":[\n' + ",\n".join(workers) + "\n]}\n"
