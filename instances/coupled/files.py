"""The file forms ``coupled/1`` (instances) and ``schedule/1`` (schedules), read and written exactly."""

from __future__ import annotations

import os
from typing import Annotated, Any

import msgspec

from instances import states as st
from instances.chains import Chain
from instances.coupled.model import Instance
from instances.coupled.schedule import Configuration, Schedule
from instances.errors import InputError
from instances.textio import convert, encode, read_json, write_text

__all__ = ["format_instance", "format_schedule", "read", "read_schedule", "write", "write_schedule"]

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Positive = Annotated[int, msgspec.Meta(ge=1)]
_Row = tuple[float, float, float]


class _WorkerFile(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    w: _Positive
    mu: _Count | None
    states: str
    markov: tuple[_Row, _Row, _Row] | None = None


class _InstanceFile(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    tasks: _Positive
    iterations: _Positive
    n_com: _Positive | None
    t_prog: _Count
    t_data: _Count
    workers: list[_WorkerFile]


class _ConfigurationFile(msgspec.Struct, forbid_unknown_fields=True):
    slot: _Count
    tasks: dict[str, _Count]


class _ScheduleFile(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    instance: str
    letters: list[str]
    configurations: list[_ConfigurationFile]


def read(path: str | os.PathLike[str]) -> Instance:
    """Read an instance.

    Parameters
    ----------
    path
        A file of the form ``coupled/1`` (MODEL section 1).

    Raises
    ------
    InputError
        Naming the file, the worker and the field: unknown or missing keys, other letters, negative or
        non-integer numbers, unequal lengths, rows of ``markov`` that do not sum to 1, m above the sum of mu.
    """
    document = read_json(path)
    try:
        return _instance(document)
    except InputError as error:
        raise error.in_file(path) from None


def _instance(document: dict[str, Any]) -> Instance:
    _expect_format(document, "coupled/1")
    head = convert(document, _InstanceFile)
    workers = head.workers
    chains: list[Chain | None] = []
    for q, worker in enumerate(workers):
        try:
            chains.append(None if worker.markov is None else Chain(worker.markov))
        except InputError as error:
            raise InputError(error.expected, place=f"workers[{q}].{error.place}") from None
    return Instance(
        tasks=head.tasks,
        iterations=head.iterations,
        n_com=head.n_com,
        t_prog=head.t_prog,
        t_data=head.t_data,
        w=tuple(worker.w for worker in workers),
        mu=tuple(worker.mu for worker in workers),
        states=st.from_letters([worker.states for worker in workers]),
        chains=tuple(chains),
    )


def _expect_format(document: dict[str, Any], name: str) -> None:
    """Ask for the format before all else, so that a file of another kind is told to be one."""
    if "format" not in document:
        raise InputError(f'missing key format, expected "{name}"')
    if document["format"] != name:
        raise InputError(f'{encode(document["format"])}, expected "{name}"', place="format")


def format_instance(instance: Instance) -> str:
    """Return the text of an instance's file: one worker a line, so that a person can read it."""
    head = {
        "format": "coupled/1",
        "tasks": instance.tasks,
        "iterations": instance.iterations,
        "n_com": instance.n_com,
        "t_prog": instance.t_prog,
        "t_data": instance.t_data,
    }
    workers = [
        encode(_WorkerFile(w, mu, letters, None if chain is None else chain.rows))  # type: ignore[arg-type]
        for w, mu, letters, chain in zip(
            instance.w, instance.mu, st.to_letters(instance.states), instance.chains, strict=True
        )
    ]
    return encode(head)[:-1] + ',"workers":[\n' + ",\n".join(workers) + "\n]}\n"


def write(instance: Instance, path: str | os.PathLike[str]) -> None:
    """Write an instance; `read` gives back an equal one. The file appears whole or not at all."""
    write_text(path, format_instance(instance))


def read_schedule(path: str | os.PathLike[str]) -> Schedule:
    """Read a schedule of the form ``schedule/1`` (MODEL section 4).

    Raises
    ------
    InputError
        Naming the file and the place. Whether the schedule obeys the rules is for `instances.check` to say.
    """
    document = read_json(path)
    try:
        _expect_format(document, "schedule/1")
        head = convert(document, _ScheduleFile)
        entries = [_configuration(entry, i) for i, entry in enumerate(head.configurations)]
        return Schedule(head.instance, tuple(head.letters), tuple(entries))
    except InputError as error:
        raise error.in_file(path) from None


def _configuration(entry: _ConfigurationFile, i: int) -> Configuration:
    tasks: dict[int, int] = {}
    for key, count in entry.tasks.items():
        if not (key.isascii() and key.isdigit() and str(int(key)) == key):
            raise InputError(f"worker {key!r}, expected a 0-based index", place=f"configurations[{i}].tasks")
        tasks[int(key)] = count
    return Configuration(entry.slot, tasks)


def format_schedule(schedule: Schedule) -> str:
    """Return the text of a schedule's file: one worker, then one configuration, a line."""
    letters = ",\n".join(encode(row) for row in schedule.letters)
    entries = ",\n".join(
        encode({"slot": entry.slot, "tasks": {str(q): x for q, x in entry.tasks.items()}})
        for entry in schedule.configurations
    )
    head = encode({"format": "schedule/1", "instance": schedule.instance})[:-1]
    return f'{head},"letters":[\n{letters}\n],"configurations":[\n{entries}\n]}}\n'


def write_schedule(schedule: Schedule, path: str | os.PathLike[str]) -> None:
    """Write a schedule; `read_schedule` gives back an equal one. The file appears whole or not at all."""
    write_text(path, format_schedule(schedule))
