"""Measure satisfied batches by the copies that policies send, and requests by the gain of shifting.

Algorithm 3 is compared at equal copies per task, not at equal requests. More requests per task (`copies_lambda`) let a
policy send more copies; `copies` may send as many copies of a task as requests are made for it, but at least two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from docs.studies.batches.readings import checked_run
from hindsched.bench.batches.experiment import DAYS, TIMES
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key
from hindsched.bench.campaign.journal import Journal
from hindsched.instances.batches import Instance, Volunteers
from hindsched.instances.batches.generate import paper
from hindsched.instances.batches.volunteers import DAY, WEEK
from hindsched.online.batches import Options

__all__ = ["ALL_BATCHES", "BINS", "COLUMNS", "DAMPINGS", "Size", "measure"]

_ALGORITHM_3 = ("A3-copies", "A3-speed", "A3-history")
_REQUESTS = (1, 2, 3, 4, 6)
#: Settings of times in which Algorithm 2 is run.
_TIMES_2 = (TIMES[0], TIMES[2])
#: Divisors of the correction of `A2-shift`.
DAMPINGS = (1, 10, 100)
#: Batches of the runs of Algorithm 2, as in the paper.
ALL_BATCHES = 256
#: Least shares of satisfied tasks by which batches are counted.
BINS = (0.99, 0.95, 0.9)
_HISTORY_WEEKS = 10
COLUMNS = (
    "seed",
    "day",
    "deadline_s",
    "c",
    "policy",
    "copies_lambda",
    "damping",
    "workers",
    "tasks",
    "batches",
    "fed",
    "satisfied_batches",
    *(f"at_least_{round(100 * bar)}" for bar in BINS),
    "satisfied_tasks",
    "copies",
    "requests",
    "requests_by_batch",
)


@dataclass(frozen=True, slots=True)
class Size:
    """Size of the study.

    Parameters
    ----------
    workers, tasks, batches
        W, N and M of the runs of Algorithm 3.
    seeds
        Number of crowds; they take the start dates of the experiment in turn.
    """

    workers: int
    tasks: int
    batches: int
    seeds: int


def measure(folder: Path, size: Size, *, num_processes: int) -> list[dict[str, Any]]:
    """Make the rows that the folder lacks, and return all rows.

    Raises
    ------
    SelfCheckError
        When the checker rejects a run.
    """
    jobs = []
    for seed in range(size.seeds):
        key = job_key("batches", "online", "copies", seed, repr(size))
        jobs.append(Job(key, f"seed {seed}", _rows, (seed, size), group=str(seed)))
    with Journal(folder) as journal:
        run_jobs("batches-copies", jobs, journal, num_processes=num_processes)
        return [row for job in jobs for row in journal[job.key]["rows"]]


def _rows(seed: int, size: Size) -> dict[str, Any]:
    day = DAYS[seed % len(DAYS)]
    volunteers = Volunteers(size.workers, seed)
    longest = max(length for length, _ in TIMES)
    volunteers.covering(day * DAY - _HISTORY_WEEKS * WEEK, day * DAY + ALL_BATCHES * longest)

    def rows() -> Iterator[dict[str, Any]]:
        for times in TIMES:
            head = {"seed": seed, "day": day, "deadline_s": times[0], "c": times[1]}
            instance = _instance(times, day, size.tasks, size.batches, volunteers)
            for copies_lambda in _REQUESTS:
                for policy in _ALGORITHM_3:
                    options = Options(first="spread", copies_lambda=copies_lambda, copies=max(2, copies_lambda))
                    yield head | _row(instance, policy, options)
            if times in _TIMES_2:
                alike = _instance(times, day, size.tasks, ALL_BATCHES, volunteers, homogeneous=True)
                yield head | _row(alike, "A2", Options(first="spread"))
                for damping in DAMPINGS:
                    yield head | _row(alike, "A2-shift", Options(first="spread", damping=damping))

    return {"kind": "copies", "rows": list(rows())}


def _instance(
    times: tuple[int, int], day: int, tasks: int, batches: int, volunteers: Volunteers, *, homogeneous: bool = False
) -> Instance:
    return paper(
        tasks=tasks,
        deadline_s=times[0],
        c=times[1],
        batches=batches,
        first_day=day,
        homogeneous=homogeneous,
        volunteers=volunteers,
    )


def _row(instance: Instance, policy: str, options: Options) -> dict[str, Any]:
    run = checked_run(instance, policy, options)
    tasks, num = instance.tasks, instance.num_batches
    shares, requests = np.array(run.satisfied) / tasks, np.array(run.requests) / tasks
    return {
        "policy": policy,
        "copies_lambda": options.copies_lambda,
        "damping": options.damping,
        "workers": instance.num_workers,
        "tasks": tasks,
        "batches": num,
        "fed": float((requests >= 1).mean()),
        "satisfied_batches": run.satisfied_batches(tasks) / num,
        **{f"at_least_{round(100 * bar)}": float((shares >= bar).mean()) for bar in BINS},
        "satisfied_tasks": float(shares.mean()),
        "copies": sum(run.copies) / (tasks * num),
        "requests": float(requests.mean()),
        "requests_by_batch": " ".join(f"{x:.3g}" for x in requests) if policy.startswith("A2") else "",
    }
