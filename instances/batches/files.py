"""File formats of instances, read strictly and written exactly (docs/batches/model.md section 1).

``batches/1`` contains all intervals. ``batches/2`` contains the seed and the constants from which they are drawn.
"""

from __future__ import annotations

import re
from dataclasses import asdict, fields
from typing import Annotated, Any

import msgspec

from hindsched.instances.batches.availability import Availability
from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.volunteers import VolunteerParameters, Volunteers
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import convert, expect_format, format_document

__all__ = ["INSTANCE_FORMATS", "read_instance", "write_instance"]

#: The formats of an instance's file.
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
    """Return the instance of a parsed file.

    Parameters
    ----------
    document
        The JSON object of a file with format ``batches/1`` or ``batches/2``.

    Raises
    ------
    InputError
        If a key is unknown or missing, a number is not an integer, or intervals or batches are empty, overlap or are
        out of order. The message names the place, such as the worker, interval or batch.
    """
    name = expect_format(document, INSTANCE_FORMATS)
    try:
        if name == "batches/1":
            return _known(convert(document, _InstanceFile))
        return _drawn(convert(document, _DrawnInstanceFile))
    except InputError as error:
        found_in = _WITHIN.fullmatch(error.place or "")
        if found_in is None:
            raise
        raise InputError(error.expected, place=found_in[1]) from None  # the interval or batch, not one of its numbers


def _known(file: _InstanceFile) -> Instance:
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
        inside = "habits." if error.place in _HABITS else ""
        raise InputError(error.expected, place=f"volunteer.{inside}{error.place}") from None
    return Instance(
        tasks=file.tasks,
        batches=file.batches,
        c=source.c,
        up=source,
        start=file.start,
        compute=file.compute,
    )


def write_instance(instance: Instance) -> str:
    """Return the text of an instance's file, one worker per line; `read_instance` returns an equal instance.

    The format is ``batches/2`` if intervals and computing times are those of drawn volunteers, otherwise ``batches/1``.

    Examples
    --------
    >>> lone = Instance(tasks=1, batches=[(0, 5)], c=[2], up=[[(0, 9)]])
    >>> print(write_instance(lone), end="")
    {"format":"batches/1","tasks":1,"compute":"available","start":0,"batches":[[0,5]],"workers":[
    {"c":2,"up":[[0,9]]}
    ]}
    """
    document: dict[str, Any] = {
        "format": "batches/1",
        "tasks": instance.tasks,
        "compute": str(instance.compute),
        "start": instance.start,
        "batches": instance.batches,
    }
    source = instance.source
    if isinstance(source, Volunteers) and source.c == instance.c:
        document["format"] = "batches/2"
        document["volunteer"] = {
            "workers": source.num_workers,
            "c": source.mean_c,
            "seed": source.seed,
            "homogeneous": source.homogeneous,
            "habits": asdict(source.habits),
        }
    else:
        up: Availability = instance.up
        document["workers"] = ({"c": c, "up": up.of_worker(j).tolist()} for j, c in enumerate(instance.c))
    return format_document(document, ["workers"])
