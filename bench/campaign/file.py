"""A campaign as a small file: which instances, which policies, under which readings.

::

    policies = ["all", "mine.py:Fastest"]
    estimators = ["printed", "conditional"]

    [[instances]]
    m = [5, 10]
    n_com = [5, 10, 20]
    wmin = [1, 2, 3]
    scenarios = 10
    trials = 10
    slots = 1_000_000

    [[instances]]
    files = ["spot.json"]

Every key but ``instances`` may be left out. Paths are relative to the file.
"""

from __future__ import annotations

import os
import tomllib
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

import online.coupled
from bench.campaign.jobs import Options
from bench.campaign.plan import Campaign
from bench.campaign.sources import Paper, Source, from_file
from instances.errors import InputError
from instances.sources import STARTS
from instances.textio import convert, read_bytes
from online.coupled.criteria import TIES

__all__ = ["read_campaign"]

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Seed = Annotated[int, msgspec.Meta(ge=0)]


class _Points(msgspec.Struct, forbid_unknown_fields=True):
    """Draws of the paper's generator, or files."""

    m: list[_Count] = []
    n_com: list[_Count | Literal["none"]] = []
    wmin: list[_Count] = []
    scenarios: _Count = 10
    trials: _Count = 10
    slots: _Count = 1_000_000
    p: _Count = 20
    iterations: _Count = 10
    mu: _Count | None = None
    start: str = STARTS[0]
    seed: _Seed = 0
    files: list[str] = []


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """What a campaign file may say."""

    instances: list[_Points]
    policies: tuple[str, ...] = ("all",)
    estimators: tuple[str, ...] = ("printed",)
    services: tuple[str, ...] = ("index",)
    ties: tuple[str, ...] = ("lowest",)
    solver: str = "auto"
    time_limit_s: Annotated[float, msgspec.Meta(gt=0)] | None = 60.0
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
    for i, points in enumerate(file.instances):
        try:
            sources += _sources(points, folder)
        except InputError as error:
            place = f"instances[{i}]" + (f".{error.place}" if error.place else "")
            raise InputError(error.expected, place=place, file=error.file) from None
    if not sources:
        raise InputError("no instance, expected at least one", place="instances")
    policies = [_beside(folder, policy) for policy in file.policies]
    policies = [each for policy in policies for each in (online.coupled.POLICIES if policy == "all" else (policy,))]
    readings = [
        Options(
            estimator=estimator,
            service=service,
            ties=ties,
            solver=file.solver,
            time_limit_s=file.time_limit_s,
            seed=file.seed,
            check_slots=file.check_slots,
        )
        for estimator, service, ties in product(file.estimators, file.services, file.ties)
    ]
    if not (policies and readings):
        raise InputError("nothing to run, expected at least one policy, estimator, service and order of ties")
    for name, values, known in (
        ("estimators", file.estimators, online.coupled.ESTIMATORS),
        ("services", file.services, online.coupled.SERVICES),
        ("ties", file.ties, TIES),
    ):
        for value in values:
            if value not in known:
                raise InputError(f"{value!r}, expected one of {', '.join(known)}", place=name)
    for policy in policies:
        online.coupled.make_policy(policy, estimator=file.estimators[0])
    return Campaign(sources, list(dict.fromkeys(policies)), readings)


def _sources(points: _Points, folder: Path) -> list[Source]:
    if points.files:
        return [from_file(folder / name) for name in points.files]
    for name in ("m", "n_com", "wmin"):
        if not getattr(points, name):
            raise InputError("missing or empty, expected a list of integers >= 1, or files", place=name)
    if points.start not in STARTS:
        raise InputError(f"{points.start!r}, expected one of {', '.join(STARTS)}", place="start")
    return [
        Paper(
            m,
            None if n_com == "none" else n_com,
            wmin,
            scenario,
            trial,
            points.slots,
            points.seed,
            points.p,
            points.iterations,
            points.mu,
            points.start,
        )
        for m, n_com, wmin, scenario, trial in product(
            points.m, points.n_com, points.wmin, range(points.scenarios), range(points.trials)
        )
    ]


def _beside(folder: Path, policy: str) -> str:
    """Return a policy's text with the path of its file made relative to where the user is."""
    path, colon, name = policy.rpartition(":")
    return f"{folder / path}:{name}" if colon and path.endswith(".py") else policy
