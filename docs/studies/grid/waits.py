"""Separate the causes of a decentralised scheduler's waits: from the hindsight optimum step by step to dgs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from docs.studies.grid.made_rows import made_rows
from hindsched import instances, offline
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.grid import Instance
from hindsched.instances.grid.generate import WIDE_MIX, generate
from hindsched.instances.grid.packaged_log import kth_sp2
from hindsched.online.grid import make_policy, run_policy
from hindsched.online.grid.runs import LateCounters

__all__ = ["COLUMNS", "measure"]

COLUMNS = ("place", "policy", "seed", "patience", "jobs", "failed", "total_wait", "max_wait", "messages", "status")
#: Windows of the real log: first jobs, number of jobs, time limit of each optimum in seconds.
_FIRSTS, _COUNT, _LIMIT_S = tuple(range(0, 1_500, 150)), 50, 20.0
#: Generated workloads without the widest jobs: nodes, jobs, load, and neighbours that a node knows.
_NODES, _JOBS, _LOAD, _DEGREE = 300, 600, 0.95, 12
_LOG_DEGREE = 20
#: Slots that a job waits before ``late`` promises it a start; the second value exceeds every wait.
_PATIENCE = (60, 10**9)
_SEEDS = range(5)


def measure(folder: Path) -> list[dict[str, Any]]:
    """Run every scheduler on every workload, and solve the windows of the log.

    Parameters
    ----------
    folder
        Holds the rows, from which a later call resumes.

    Returns
    -------
    list of dict
        A row per run with the names of `COLUMNS`. ``place`` is ``log`` and a window's first job, or ``generated`` and a
        seed. ``policy`` is also ``best`` for the best known schedule and ``bound`` for the proven bound. ``messages``
        are those of push for dgs; forwards, withdrawals and notices for late.
    """
    return made_rows("waits", _rows, _runs(), folder)


def _runs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for place in (*(f"log {first}" for first in _FIRSTS), *(f"generated {seed}" for seed in _SEEDS)):
        is_log = place.startswith("log")
        if is_log:
            yield place, "best", {}
        for policy in ("queue", "easy", "asap_counted", "asap_pinned"):
            yield place, policy, {}
        for seed in _SEEDS if is_log else (int(place.split()[1]),):
            options = {"seed": seed, "degree": _LOG_DEGREE if is_log else _DEGREE}
            yield place, "dgs", options
            for patience in _PATIENCE:
                yield place, "late", {**options, "patience": patience}


def _workload(place: str) -> Instance:
    kind, number = place.split()
    if kind == "log":
        return kth_sp2(slot_s=60, first=int(number), count=_COUNT)
    return generate(nodes=_NODES, slot_s=60, jobs=_JOBS, load=_LOAD, seed=int(number), mix=replace(WIDE_MIX, wide=0.0))


def _rows(place: str, policy: str, more: dict[str, Any]) -> list[dict[str, Any]]:
    instance = _workload(place)
    if policy == "best":
        return _best(place, instance)
    messages: int | None = None
    seed, patience = more.get("seed"), more.get("patience")
    run = run_policy(instance, make_policy(policy, **more))
    if isinstance(run.counters, LateCounters):
        messages = run.counters.forwards + run.counters.withdrawals + run.counters.notices
    elif run.counters is not None:
        messages = run.counters.push
    metrics = run.metrics()
    verdict = instances.check(instance, run.schedule())
    if not verdict.is_valid or verdict.outcome.total_wait != metrics.total_wait:
        raise SelfCheckError(f"{policy} on {place}: the checker says {verdict}")
    values = (place, policy, seed, patience, metrics.jobs, metrics.failed, metrics.total_wait, metrics.max_wait)
    return [dict(zip(COLUMNS, (*values, messages, "run"), strict=True))]


def _best(place: str, instance: Instance) -> list[dict[str, Any]]:
    """Return a row for the best known schedule, which is checked here, and one for the proven bound."""
    answer = offline.solve(instance, time_limit_s=_LIMIT_S)
    verdict = instances.check(instance, answer.schedule)
    if not verdict.is_valid or verdict.outcome.total_wait != answer.value:
        raise SelfCheckError(f"the best schedule on {place}: the checker says {verdict}")
    tail = (None, None, str(answer.status))
    return [
        dict(zip(COLUMNS, (place, name, None, None, len(instance), 0, value, *tail), strict=True))
        for name, value in (("best", answer.value), ("bound", answer.lower))
    ]
