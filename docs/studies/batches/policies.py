"""Compare the policy `booking` with the paper's and the hindsight optima on several kinds of volunteers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hindsched import instances, offline
from hindsched.bench.batches.experiment import TIMES
from hindsched.bench.batches.hindsight_order import expect_ordered
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key
from hindsched.bench.campaign.journal import Journal
from hindsched.instances.batches import Instance, Rung, VolunteerParameters, Volunteers
from hindsched.instances.batches.generate import paper
from hindsched.instances.errors import SelfCheckError
from hindsched.offline.batches import Hindsight
from hindsched.online.batches import Options, run_policy

__all__ = ["COLUMNS", "CROWDS", "Size", "compare"]

#: Kinds of volunteers: as drawn for the paper; nine tenths with a daily rhythm; absences of days.
CROWDS = {
    "paper": VolunteerParameters(),
    "daily": VolunteerParameters(daily=0.9),
    "long": VolunteerParameters(cycle_s=2 * 86_400.0),
}
#: Policies, and the requests per task that they ask for.
POLICIES = (
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
    "seed",
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


@dataclass(frozen=True, slots=True)
class Size:
    """Size of the study.

    Parameters
    ----------
    workers, tasks, batches
        W, N and M.
    seeds
        Number of crowds of each kind.
    """

    workers: int
    tasks: int
    batches: int
    seeds: int


def compare(folder: Path, size: Size, *, num_processes: int) -> list[dict[str, Any]]:
    """Make the rows that the folder lacks, and return all rows.

    Parameters
    ----------
    folder
        Holds ``runs.jsonl``, from which a later call resumes.
    size
        Size of the study.
    num_processes
        As for `hindsched.bench.campaign.engine.run_jobs`.

    Raises
    ------
    SelfCheckError
        When the checker rejects a run, or the hindsight optima are not ordered.
    """
    jobs = []
    for seed, crowd, times in product(range(size.seeds), CROWDS, TIMES):
        if crowd == "paper" or times == TIMES[2]:
            key = job_key("batches", "online", "policies", seed, crowd, times, repr(size))
            text = f"seed {seed}, {crowd}, D = {times[0]}, C = {times[1]}"
            jobs.append(Job(key, text, _rows, (seed, crowd, times, size), group=crowd))
    with Journal(folder) as journal:
        run_jobs("batches-policies", jobs, journal, num_processes=num_processes)
        return [row for job in jobs for row in journal[job.key]["rows"]]


def _rows(seed: int, crowd: str, times: tuple[int, int], size: Size) -> dict[str, Any]:
    deadline_s, c = times
    instance = paper(
        workers=size.workers,
        tasks=size.tasks,
        deadline_s=deadline_s,
        c=c,
        batches=size.batches,
        first_day=153,
        volunteers=Volunteers(size.workers, seed, CROWDS[crowd]),
    )
    free = offline.solve(instance, Rung.FREE).certificate
    head = {"crowd": crowd, "seed": seed, "deadline_s": deadline_s, "c": c, "workers": size.workers}
    head |= {"tasks": size.tasks, "batches": size.batches}
    return {"kind": "policies", "rows": [head | row for row in _rows_of_policies(instance, free)]}


def _rows_of_policies(instance: Instance, free: Hindsight) -> Iterator[dict[str, Any]]:
    tasks, num = instance.tasks, instance.num_batches
    for policy, copies_lambda in POLICIES:
        run = run_policy(instance, policy, Options(first="spread", copies_lambda=copies_lambda))
        verdict = instances.check(instance, run.run)
        if not verdict.is_valid or verdict.outcome.satisfied != run.satisfied:
            raise SelfCheckError(f"{policy}: the checker says {verdict}")
        stream = offline.solve(instance, Rung.STREAM, of=run.run).certificate
        expect_ordered(policy, {Rung.FREE: free, Rung.STREAM: stream}, run)
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
            "most_contacts": float(contacts[num // 4 :].max()),  # without the transient at the start
        }
