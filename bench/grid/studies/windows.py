"""Bounds on windows of a real log: how good a schedule and how good a bound are found in a given time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from hindsched import instances, offline
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key
from hindsched.bench.campaign.journal import Journal
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.grid import Instance
from hindsched.instances.grid.kth_sp2 import FIRST, JOBS, NODES, kth_sp2
from hindsched.instances.grid.workloads import import_log
from hindsched.offline.limits import by_processor_time
from hindsched.online.grid import run_policy

__all__ = ["COLUMNS", "WINDOWS", "measure"]

#: First job, jobs, seconds: windows of the whole log.
WINDOWS = (
    (9_000, 60, 60),
    (15_000, 80, 60),
    (20_000, 120, 120),
    (12_000, 300, 300),
    (12_000, 1_000, 300),
    (10_000, 10_000, 600),
)
COLUMNS = (
    "first",
    "jobs",
    "limit_s",
    "clock",
    "rules",
    "value",
    "lower",
    "certified",
    "status",
    "seconds",
    "processor_s",
)
_SLOT_S = 60


def measure(
    windows: Sequence[tuple[int, int, int]], log: str | None, folder: Path, seed: int, *, is_processor: bool = False
) -> list[dict[str, Any]]:
    """Solve each window within its time, and let the checker judge schedule and certificate.

    Parameters
    ----------
    windows
        First job of the whole log, jobs, seconds.
    log
        The whole log; None: only the windows that lie in what comes with the toolkit.
    folder
        Keeps the rows.
    seed
        Of the searches.
    is_processor
        Whether the seconds of a window are those of the processor, for a machine that others use too.

    Returns
    -------
    list of dict
        By window: the names of `COLUMNS`; ``rules`` is the total wait of the best of the queues and conservative
        backfilling, ``value`` and ``lower`` are the best schedule and what is proven, ``certified`` what the
        certificate proves by itself.
    """
    chosen = [window for window in windows if log is not None or _is_packaged(*window[:2])]
    jobs = [
        Job(
            job_key("grid", "offline", "windows", first, count, limit_s, is_processor, seed),
            f"{count} jobs from {first} on",
            _row,
            (first, count, limit_s, is_processor, log, seed),
        )
        for first, count, limit_s in chosen
    ]
    with Journal(folder) as journal:
        run_jobs("bounds", jobs, journal, num_processes=1, dask=None)
        return [dict(journal[job.key]) for job in jobs]


def _is_packaged(first: int, count: int) -> bool:
    return first >= FIRST and first + count <= FIRST + JOBS


def _row(first: int, count: int, limit_s: int, is_processor: bool, log: str | None, seed: int) -> dict[str, Any]:
    instance = _window(first, count, log)
    offline.solve(Instance(2, _SLOT_S, [0, 0, 0], [2, 1, 2], [3, 1, 2]), solver="bounds")  # loads the machine code
    begun, used = time.monotonic(), time.process_time()
    with by_processor_time() if is_processor else nullcontext():
        answer = offline.solve(instance, time_limit_s=limit_s, seed=seed)
    seconds, processor = time.monotonic() - begun, time.process_time() - used
    verdict = instances.check(instance, answer.schedule)
    if not verdict.is_valid or verdict.outcome.total_wait != answer.value:
        raise SelfCheckError(f"{count} jobs from {first} on: the checker says {verdict}")
    certified = 0
    if answer.certificate is not None:
        proof = instances.check(instance, answer.certificate)
        if not proof.is_valid:
            raise SelfCheckError(f"{count} jobs from {first} on: the checker says {proof}")
        certified = proof.outcome.value
    rules = [run_policy(instance, "asap_counted")]
    rules += [run_policy(instance, "queue", rule=rule) for rule in ("length", "area", "width", "file")]
    return {
        "kind": "windows",
        "first": first,
        "jobs": count,
        "limit_s": limit_s,
        "clock": "processor" if is_processor else "wall",
        "rules": min(run.metrics().total_wait for run in rules),
        "value": answer.value,
        "lower": answer.lower,
        "certified": certified,
        "status": str(answer.status),
        "seconds": round(seconds, 1),
        "processor_s": round(processor, 1),
    }


def _window(first: int, count: int, log: str | None) -> Instance:
    if _is_packaged(first, count):
        return kth_sp2(slot_s=_SLOT_S, first=first - FIRST, count=count)
    assert log is not None
    return import_log(log, nodes=NODES, slot_s=_SLOT_S, first=first, count=count).instance
