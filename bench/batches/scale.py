"""How long runs on many volunteers take, and what memory they need."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from typing import Any

from hindsched import instances, offline
from hindsched.bench.machine import machine
from hindsched.instances.batches import Instance, Rung, Volunteers
from hindsched.instances.batches.generate import paper
from hindsched.instances.batches.volunteers import DAY
from hindsched.online.batches import Options, run_policy

__all__ = ["COLUMNS", "measure"]

COLUMNS = (
    "step",
    "workers",
    "days",
    "tasks",
    "batches",
    "copies_lambda",
    "amount",
    "of",
    "seconds",
    "us_each",
    "megabytes",
    "peak_megabytes",
    "load",
    "machine",
)
_FIRST_DAY = 153


def measure(*, workers: int, days: int, tasks: int, batches: int, copies_lambda: int) -> list[dict[str, Any]]:
    """Return a row for each step: what was done how often, in how many processor seconds, with what memory.

    ``megabytes`` is what the result itself holds, ``peak_megabytes`` the most that the process ever held, the loaded
    libraries included. ``load`` is how many processes wanted a core in the last minute, this one included: others that
    compute at the same time make processor seconds longer, as they share caches and memory.

    Parameters
    ----------
    workers, days
        Volunteers, and how many days of their availability are drawn.
    tasks, batches, copies_lambda
        N, M (of an hour each, mean computing time half an hour) and q of the runs.
    """
    options = Options(first="spread", copies_lambda=copies_lambda)
    small = _instance(Volunteers(60), 4, 3)
    policies = ("A2", "A3-speed", "booking", "A3-history")
    for policy in policies:
        instances.check(small, run_policy(small, policy, options, engine="kernel").run)
    warm = run_policy(small, "A2", options).run
    for rung in Rung:
        offline.solve(small, rung, of=warm, solver="native")
    rows: list[dict[str, Any]] = []

    def step(name: str, of: str, work: Callable[[], Any], size: Callable[[Any], tuple[int, float | None]]) -> Any:
        begin = time.process_time()
        done = work()
        seconds = time.process_time() - begin
        amount, held = size(done)
        rows.append(
            {
                "step": name,
                "workers": workers,
                "days": days,
                "tasks": tasks,
                "batches": batches,
                "copies_lambda": copies_lambda,
                "amount": amount,
                "of": of,
                "seconds": round(seconds, 2),
                "us_each": round(1e6 * seconds / amount, 3) if amount else None,
                "megabytes": None if held is None else round(held / 1e6, 1),
                "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, 1),
                "load": round(os.getloadavg()[0], 1),
                "machine": machine(),
            }
        )
        return done

    crowd = Volunteers(workers)
    until = _FIRST_DAY * DAY + batches * 3600
    drawn = step(
        "draw",
        "intervals",
        lambda: crowd.covering(max(0, until - days * DAY), until),
        lambda found: (len(found.ups), found.ups.nbytes + found.offsets.nbytes),
    )
    del drawn
    instance = _instance(crowd, tasks, batches)
    for policy in policies:
        run = step(
            f"run {policy}",
            "contacts",
            lambda policy=policy: run_policy(instance, policy, options, engine="kernel"),  # type: ignore[misc]
            lambda found: (
                found.all_contacts,
                float(
                    sum(getattr(found.run.contacts, name).nbytes for name in ("time", "worker", "batch", "task", "end"))
                ),
            ),
        )
    step("replay", "contacts", lambda: instances.check(instance, run.run), lambda _: (run.all_contacts, None))
    for rung in Rung:
        for confirm in (False, True):
            step(
                f"{rung}, replayed" if confirm else str(rung),
                "batches",
                lambda rung=rung, confirm=confirm: offline.solve(instance, rung, of=run.run, confirm=confirm),  # type: ignore[misc]
                lambda _: (batches, None),
            )
    return rows


def _instance(crowd: Volunteers, tasks: int, batches: int) -> Instance:
    return paper(
        workers=crowd.workers,
        tasks=tasks,
        deadline_s=3600,
        c=1800,
        batches=batches,
        first_day=_FIRST_DAY,
        volunteers=crowd,
    )
