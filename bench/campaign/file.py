"""Campaign files: instances, policies and options.

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

Only ``instances`` is required. Paths are relative to the file; a folder stands for its files ``*.json``. The keys of an
``[[instances]]`` table without ``files`` belong to its ``family`` (default: ``coupled``). ``estimators``, ``services``
and ``ties`` are synonyms of ``options.estimator``, ``options.service`` and ``options.ties``.
"""

from __future__ import annotations

import os
from math import inf
from pathlib import Path
from typing import Annotated

import msgspec

from hindsched.bench.campaign.plan import Campaign, option_combinations
from hindsched.bench.campaign.sources import Source, from_path
from hindsched.bench.family import family_named
from hindsched.bench.run_records import Options
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import convert, decode_toml, read_text

__all__ = ["read_campaign"]

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Seed = Annotated[int, msgspec.Meta(ge=0)]
#: Synonyms of options of a run.
_SHORT = {"estimators": "estimator", "services": "service", "ties": "ties"}


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """The content of a campaign file."""

    instances: list[Row]
    policies: tuple[str, ...] = ("all",)
    options: dict[str, list[str] | str] = {}
    estimators: tuple[str, ...] | None = None
    services: tuple[str, ...] | None = None
    ties: tuple[str, ...] | None = None
    solver: str = "auto"
    time_limit_s: float = 60.0
    policy_time_limit_s: float | None = None
    check_slots: _Count | None = None
    seed: _Seed = 0


def read_campaign(path: str | os.PathLike[str]) -> Campaign:
    """Read a campaign file (TOML).

    Raises
    ------
    InputError
        For an invalid file; the message has the place and what was expected.
    """
    try:
        return _campaign_of(_decoded(path), Path(path).parent)
    except InputError as error:
        raise error.in_file(path) from None


def _decoded(path: str | os.PathLike[str]) -> _File:
    return convert(decode_toml(read_text(path, "a campaign")), _File)


def _campaign_of(file: _File, folder: Path) -> Campaign:
    sources: list[Source] = []
    for i, table in enumerate(file.instances):
        try:
            sources += _sources(table, folder)
        except InputError as error:
            place = f"instances[{i}]" + (f".{error.place}" if error.place else "")
            raise error.at(place) from None
    if not sources:
        raise InputError("no instance, expected at least one", place="instances")
    for name in ("time_limit_s", "policy_time_limit_s"):
        limit_s = getattr(file, name)
        if limit_s is not None and not 0 < limit_s < inf:
            raise InputError(f"{limit_s:g}, expected a finite number above 0", place=name)
    keys = {name: f"options.{name}" for name in file.options}
    choices = {name: [text] if isinstance(text, str) else text for name, text in file.options.items()}
    for key, name in _SHORT.items():
        values = getattr(file, key)
        if values is not None:
            keys[name], choices[name] = key, list(values)
    options = Options(solver=file.solver, time_limit_s=file.time_limit_s, seed=file.seed, check_slots=file.check_slots)
    combinations = option_combinations(options, choices)
    if not (file.policies and combinations):
        raise InputError("nothing to run, expected at least one policy and a value for each option")
    policies = list(dict.fromkeys(_relative_to(folder, policy) for policy in file.policies))
    campaign = Campaign(sources, policies, combinations, file.policy_time_limit_s)
    try:
        campaign.run_plans()  # validates options and policies
    except InputError as error:
        raise error.at(keys.get(error.place or "", error.place)) from None
    return campaign


def _sources(table: Row, folder: Path) -> list[Source]:
    table = dict(table)
    family = family_named(convert(table.pop("family", "coupled"), str, "family"))
    if "files" in table:
        names = convert(table.pop("files"), list[str], "files")
        if table:
            raise InputError("expected no other key with files", place=next(iter(table)))
        return [source for name in names for source in from_path(folder / name)]
    return family.sources(table)


def _relative_to(folder: Path, policy: str) -> str:
    """Return a policy's text, with the path of its file relative to a folder."""
    path, colon, name = policy.rpartition(":")
    return f"{folder / path}:{name}" if colon and path.endswith(".py") else policy
