"""A campaign as a small file: which instances, which policies, under which readings.

::

    policies = ["all", "mine.py:Fastest"]
    options.estimator = ["printed", "conditional"]

    [[instances]]
    m = [5, 10]
    n_com = [5, 10, 20]
    wmin = [1, 2, 3]
    scenarios = 10
    trials = 10
    slots = 1_000_000

    [[instances]]
    files = ["spot.json"]

Every key but ``instances`` may be left out. Paths are relative to the file. An ``[[instances]]`` table with a key
``family`` asks for draws of that family (``coupled`` where there is none); the other keys are the family's.
``estimators``, ``services`` and ``ties`` say the same as ``options.estimator``, ``options.service`` and
``options.ties``.
"""

from __future__ import annotations

import os
import tomllib
from math import inf
from pathlib import Path
from typing import Annotated, Any

import msgspec

from hindsched.bench.campaign.plan import Campaign, readings_of
from hindsched.bench.campaign.sources import Source, from_file
from hindsched.bench.family import family_named
from hindsched.bench.run_records import Options
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import convert, read_bytes

__all__ = ["read_campaign"]

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Seed = Annotated[int, msgspec.Meta(ge=0)]
#: Keys that say the same as an option of the run.
_SHORT = {"estimators": "estimator", "services": "service", "ties": "ties"}


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """What a campaign file may say."""

    instances: list[dict[str, Any]]
    policies: tuple[str, ...] = ("all",)
    options: dict[str, list[str] | str] = {}
    estimators: tuple[str, ...] | None = None
    services: tuple[str, ...] | None = None
    ties: tuple[str, ...] | None = None
    solver: str = "auto"
    time_limit_s: float = 60.0
    check_slots: _Count | None = None
    seed: _Seed = 0


def read_campaign(path: str | os.PathLike[str]) -> Campaign:
    """Read a campaign file (TOML).

    Raises
    ------
    InputError
        In one line, naming the file, the place and what was expected.
    """
    try:
        return _campaign(_decoded(path), Path(path).parent)
    except InputError as error:
        raise error.in_file(path) from None


def _decoded(path: str | os.PathLike[str]) -> _File:
    raw = read_bytes(path)
    try:
        document: dict[str, Any] = tomllib.loads(raw.decode())
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError("not UTF-8, expected TOML text", place=f"line {line}") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}") from None
    return convert(document, _File)


def _campaign(file: _File, folder: Path) -> Campaign:
    sources: list[Source] = []
    for i, table in enumerate(file.instances):
        try:
            sources += _sources(table, folder)
        except InputError as error:
            place = f"instances[{i}]" + (f".{error.place}" if error.place else "")
            raise error.at(place) from None
    if not sources:
        raise InputError("no instance, expected at least one", place="instances")
    if not 0 < file.time_limit_s < inf:
        raise InputError(f"{file.time_limit_s:g}, expected a finite number above 0", place="time_limit_s")
    keys = {name: f"options.{name}" for name in file.options}
    choices = {name: [text] if isinstance(text, str) else text for name, text in file.options.items()}
    for key, name in _SHORT.items():
        values = getattr(file, key)
        if values is not None:
            keys[name], choices[name] = key, list(values)
    options = Options(solver=file.solver, time_limit_s=file.time_limit_s, seed=file.seed, check_slots=file.check_slots)
    readings = readings_of(options, choices)
    if not (file.policies and readings):
        raise InputError("nothing to run, expected at least one policy, and a value for each option")
    campaign = Campaign(sources, list(dict.fromkeys(_beside(folder, policy) for policy in file.policies)), readings)
    try:
        campaign.jobs(folder)  # refuses options and policies before any work is done
    except InputError as error:
        raise error.at(keys.get(error.place or "", error.place)) from None
    return campaign


def _sources(table: dict[str, Any], folder: Path) -> list[Source]:
    table = dict(table)
    family = family_named(convert(table.pop("family", "coupled"), str, "family"))
    if "files" in table:
        names = convert(table.pop("files"), list[str], "files")
        if table:
            raise InputError("expected no other key beside files", place=next(iter(table)))
        return [from_file(folder / name) for name in names]
    return family.sources(table)


def _beside(folder: Path, policy: str) -> str:
    """Return a policy's text with the path of its file made relative to where the user is."""
    path, colon, name = policy.rpartition(":")
    return f"{folder / path}:{name}" if colon and path.endswith(".py") else policy
