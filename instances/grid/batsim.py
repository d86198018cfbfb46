"""Batsim's file formats: workloads as JSON, read and written, and schedules as a table of jobs (docs/grid/model.md)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from hindsched.instances.errors import InputError
from hindsched.instances.grid.model import Instance
from hindsched.instances.grid.schedule import Schedule, node_runs
from hindsched.instances.grid.workloads import instance_from_jobs
from hindsched.instances.text_files import encode, encode_lines, quoted

__all__ = ["COLUMNS", "Workload", "from_batsim", "jobs_csv", "to_batsim"]

#: The columns of Batsim's table of jobs, in its order. The energy stays empty.
COLUMNS = (
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
)
#: Types of a profile that only takes time, in different versions of Batsim.
_DELAYS = ("delay", "DelayProfile")


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload of Batsim as an instance.

    Parameters
    ----------
    instance
        The jobs in order of submission.
    ids
        Name of each job in the file.
    stopped
        Number of jobs that end at their walltime, before their profile does.
    """

    instance: Instance
    ids: tuple[str, ...]
    stopped: int


def from_batsim(document: Mapping[str, Any], *, slot_s: int, nodes: int | None = None) -> Workload:
    """Return the instance of a workload of Batsim.

    Times are rounded up to whole slots, and every job runs at least one slot. Jobs with the same submission time keep
    their order. A job ends with its profile, or at its ``walltime`` if that is shorter; a walltime that is absent, null
    or -1 is no limit. Other content of the file does not change the instance.

    Parameters
    ----------
    document
        The parsed JSON object of the file.
    slot_s
        Seconds of a slot.
    nodes
        M. None: the file's ``nb_res``.

    Raises
    ------
    InputError
        If there is no list of jobs or no job in it, a job has no ``id``, ``subtime`` or ``res``, its ``profile`` does
        not exist or is not a delay, a number is out of range, or two jobs have the same id. The message names the
        place.

    References
    ----------
    https://batsim.readthedocs.io, "Workload".

    Examples
    --------
    >>> text = {"nb_res": 4, "profiles": {"p": {"type": "delay", "delay": 90.5}},
    ...         "jobs": [{"id": "a", "subtime": 61, "res": 2, "profile": "p"}]}
    >>> list(from_batsim(text, slot_s=60).instance.rows())
    [(2, 2, 2)]
    """
    for key, kind in (("jobs", list), ("profiles", dict)):
        if not isinstance(document.get(key), kind):
            raise InputError(f"expected {'a list of jobs' if kind is list else 'an object of profiles'}", place=key)
    if nodes is None and "nb_res" not in document:
        raise InputError("missing, expected it or --nodes", place="nb_res")
    nodes = _count(document, "nb_res", "") if nodes is None else nodes
    rows = []
    stopped = 0
    ids: dict[str, None] = {}
    for i, job in enumerate(document["jobs"]):
        place = f"jobs[{i}]"
        if not isinstance(job, dict):
            raise InputError("expected an object with id, subtime, res and profile", place=place)
        name = str(job["id"]) if type(job.get("id")) in (str, int) else ""
        if not name or name in ids:
            raise InputError(f"{name!r}, expected a name that differs from those of other jobs", place=f"{place}.id")
        ids[name] = None
        run = _delay(document["profiles"], job.get("profile"), f"{place}.profile")
        if job.get("walltime") not in (None, -1):
            walltime = _seconds(job, "walltime", place)
            if walltime == 0:
                raise InputError("0, expected seconds above 0, or -1 for no limit", place=f"{place}.walltime")
            stopped += walltime < run
            run = min(run, walltime)
        width = _count(job, "res", place)
        if width > nodes:
            raise InputError(f"{width}, expected at most {nodes}, the nodes", place=f"{place}.res")
        rows.append((_seconds(job, "subtime", place), run, width, name))
    rows.sort(key=lambda row: row[0])
    instance = instance_from_jobs([row[:3] for row in rows], nodes, slot_s)
    return Workload(instance, tuple(row[3] for row in rows), stopped)


def to_batsim(instance: Instance) -> str:
    """Return the text of a workload for Batsim, with a delay profile per length; jobs are named by their numbers.

    Examples
    --------
    >>> print(to_batsim(Instance(4, 60, [1], [2], [3])), end="")
    {"nb_res":4,"jobs":[
    {"id":"0","subtime":60,"res":2,"profile":"180"}
    ],"profiles":{
    "180":{"type":"delay","delay":180}
    }}
    """
    slot = instance.slot_s
    jobs = encode_lines(
        {"id": str(j), "subtime": r * slot, "res": n, "profile": str(s * slot)}
        for j, (r, n, s) in enumerate(instance.rows())
    )
    profiles = ",\n".join(
        f'"{s * slot}":' + encode({"type": "delay", "delay": s * slot}) for s in sorted(set(instance.length.tolist()))
    )
    return f'{{"nb_res":{instance.nodes},"jobs":{jobs},"profiles":{{\n{profiles}\n}}}}\n'


def jobs_csv(
    instance: Instance, schedule: Schedule, *, ids: tuple[str, ...] | None = None, workload: str = "workload"
) -> str:
    """Return a schedule as Batsim's table of jobs, which evalys reads and draws.

    Parameters
    ----------
    instance, schedule
        An instance and a valid schedule of it.
    ids
        Names of the jobs; None: their numbers.
    workload
        Name of the workload.

    Returns
    -------
    str
        CSV with the columns `COLUMNS` and times in seconds. The requested time is the exact length. A failed job is
        ``REJECTED`` and has no times.
    """
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    slot = instance.slot_s
    for j, ((submit, width, length), entry) in enumerate(
        zip(instance.rows(), schedule.document["allocations"], strict=True)
    ):
        name, profile, r = str(j) if ids is None else ids[j], str(length * slot), submit * slot
        if entry is None:
            times = [0, "REJECTED", "", "", "", "", "", "", ""]
        else:
            start, run = entry[0] * slot, length * slot
            held = " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in node_runs(entry[1]))
            whole = start + run - r
            times = [1, "COMPLETED_SUCCESSFULLY", start, run, start + run, start - r, whole, whole / run, held]
        table.writerow([name, workload, profile, r, width, length * slot, *times, "", ""])
    return out.getvalue()


def _delay(profiles: Mapping[str, Any], name: object, place: str) -> int | Fraction:
    profile = profiles.get(name) if isinstance(name, str) else None
    if not isinstance(profile, dict):
        raise InputError(f"{quoted(name)}, expected the name of a profile", place=place)
    if profile.get("type") not in _DELAYS:
        problem = f"{quoted(profile.get('type'))}, expected delay: other profiles have no length without a platform"
        raise InputError(problem, place=f"profiles.{name}.type")
    return _seconds(profile, "delay", f"profiles.{name}")


def _seconds(owner: Mapping[str, Any], key: str, place: str) -> int | Fraction:
    """Return the exact number of the file: 0.1 means one tenth, because ``repr`` of a float is its shortest decimal."""
    value = owner.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
        found = (str(value) if isinstance(value, float) else quoted(value)) if key in owner else "missing"
        raise InputError(f"{found}, expected seconds, 0 or more", place=f"{place}.{key}")
    return value if isinstance(value, int) else Fraction(repr(value))


def _count(owner: Mapping[str, Any], key: str, place: str) -> int:
    value = owner.get(key)
    if type(value) is not int or value < 1:
        found = quoted(value) if key in owner else "missing"
        raise InputError(f"{found}, expected an integer >= 1", place=f"{place}.{key}".lstrip("."))
    return value
