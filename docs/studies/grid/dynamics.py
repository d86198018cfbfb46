"""Measure what node failures, cancellations and concurrent searches cost dgs, and how bursts load a grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from docs.studies.grid.made_rows import made_rows
from hindsched import instances
from hindsched.bench.grid.experiment import MIXES
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.grid import Instance
from hindsched.instances.grid.generate import BURSTS, POISSON, WIDE_MIX, generate
from hindsched.online.grid import Dgs, Run, run_policy

__all__ = ["BURST_COLUMNS", "COLUMNS", "OPTIONS", "burst_rows", "event_rows"]

#: Options of dgs that differ between runs.
OPTIONS = ("overlay", "mtbf", "restarts", "cancel_percent", "latency", "retries")
_COUNTERS = ("push", "pull", "refusals", "moved", "lost_runs", "lost_slots")
_CAUSES = ("failed_reach", "failed_stale", "failed_lost", "cancelled")
COLUMNS = (*OPTIONS, "seed", "jobs", "area", "common", "wait", "wait_before", *_CAUSES, *_COUNTERS)
BURST_COLUMNS = ("mix", "arrivals", "seed", "jobs", "days", "days_above_1", "most_requested", "failed", "mean_wait_s")

#: Workloads of event runs: nodes, jobs and load, without jobs wider than a neighbourhood.
_NODES, _JOBS, _LOAD, _SEEDS = 1_000, 6_000, 0.8, 8
_DAY_SLOTS = 1_440
#: Mean days until a node fails, by overlay.
_MTBF_DAYS = {"static": (100, 30, 10, 3), "cyclon": (30, 3)}
_BURST_LOAD, _BURST_SEEDS = 0.28, {"wide": 5, "narrow": 2}


def _settings() -> Iterator[dict[str, Any]]:
    for overlay, means in _MTBF_DAYS.items():
        yield {"overlay": overlay}
        yield from ({"overlay": overlay, "mtbf": days * _DAY_SLOTS} for days in means)
    yield from ({"mtbf": 10 * _DAY_SLOTS, "restarts": restarts} for restarts in (0, 10))
    yield from ({"cancel_percent": percent} for percent in (10, 20, 40))
    yield from ({"latency": slots, "retries": most} for slots, most in product((1, 5), (0, 3)))


def event_rows(folder: Path) -> list[dict[str, Any]]:
    """Run dgs with events and without them on the same workloads.

    Parameters
    ----------
    folder
        Holds the rows, from which a later call resumes.

    Returns
    -------
    list of dict
        A row per setting and seed with the names of `COLUMNS`. ``common`` counts the jobs that run to their end both in
        this run and in the run of the same overlay without events; ``wait`` and ``wait_before`` are their total waits
        in slots in the two runs. ``area`` is that of all jobs in node-slots.
    """
    return made_rows("dynamics", _event_row, product(range(_SEEDS), _settings()), folder)


@lru_cache(maxsize=2)
def _workload(seed: int) -> Instance:
    return generate(nodes=_NODES, jobs=_JOBS, load=_LOAD, seed=seed, mix=replace(WIDE_MIX, wide=0.0))


@lru_cache(maxsize=4)
def _before(seed: int, overlay: str) -> Run:
    return run_policy(_workload(seed), Dgs(overlay=overlay, seed=seed), engine="kernel")


def _event_row(seed: int, options: dict[str, Any]) -> list[dict[str, Any]]:
    policy = Dgs(**options, seed=seed)
    run, before = run_policy(_workload(seed), policy, engine="kernel"), _before(seed, policy.overlay)
    _expect_valid(run)
    both = (run.starts >= 0) & (before.starts >= 0)
    assert run.counters is not None
    counts = asdict(run.counters)
    row = {
        **{name: getattr(policy, name) for name in OPTIONS},
        "seed": seed,
        "jobs": len(run.instance),
        "area": run.instance.area,
        "common": int(both.sum()),
        "wait": int((run.starts - run.instance.submit)[both].sum()),
        "wait_before": int((before.starts - run.instance.submit)[both].sum()),
        **{name: counts.get(name, 0) for name in (*_CAUSES, *_COUNTERS)},
    }
    return [row]


def _expect_valid(run: Run) -> None:
    verdict, metrics = instances.check(run.instance, run.schedule()), run.metrics()
    if not verdict.is_valid or verdict.outcome.total_wait != metrics.total_wait:
        raise SelfCheckError(f"{run.policy}: the checker says {verdict}")


def burst_rows(folder: Path) -> list[dict[str, Any]]:
    """Run dgs on workloads of the paper's size and lower load, with a Poisson process and with bursts.

    Parameters
    ----------
    folder
        Holds the rows, from which a later call resumes.

    Returns
    -------
    list of dict
        A row per mix, kind of arrivals and seed with the names of `BURST_COLUMNS`. ``most_requested`` is the largest
        requested utilisation of a day, ``days_above_1`` the number of days on which it is above 1.
    """
    runs = ((mix, kind, seed) for mix in MIXES for kind in ("poisson", "bursts") for seed in range(_BURST_SEEDS[mix]))
    return made_rows("bursts", _burst_row, runs, folder)


def _burst_row(mix: str, kind: str, seed: int) -> list[dict[str, Any]]:
    distribution, count = MIXES[mix]
    arrivals = POISSON if kind == "poisson" else BURSTS
    instance = generate(jobs=count, load=_BURST_LOAD, seed=seed, mix=distribution, arrivals=arrivals)
    run = run_policy(instance, Dgs(seed=seed), engine="kernel")
    _expect_valid(run)
    metrics, used = run.metrics(), run.utilisation(_DAY_SLOTS)
    last = int(instance.submit[-1]) // _DAY_SLOTS + 1
    requested = used.requested[:last] / used.capacity
    ran = metrics.jobs - metrics.failed
    row = {
        "mix": mix,
        "arrivals": kind,
        "seed": seed,
        "jobs": count,
        "days": last,
        "days_above_1": int(np.count_nonzero(requested > 1)),
        "most_requested": round(float(requested.max()), 3),
        "failed": metrics.failed,
        "mean_wait_s": round(instance.slot_s * metrics.total_wait / ran, 2),
    }
    return [row]
