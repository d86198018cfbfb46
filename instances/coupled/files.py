"""File formats of instances and schedules (docs/model.md sections 1 and 4), read and written exactly.

``coupled/1`` contains every state. ``coupled/2`` contains what they are drawn from, so a million slots take a few
lines: the ``markov`` chain of each worker, and ``"states": {"key": [...], "slots": N}`` next to the workers (see
`hindsched.instances.state_sources.DrawnStates`). ``schedule/1`` is a schedule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from hindsched.instances import states as st
from hindsched.instances.chains import Chain
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import Configuration, Schedule
from hindsched.instances.errors import InputError
from hindsched.instances.state_sources import STARTS, DrawnStates
from hindsched.instances.text_files import convert, excerpt, expect_format, format_document

__all__ = [
    "INSTANCE_FORMATS",
    "SCHEDULE_FORMATS",
    "read_instance",
    "read_schedule",
    "write_instance",
    "write_schedule",
]

INSTANCE_FORMATS = ("coupled/1", "coupled/2")
SCHEDULE_FORMATS = ("schedule/1",)

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Positive = Annotated[int, msgspec.Meta(ge=1)]
_Row = tuple[float, float, float]
_INDEX = re.compile("0|[1-9][0-9]{0,9}")


class _WorkerFile(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    w: _Positive
    mu: _Count | None
    states: str
    markov: tuple[_Row, _Row, _Row] | None = None
    name: str | None = None
    past: str | None = None


class _Application(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    tasks: _Positive
    iterations: _Positive
    n_com: _Positive | None
    t_prog: _Count
    t_data: _Count


class _InstanceFile(_Application, forbid_unknown_fields=True):
    workers: list[_WorkerFile]


class _DrawnWorkerFile(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    w: _Positive
    mu: _Count | None
    markov: tuple[_Row, _Row, _Row]
    name: str | None = None
    past: str | None = None


class _DrawFile(msgspec.Struct, forbid_unknown_fields=True):
    key: list[str | int]
    slots: _Positive
    start: str = STARTS[0]


class _DrawnInstanceFile(_Application, forbid_unknown_fields=True):
    states: _DrawFile
    workers: list[_DrawnWorkerFile]


class _ConfigurationFile(msgspec.Struct, forbid_unknown_fields=True):
    slot: _Count
    tasks: dict[str, Any]


class _ScheduleFile(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    instance: str
    letters: list[str]
    configurations: list[_ConfigurationFile]


def read_instance(document: dict[str, Any]) -> Instance:
    """Return the instance of a parsed file.

    Parameters
    ----------
    document
        The JSON object of a file with format ``coupled/1`` (docs/model.md section 1) or ``coupled/2``.

    Raises
    ------
    InputError
        If keys are unknown or missing, a letter is unknown, a number is negative or not an integer, lengths differ, a
        row of ``markov`` does not sum to 1, or m exceeds the sum of mu. The message names the worker and the field.
    """
    expect_format(document, INSTANCE_FORMATS)
    file: _InstanceFile | _DrawnInstanceFile
    if document["format"] == "coupled/1":
        file = convert(document, _InstanceFile)
        chains = [None if worker.markov is None else _chain(q, worker.markov) for q, worker in enumerate(file.workers)]
        states: st.States | DrawnStates = st.from_letters([worker.states for worker in file.workers])
    else:
        file = convert(document, _DrawnInstanceFile)
        drawn = [_chain(q, worker.markov) for q, worker in enumerate(file.workers)]
        chains = [*drawn]
        states = _drawn(drawn, file.states)
    names = [worker.name for worker in file.workers]
    return Instance(
        tasks=file.tasks,
        iterations=file.iterations,
        n_com=file.n_com,
        t_prog=file.t_prog,
        t_data=file.t_data,
        w=tuple(worker.w for worker in file.workers),
        mu=tuple(worker.mu for worker in file.workers),
        states=states,
        chains=tuple(chains),
        names=tuple(name or f"worker {q}" for q, name in enumerate(names)) if any(names) else (),
        past=_past([worker.past for worker in file.workers]),
    )


def _past(letters: Sequence[str | None]) -> st.States | None:
    """Return the states before slot 0, or None if no worker has them."""
    if not any(letters):
        return None
    try:
        return st.from_letters([row or "" for row in letters])
    except InputError as error:
        raise InputError(error.expected, place=(error.place or "").replace("states", "past")) from None


def _drawn(chains: Sequence[Chain], file: _DrawFile) -> DrawnStates:
    try:
        return DrawnStates(chains, file.key, file.slots, start=file.start)
    except InputError as error:
        raise InputError(error.expected, place=f"states.{error.place}") from None


def _chain(q: int, rows: tuple[_Row, _Row, _Row]) -> Chain:
    try:
        return Chain(rows)
    except InputError as error:
        raise InputError(error.expected, place=f"workers[{q}].{error.place}") from None


def write_instance(instance: Instance) -> str:
    """Return the text of an instance's file, one worker per line; `read_instance` returns an equal instance.

    The format is ``coupled/2`` if the states are drawn from the workers' own chains, otherwise ``coupled/1``.
    """
    source = instance.source
    document: dict[str, Any] = {
        "format": "coupled/1",
        "tasks": instance.tasks,
        "iterations": instance.iterations,
        "n_com": instance.n_com,
        "t_prog": instance.t_prog,
        "t_data": instance.t_data,
    }
    rows = [None if chain is None else chain.rows for chain in instance.chains]
    workers: list[dict[str, Any]] = [{"w": w, "mu": mu} for w, mu in zip(instance.w, instance.mu, strict=True)]
    if isinstance(source, DrawnStates) and source.chains == instance.chains:
        document |= {"format": "coupled/2", "states": {"key": source.key, "slots": instance.slots}}
        if source.start != STARTS[0]:
            document["states"]["start"] = source.start
    else:
        for worker, letters in zip(workers, st.to_letters(instance.states), strict=True):
            worker["states"] = letters
    for worker, markov in zip(workers, rows, strict=True):
        if markov is not None:
            worker["markov"] = markov
    for worker, name in zip(workers, instance.names, strict=False):
        worker["name"] = name
    if instance.past is not None:
        for worker, letters in zip(workers, st.to_letters(instance.past.prefix(instance.past.shape[1])), strict=True):
            worker["past"] = letters
    return format_document(document | {"workers": workers}, ["workers"])


def read_schedule(document: dict[str, Any]) -> Schedule:
    """Return the schedule of a parsed file with format ``schedule/1`` (docs/model.md section 4).

    `hindsched.instances.check` decides whether it obeys the rules.

    Raises
    ------
    InputError
        If the file does not have this form. The message names the place.
    """
    expect_format(document, SCHEDULE_FORMATS)
    head = convert(document, _ScheduleFile)
    entries = [_configuration(entry, i) for i, entry in enumerate(head.configurations)]
    return Schedule(head.instance, tuple(head.letters), tuple(entries))


def _configuration(entry: _ConfigurationFile, i: int) -> Configuration:
    tasks: dict[int, int] = {}
    for key, count in entry.tasks.items():
        if not _INDEX.fullmatch(key):
            raise InputError(f"worker {excerpt(key)}, expected a 0-based index", place=f"configurations[{i}].tasks")
        tasks[int(key)] = convert(count, _Count, f"configurations[{i}].tasks[{key}]")
    return Configuration(entry.slot, tasks)


def write_schedule(schedule: Schedule) -> str:
    """Return the text of a schedule's file: one line per worker, then one line per configuration."""
    document = {
        "format": SCHEDULE_FORMATS[0],
        "instance": schedule.instance,
        "letters": schedule.letters,
        "configurations": (
            {"slot": entry.slot, "tasks": {str(q): x for q, x in entry.tasks.items()}}
            for entry in schedule.configurations
        ),
    }
    return format_document(document, ["letters", "configurations"])
