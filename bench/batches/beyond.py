"""The master that books its calls beside the paper's, on crowds of several kinds, each held against the rungs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hindsched import instances, offline
from hindsched.bench.batches.family import expect_sandwich
from hindsched.bench.batches.paper.runs import TIMES
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key
from hindsched.bench.campaign.journal import Journal
from hindsched.instances.batches import Habits, Instance, Rung, Volunteers
from hindsched.instances.batches.generate import paper
from hindsched.instances.errors import SelfCheckError
from hindsched.online.batches import Options, run_policy

__all__ = ["COLUMNS", "CROWDS", "compare"]

#: Kinds of volunteers: as drawn for the paper; nine tenths with a daily rhythm; away for days at a time.
CROWDS = {"paper": Habits(), "daily": Habits(daily=0.9), "long": Habits(cycle_s=2 * 86_400.0)}
#: Masters, and the requests per task that they ask for.
MASTERS = (
    ("A1", 2),
    ("A2", 2),
    ("A2-shift", 2),
    ("A3-copies", 2),
    ("A3-speed", 2),
    ("A3-history", 2),
    ("A3-speed", 4),
    ("A3-history", 4),
    ("booking", 2),
    ("booking", 3),
    ("booking", 4),
)
COLUMNS = (
    "crowd",
    "deadline_s",
    "c",
    "policy",
    "copies_lambda",
    "workers",
    "tasks",
    "batches",
    "satisfied_batches",
    "stream_batches",
    "free_batches",
    "satisfied_tasks",
    "stream_tasks",
    "copies_per_task",
    "contacts",
    "most_contacts",
)


def compare(
    folder: Path, *, workers: int, tasks: int, batches: int, seed: int, num_processes: int
) -> list[dict[str, Any]]:
    """Make every row that the folder does not hold yet, and return all.

    Parameters
    ----------
    folder
        Receives ``runs.jsonl``, from which a later call goes on.
    workers, tasks, batches, seed
        W, N, M, and what names the volunteers.
    num_processes
        As for `hindsched.bench.campaign.engine.run_jobs`.

    Raises
    ------
    SelfCheckError
        When the checker refuses a run, or a rung allows less than the next.
    """
    jobs = []
    for crowd, times in product(CROWDS, TIMES):
        if crowd == "paper" or times == TIMES[2]:
            key = job_key("batches", "online", "beyond", crowd, times, workers, tasks, batches, seed)
            text = f"{crowd}, D = {times[0]}, C = {times[1]}"
            jobs.append(Job(key, text, _rows, (crowd, times, workers, tasks, batches, seed), group=crowd))
    with Journal(folder) as journal:
        run_jobs("booking", jobs, journal, num_processes=num_processes)
        return [row for job in jobs for row in journal[job.key]["rows"]]


def _rows(crowd: str, times: tuple[int, int], workers: int, tasks: int, batches: int, seed: int) -> dict[str, Any]:
    deadline_s, c = times
    instance = paper(
        workers=workers,
        tasks=tasks,
        deadline_s=deadline_s,
        c=c,
        batches=batches,
        first_day=153,
        volunteers=Volunteers(workers, seed, CROWDS[crowd]),
    )
    free = offline.solve(instance, Rung.FREE).certificate
    head = {"crowd": crowd, "deadline_s": deadline_s, "c": c, "workers": workers, "tasks": tasks, "batches": batches}
    return {"kind": "beyond", "rows": [head | row for row in _of_masters(instance, free)]}


def _of_masters(instance: Instance, free: Any) -> Iterator[dict[str, Any]]:
    tasks, num = instance.tasks, instance.num_batches
    for policy, copies_lambda in MASTERS:
        run = run_policy(instance, policy, Options(first="spread", copies_lambda=copies_lambda))
        verdict = instances.check(instance, run.run)
        if not verdict.is_valid or verdict.outcome.satisfied != run.satisfied:
            raise SelfCheckError(f"{policy}: the checker says {verdict}")
        stream = offline.solve(instance, Rung.STREAM, of=run.run).certificate
        expect_sandwich(policy, {Rung.FREE: free, Rung.STREAM: stream}, run)
        satisfied = run.satisfied_tasks
        contacts = np.array(run.contacts) / tasks
        yield {
            "policy": policy,
            "copies_lambda": copies_lambda,
            "satisfied_batches": run.satisfied_batches(tasks) / num,
            "stream_batches": sum(count == tasks for count in stream.satisfied) / num,
            "free_batches": sum(count == tasks for count in free.satisfied) / num,
            "satisfied_tasks": satisfied / (tasks * num),
            "stream_tasks": sum(stream.satisfied) / (tasks * num),
            "copies_per_task": sum(run.copies) / satisfied if satisfied else None,
            "contacts": float(contacts.mean()),
            "most_contacts": float(contacts[num // 4 :].max()),  # when the begin is over
        }
