"""The jobs of campaigns on coupled instances: the hindsight optimum of one, and one policy on the same states."""

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
import online.coupled
from bench.campaign.engine import Job, code_digest, source_digest
from bench.campaign.sources import Source
from instances import InputError, SelfCheckError
from instances.coupled import Instance
from instances.textio import read_bytes
from online.coupled.runs import run_policy

__all__ = ["Options", "optima_job", "optimum_job", "policy_job", "schedule_path", "simulate"]


#: Schedules of optima are kept up to this many slots: enough to draw, and 6,000 of them fit a small disk.
_KEPT_SLOTS = 2_000


@dataclass(frozen=True, slots=True)
class Options:
    """What a campaign does with every instance.

    Parameters
    ----------
    estimator, service, ties
        As in `online.run_policy`.
    solver, time_limit_s
        As in `offline.solve`. Ratios need the optimum with ``stand_by``, which bounds every scheduler; a policy may
        well beat the one without (a choice made anew leaves complete programs behind).
    seed
        Seed of policies that draw; every run derives its own from it and the instance.
    check_slots
        How many slots of a run the checker replays, from the first; None: all of them.
    """

    estimator: str = "printed"
    service: str = "index"
    ties: str = "lowest"
    solver: str = "auto"
    time_limit_s: float | None = None
    seed: int = 0
    check_slots: int | None = None


def optimum_job(source: Source, options: Options, folder: Path) -> Job:
    """Return the job that finds the hindsight optimum and keeps its checked schedule in ``folder``."""
    key = _key("offline", "optimum", source.identity, options.solver, options.time_limit_s)
    arguments = (source, options, schedule_path(folder, key))
    return Job(key, f"optimum of {source.name}", _optimum, arguments, group=source.identity)


def optima_job(source: Source, options: Options, settings: tuple[bool, ...]) -> Job:
    """Return the job that finds the optimum in one or both settings of ``stand_by``; the states are drawn once.

    Its row has a part for each setting, named ``stand_by`` and ``no_stand_by``.
    """
    key = _key("offline", "optima", source.identity, options.solver, options.time_limit_s, settings)
    return Job(key, f"optima of {source.name}", _optima, (source, options, settings))


def policy_job(source: Source, policy: str, options: Options) -> Job:
    """Return the job that runs one policy; a user's own counts by the content of its file."""
    content = _digest_of_own(policy)
    how = (options.estimator, options.service, options.ties, options.seed, options.check_slots)
    key = _key("online", "run", source.identity, policy, content, *how)
    return Job(key, f"{policy} on {source.name}", _run, (source, policy, options), group=source.identity)


def _digest_of_own(policy: str) -> str:
    """Return the digest of the source of a user's own policy; nothing for those of the paper.

    That is its file, or all of the package that its entry point is in.
    """
    path, _, _ = policy.rpartition(":")
    if path:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    if policy not in online.coupled.POLICIES:
        for point in entry_points(group="hindsched.policies", name=policy):
            spec = find_spec(point.module.partition(".")[0])
            if spec is not None:
                return source_digest(*map(Path, spec.submodule_search_locations or [str(spec.origin)]))
    return ""


def schedule_path(folder: Path, key: str) -> Path:
    """Return where the schedule of an optimum is kept."""
    return folder / "schedules" / f"{key[:16]}.json"


def _key(package: str, *parts: object) -> str:
    """Return the key of a row that depends on ``package``, and on ``instances``."""
    return hashlib.sha256(repr((code_digest("instances", package), *parts)).encode()).hexdigest()


_loaded: dict[str, Instance] = {}


def _load(source: Source) -> Instance:
    """Load an instance once for all its neighbouring jobs, who then share the states drawn so far."""
    if source.identity not in _loaded:
        _loaded.clear()
        _loaded[source.identity] = source.load()
    return _loaded[source.identity]


def _optimum(source: Source, options: Options, path: Path) -> dict[str, Any]:
    instance = _load(source)
    result = _solve(instance, options, stand_by=True)
    if result.schedule is not None and result.schedule.slots <= _KEPT_SLOTS:
        path.parent.mkdir(parents=True, exist_ok=True)
        instances.write_schedule(result.schedule, path)
    return {"kind": "optimum", **_names(source, instance), "stand_by": True, **_answer(result, options)}


def _optima(source: Source, options: Options, settings: tuple[bool, ...]) -> dict[str, Any]:
    instance = _load(source)
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
    names = {"setting": source.setting, "instance": source.name, "point": source.point}
    return {**names, "fingerprint": instance.fingerprint, "slot_limit": instance.slots}


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


def simulate(
    instance: Instance, policy: str, options: Options, *, engine: str = "auto", seed: int | None = None
) -> online.coupled.Run:
    """Run a policy with the given seed, by default the one that this campaign and instance give it."""
    with redirect_stdout(sys.stderr):  # what a policy prints is no result
        return run_policy(
            instance,
            policy,
            estimator=options.estimator,
            service=options.service,
            ties=options.ties,
            seed=_policy_seed(instance, options) if seed is None else seed,
            schedule_slots=options.check_slots,
            engine=engine,
        )


def _policy_seed(instance: Instance, options: Options) -> int:
    digest = hashlib.sha256(f"{options.seed}:{instance.fingerprint}".encode()).digest()
    return int.from_bytes(digest[:6], "little")


def _run(source: Source, policy: str, options: Options) -> dict[str, Any]:
    instance = _load(source)
    begun = time.monotonic()
    try:
        run = simulate(instance, policy, options)
    except InputError as error:
        raise error.in_file(source.name) from None
    runtime_s = time.monotonic() - begun
    checked = _replay(instance, run, f"{policy} on {source.name}")
    return {
        "kind": "run",
        **_names(source, instance),
        "policy": policy,
        "estimator": options.estimator,
        "service": options.service,
        "ties": options.ties,
        "seed": _policy_seed(instance, options),
        "makespan": run.makespan,
        "iterations": run.iterations,
        "slots": run.slots,
        "check": "valid",
        "checked_slots": checked,
        "runtime_s": round(runtime_s, 6),
    }


def _replay(instance: Instance, run: online.coupled.Run, who: str) -> int:
    """Let the checker replay the schedule of a run, as far as it goes; return how many slots that is."""
    verdict = instances.check(instance, run.schedule)
    is_whole = run.schedule.slots == run.slots
    agrees = not is_whole or (verdict.outcome.makespan, verdict.outcome.iterations) == (run.makespan, run.iterations)
    if not verdict.is_valid or not agrees:
        raise SelfCheckError(f"{who}: claims makespan {run.makespan}, the checker says: {verdict}")
    return run.schedule.slots
