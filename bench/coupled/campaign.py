"""A campaign on coupled instances: the hindsight optimum of each, and every policy on the same states."""

from __future__ import annotations

import hashlib
import sys
import time
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import instances
import offline
import online
from bench.coupled.sources import Source
from bench.engine import Job, code_digest
from instances import InputError, Instance, Schedule, SelfCheckError
from instances.textio import read_bytes

__all__ = ["Options", "optima_job", "optimum_job", "policy_job", "schedule_path", "simulate"]


@dataclass(frozen=True, slots=True)
class Options:
    """What a campaign does with every instance.

    Parameters
    ----------
    estimator, service
        As in `online.make_policy` and `online.simulate`.
    solver, time_limit_s
        As in `offline.solve`. Ratios need the optimum with ``stand_by``, which bounds every scheduler; a policy may
        well beat the one without (a choice made anew leaves complete programs behind).
    seed
        Seed of policies that draw; every run derives its own from it and the instance.
    """

    estimator: str = "printed"
    service: str = "index"
    solver: str = "auto"
    time_limit_s: float | None = None
    seed: int = 0


def optimum_job(source: Source, options: Options, folder: Path) -> Job:
    """Return the job that finds the hindsight optimum and keeps its checked schedule in ``folder``."""
    key = _key("optimum", source.identity, options.solver, options.time_limit_s)
    return Job(key, f"optimum of {source.name}", _optimum, (source, options, schedule_path(folder, key)))


def optima_job(source: Source, options: Options, settings: tuple[bool, ...]) -> Job:
    """Return the job that finds the optimum in one or both settings of ``stand_by``; the states are drawn once.

    Its row has a part for each setting, named ``stand_by`` and ``no_stand_by``.
    """
    key = _key("optima", source.identity, options.solver, options.time_limit_s, settings)
    return Job(key, f"optima of {source.name}", _optima, (source, options, settings))


def policy_job(source: Source, policy: str, options: Options) -> Job:
    """Return the job that runs one policy; a user's own counts by the content of its file."""
    content = _digest_of_own(policy)
    key = _key("run", source.identity, policy, content, options.estimator, options.service, options.seed)
    return Job(key, f"{policy} on {source.name}", _run, (source, policy, options))


def _digest_of_own(policy: str) -> str:
    """Return the digest of the file of a user's own policy; nothing for those of the paper."""
    path, _, _ = policy.rpartition(":")
    if not path:
        points = () if policy in online.POLICIES else entry_points(group="hindsight.policies", name=policy)
        specs = (find_spec(point.module) for point in points)
        path = next((spec.origin for spec in specs if spec is not None and spec.origin is not None), "")
    return hashlib.sha256(read_bytes(path)).hexdigest() if path else ""


def schedule_path(folder: Path, key: str) -> Path:
    """Return where the schedule of an optimum is kept."""
    return folder / "schedules" / f"{key[:16]}.json"


def _key(*parts: object) -> str:
    return hashlib.sha256(repr((code_digest(), *parts)).encode()).hexdigest()


def _optimum(source: Source, options: Options, path: Path) -> dict[str, Any]:
    instance = source.load()
    result = _solve(instance, options, stand_by=True)
    if result.schedule is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        instances.write_schedule(result.schedule, path)
    return {"kind": "optimum", **_names(source, instance), "stand_by": True, **_answer(result, options)}


def _optima(source: Source, options: Options, settings: tuple[bool, ...]) -> dict[str, Any]:
    instance = source.load()
    answers = {
        "stand_by" if setting else "no_stand_by": _answer(_solve(instance, options, stand_by=setting), options)
        for setting in settings
    }
    return {"kind": "optima", **_names(source, instance), **answers}


def _solve(instance: Instance, options: Options, *, stand_by: bool) -> offline.Result:
    return offline.solve(
        instance, "makespan", solver=options.solver, stand_by=stand_by, time_limit_s=options.time_limit_s
    )


def _names(source: Source, instance: Instance) -> dict[str, Any]:
    return {"setting": source.setting, "instance": source.name, "fingerprint": instance.fingerprint}


def _answer(result: offline.Result, options: Options) -> dict[str, Any]:
    return {
        "objective": str(result.objective),
        "solver": result.solver,
        "time_limit_s": options.time_limit_s,
        "status": str(result.status),
        "value": result.value,
        "bound": result.bound,
        "check": None if result.schedule is None else "valid",  # or `offline.solve` had raised
        "counts": result.counts,
        "runtime_s": round(result.runtime_s, 6),
    }


def simulate(instance: Instance, policy: str, options: Options) -> online.Run:
    """Run a policy with the seed that this campaign and instance give it."""
    built = online.make_policy(policy, estimator=options.estimator, seed=_policy_seed(instance, options))
    with redirect_stdout(sys.stderr):  # what a policy prints is no result
        return online.simulate(instance, built, service=options.service)


def _policy_seed(instance: Instance, options: Options) -> int:
    digest = hashlib.sha256(f"{options.seed}:{instance.fingerprint}".encode()).digest()
    return int.from_bytes(digest[:6], "little")


def _run(source: Source, policy: str, options: Options) -> dict[str, Any]:
    instance = source.load()
    begun = time.monotonic()
    try:
        run = simulate(instance, policy, options)
    except InputError as error:
        raise error.in_file(source.name) from None
    runtime_s = time.monotonic() - begun
    _replay(instance, run.schedule, run.makespan, f"{policy} on {source.name}")
    return {
        "kind": "run",
        **_names(source, instance),
        "policy": policy,
        "estimator": options.estimator,
        "service": options.service,
        "seed": _policy_seed(instance, options),
        "makespan": run.makespan,
        "iterations": run.iterations,
        "check": "valid",
        "runtime_s": round(runtime_s, 6),
    }


def _replay(instance: Instance, schedule: Schedule, makespan: int | None, who: str) -> None:
    verdict = instances.check(instance, schedule)
    if not verdict.is_valid or verdict.makespan != makespan:
        raise SelfCheckError(f"{who}: claims makespan {makespan}, the checker says: {verdict}")
