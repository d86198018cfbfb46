"""Measure schedules and bounds on windows of a real log within given times."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from docs.studies.grid.made_rows import made_rows
from hindsched import instances, offline
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.grid import Instance
from hindsched.instances.grid.packaged_log import FIRST, JOBS, NODES, kth_sp2
from hindsched.instances.grid.workloads import import_log
from hindsched.offline.limits import by_processor_time
from hindsched.online.grid import run_policy

__all__ = ["COLUMNS", "WINDOWS", "measure"]

#: Windows of the whole log: first job, number of jobs, time limit in seconds.
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
    """Solve each window within its time limit, and check schedule and certificate.

    Parameters
    ----------
    windows
        First job in the whole log, number of jobs, time limit in seconds.
    log
        File with the whole log. None: only the windows within the packaged part.
    folder
        Holds the rows, from which a later call resumes.
    seed
        Seed of the searches.
    is_processor
        Whether limits count processor time, for a machine with other load.

    Returns
    -------
    list of dict
        A row per window with the names of `COLUMNS`. ``rules`` is the total wait of the best queue or conservative
        backfilling, ``value`` that of the best schedule, ``lower`` the proven bound, ``certified`` the bound that the
        certificate proves alone.
    """
    chosen = [(*window, is_processor, log, seed) for window in windows if log is not None or _is_packaged(*window[:2])]
    return made_rows("bounds", _rows, chosen, folder)


def _is_packaged(first: int, count: int) -> bool:
    return first >= FIRST and first + count <= FIRST + JOBS


def _rows(first: int, count: int, limit_s: int, is_processor: bool, log: str | None, seed: int) -> list[dict[str, Any]]:
    instance = _window(first, count, log)
    offline.solve(Instance(2, _SLOT_S, [0, 0, 0], [2, 1, 2], [3, 1, 2]), solver="bounds")  # loads the compiled code
    begun, used = time.monotonic(), time.process_time()
    with by_processor_time() if is_processor else nullcontext():
        answer = offline.solve(instance, time_limit_s=limit_s, seed=seed)
    seconds, processor = time.monotonic() - begun, time.process_time() - used
    verdict = instances.check(instance, answer.schedule)
    if not verdict.is_valid or verdict.outcome.total_wait != answer.value:
        raise SelfCheckError(f"{count} jobs from job {first}: the checker says {verdict}")
    certified = 0
    if answer.certificate is not None:
        proof = instances.check(instance, answer.certificate)
        if not proof.is_valid:
            raise SelfCheckError(f"{count} jobs from job {first}: the checker says {proof}")
        certified = proof.outcome.value
    rules = [run_policy(instance, "asap_counted")]
    rules += [run_policy(instance, "queue", rule=rule) for rule in ("length", "area", "width", "file")]
    row = {
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
    return [row]


def _window(first: int, count: int, log: str | None) -> Instance:
    if _is_packaged(first, count):
        return kth_sp2(slot_s=_SLOT_S, first=first - FIRST, count=count)
    assert log is not None
    return import_log(log, nodes=NODES, slot_s=_SLOT_S, first=first, count=count).instance
