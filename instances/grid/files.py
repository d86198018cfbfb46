"""The file format ``grid/1`` of instances, read strictly and written exactly (docs/grid/model.md section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindsched.instances.errors import InputError
from hindsched.instances.grid.model import FIELDS, LATEST, Instance
from hindsched.instances.text_files import expect_integer, format_document, quoted

__all__ = ["INSTANCE_FORMATS", "read_instance", "write_instance"]

#: The formats of an instance's file.
INSTANCE_FORMATS = ("grid/1",)

_KEYS = ("format", "nodes", "slot_s", "jobs")


def read_instance(document: Mapping[str, Any]) -> Instance:
    """Return the instance of a parsed file.

    Parameters
    ----------
    document
        The JSON object of a file with format ``grid/1``.

    Raises
    ------
    InputError
        If the format is unknown, a key is missing or unknown, ``nodes`` or ``slot_s`` is not an integer >= 1, an entry
        of ``jobs`` is not three integers, a submission is negative or before the previous one, a width is outside 1 to
        M, or a length is below 1. The message names the place.

    Examples
    --------
    >>> read_instance({"format": "grid/1", "nodes": 2, "slot_s": 60, "jobs": [[0, 1, 5]]})
    Instance(nodes=2, slot_s=60)
    >>> read_instance({"format": "grid/1", "nodes": 2, "slot_s": 60, "jobs": [[0, 1, 5], [0, 3, 5]]})
    Traceback (most recent call last):
        ...
    hindsched.instances.errors.InputError: jobs[1].width: 3, expected an integer from 1 to 2, the nodes
    """
    if "format" not in document:
        raise InputError('missing key, expected "grid/1"', place="format")
    if document["format"] not in INSTANCE_FORMATS:
        raise InputError(f'{quoted(document["format"])}, expected "grid/1"', place="format")
    for key in document:
        if key not in _KEYS:
            raise InputError(f"unknown key, expected {', '.join(_KEYS)}", place=key)
    for key in _KEYS:
        if key not in document:
            raise InputError("missing key", place=key)
    for key in ("nodes", "slot_s"):
        expect_integer(document[key], key, "an integer >= 1")
    jobs = document["jobs"]
    if not isinstance(jobs, list):
        raise InputError(f"{quoted(jobs)}, expected a list of jobs, [submit, width, length] each", place="jobs")
    for j, job in enumerate(jobs):
        if not isinstance(job, list) or len(job) != 3 or any(type(number) is not int for number in job):
            raise InputError(f"{quoted(job)}, expected three integers, [submit, width, length]", place=f"jobs[{j}]")
        for name, number in zip(FIELDS, job, strict=True):
            if abs(number) >= LATEST:
                raise InputError(f"{quoted(number)}, expected an integer below {LATEST}", place=f"jobs[{j}].{name}")
    submit, width, length = zip(*jobs, strict=True) if jobs else ((), (), ())
    return Instance(document["nodes"], document["slot_s"], submit, width, length)


def write_instance(instance: Instance) -> str:
    """Return the text of an instance's file, one job per line; `read_instance` returns an equal instance.

    Examples
    --------
    >>> print(write_instance(Instance(2, 60, [0, 1], [1, 2], [5, 1])), end="")
    {"format":"grid/1","nodes":2,"slot_s":60,"jobs":[
    [0,1,5],
    [1,2,1]
    ]}
    """
    document = {
        "format": INSTANCE_FORMATS[0],
        "nodes": instance.nodes,
        "slot_s": instance.slot_s,
        "jobs": instance.rows(),
    }
    return format_document(document, ["jobs"])
