"""The file forms of the family, read strictly and written exactly (docs/grid/model.md sections 1 and 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindsched.instances.errors import InputError
from hindsched.instances.grid.model import FIELDS, LATEST, Instance
from hindsched.instances.text_files import quoted

__all__ = ["INSTANCE_FORMATS", "read_instance", "write_instance"]

#: What the key ``format`` of an instance may say.
INSTANCE_FORMATS = ("grid/1",)

_KEYS = ("format", "nodes", "slot_s", "jobs")


def read_instance(document: Mapping[str, Any]) -> Instance:
    """Return the instance that a file of the form ``grid/1`` holds.

    Parameters
    ----------
    document
        The file's JSON object, decoded.

    Raises
    ------
    InputError
        Naming the place: another format, a missing or unknown key (its place is the key), a number that is no
        integer, ``nodes`` or ``slot_s`` below 1, an entry of ``jobs`` that is not three integers, negative or falling
        submissions, a width outside 1 to M, a length below 1.

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
        if type(document[key]) is not int:
            raise InputError(f"{quoted(document[key])}, expected an integer >= 1", place=key)
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
    """Return the text of an instance's file: one job a line, so that a person can read it.

    Examples
    --------
    >>> print(write_instance(Instance(2, 60, [0, 1], [1, 2], [5, 1])), end="")
    {"format":"grid/1","nodes":2,"slot_s":60,"jobs":[
    [0,1,5],
    [1,2,1]
    ]}
    """
    head = f'{{"format":"grid/1","nodes":{instance.nodes},"slot_s":{instance.slot_s},"jobs":['
    lines = ",\n".join(f"[{r},{n},{s}]" for r, n, s in instance.rows())
    return f"{head}\n{lines}\n]}}\n" if lines else f"{head}]}}\n"
