"""Measure time and memory of runs on many volunteers."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from docs.studies.machine import machine
from hindsched import instances, offline
from hindsched.instances.batches import Instance, Rung, Volunteers
from hindsched.instances.batches.generate import paper
from hindsched.instances.batches.volunteers import DAY
from hindsched.online.batches import Options, run_policy

__all__ = ["COLUMNS", "Size", "measure"]

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
_POLICIES = ("A2", "A3-speed", "booking", "A3-history")
_CONTACT_ARRAYS = ("time", "worker", "batch", "task", "end")


@dataclass(frozen=True, slots=True)
class Size:
    """Size of the instance.

    Parameters
    ----------
    workers, days
        Volunteers, and days of their availability to draw.
    tasks, batches
        N and M; batches take an hour, and half an hour is the mean computing time.
    copies_lambda
        Requests per task.
    """

    workers: int
    days: int
    tasks: int
    batches: int
    copies_lambda: int


class _Steps:
    """Rows of the measured steps."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.rows: list[dict[str, Any]] = []

    def run(
        self, name: str, of: str, work: Callable[[], Any], amount: Callable[[Any], tuple[int, float | None]]
    ) -> Any:
        """Run and time a step; ``amount`` returns the number of its items, and the bytes that its result holds."""
        begin = time.process_time()
        done = work()
        seconds = time.process_time() - begin
        items, held = amount(done)
        self.rows.append(
            {
                "step": name,
                **asdict(self.size),
                "amount": items,
                "of": of,
                "seconds": round(seconds, 2),
                "us_each": round(1e6 * seconds / items, 3) if items else None,
                "megabytes": None if held is None else round(held / 1e6, 1),
                "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, 1),
                "load": round(os.getloadavg()[0], 1),
                "machine": machine(),
            }
        )
        return done


def measure(size: Size) -> list[dict[str, Any]]:
    """Return a row per step: number of items, processor seconds and memory.

    ``megabytes`` is the size of the result, ``peak_megabytes`` the peak of the process, loaded libraries included.
    ``load`` is the load average of the last minute, this process included: other processes share caches and memory
    bandwidth, so processor seconds grow with it.
    """
    options = Options(first="spread", copies_lambda=size.copies_lambda)
    _warm_up(options)
    steps = _Steps(size)
    crowd = Volunteers(size.workers)
    until = _FIRST_DAY * DAY + size.batches * 3600
    steps.run(
        "draw",
        "intervals",
        lambda: crowd.covering(max(0, until - size.days * DAY), until),
        lambda drawn: (len(drawn.ups), drawn.ups.nbytes + drawn.offsets.nbytes),
    )
    instance = _instance(crowd, size.tasks, size.batches)
    for policy in _POLICIES:
        run = steps.run(
            f"run {policy}",
            "contacts",
            lambda policy=policy: run_policy(instance, policy, options, engine="kernel"),  # type: ignore[misc]
            lambda run: (
                run.all_contacts,
                float(sum(getattr(run.run.contacts, name).nbytes for name in _CONTACT_ARRAYS)),
            ),
        )
    steps.run("replay", "contacts", lambda: instances.check(instance, run.run), lambda _: (run.all_contacts, None))
    for rung in Rung:
        for confirm in (False, True):
            steps.run(
                f"{rung}, replayed" if confirm else str(rung),
                "batches",
                lambda rung=rung, confirm=confirm: offline.solve(instance, rung, of=run.run, confirm=confirm),  # type: ignore[misc]
                lambda _: (size.batches, None),
            )
    return steps.rows


def _warm_up(options: Options) -> None:
    """Run every step once on a small instance, so that no compilation is measured."""
    small = _instance(Volunteers(60), 4, 3)
    for policy in _POLICIES:
        instances.check(small, run_policy(small, policy, options, engine="kernel").run)
    run = run_policy(small, "A2", options).run
    for rung in Rung:
        offline.solve(small, rung, of=run, solver="native")


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
