"""Measure what three unstated details of the paper decide: requests per task, first calls, and overdue batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindsched import instances, offline
from hindsched.bench.batches.experiment import TIMES
from hindsched.bench.batches.hindsight_order import expect_ordered
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key
from hindsched.bench.campaign.journal import Journal
from hindsched.instances.batches import Instance, Rung, Volunteers
from hindsched.instances.batches.generate import paper
from hindsched.instances.batches.volunteers import DAY, WEEK
from hindsched.instances.errors import SelfCheckError
from hindsched.online.batches import Options, Simulation, run_policy

__all__ = ["COLUMNS", "Size", "checked_run", "measure"]

COLUMNS = (
    "question",
    "deadline_s",
    "c",
    "workers",
    "tasks",
    "batches",
    "policy",
    "first",
    "copies_lambda",
    "overdue",
    "runs",
    "fed",
    "satisfied_batches",
    "satisfied_tasks",
    "stream_batches",
    "stream_tasks",
    "copies_per_task",
    "stuck",
)
_ALGORITHM_3 = ("A3-copies", "A3-speed", "A3-history")
_FIRST_DAY = 153
#: Size of each crowd of the third question.
_WORKERS, _TASKS, _BATCHES = 400, 16, 12


@dataclass(frozen=True, slots=True)
class Size:
    """Size of the study.

    Parameters
    ----------
    workers, tasks, batches
        W, N and M of the first two questions.
    crowds
        Crowds of 400 volunteers for the third question.
    seed
        Seed of the volunteers.
    """

    workers: int
    tasks: int
    batches: int
    crowds: int
    seed: int


def measure(folder: Path, size: Size, *, num_processes: int) -> list[dict[str, Any]]:
    """Make the rows that the folder lacks, and return all rows.

    Question ``requests``: what do the hindsight optimum and Algorithm 3 achieve with lambda(N) and with lambda(2 N)
    requests, where D - S is eight times the mean computing time? Question ``begin``: how many batches get enough
    requests under Algorithm 2 if all first calls come at once, or spread over a period? Question ``closing``: in how
    many runs does Algorithm 3 get stuck if a batch stays open after its deadline?

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
    given = (size.workers, size.tasks, size.batches, size.seed)
    questions: list[tuple[str, Any, tuple[Any, ...]]] = [
        ("requests", _requests, given),
        ("begin", _first_calls, given),
        *((f"closing {crowd}", _overdue, (size.seed + crowd,)) for crowd in range(size.crowds)),
    ]
    jobs = [
        Job(job_key("batches", "online", "readings", name, *given), name, work, given, group=name.split()[0])
        for name, work, given in questions
    ]
    with Journal(folder) as journal:
        run_jobs("batches-readings", jobs, journal, num_processes=num_processes)
        rows = [row for job in jobs for row in journal[job.key]["rows"]]
    return [row for row in rows if row["question"] != "closing"] + _means_over_crowds(rows)


def _means_over_crowds(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the means of the third question's runs by policy and option."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["question"] == "closing":
            groups.setdefault((row["policy"], row["overdue"]), []).append(row)
    return [
        mine[0]
        | {"runs": len(mine), "deadline_s": None, "c": None, "copies_per_task": None}
        | {name: sum(row[name] for row in mine) / len(mine) for name in ("fed", "satisfied_batches", "satisfied_tasks")}
        | {"stuck": sum(row["stuck"] for row in mine)}
        for mine in groups.values()
    ]


def _instance(times: tuple[int, int], volunteers: Volunteers, tasks: int, batches: int) -> Instance:
    return paper(
        tasks=tasks,
        deadline_s=times[0],
        c=times[1],
        batches=batches,
        first_day=_FIRST_DAY,
        volunteers=volunteers,
    )


def _requests(workers: int, tasks: int, batches: int, seed: int) -> dict[str, Any]:
    instance = _instance(TIMES[1], Volunteers(workers, seed), tasks, batches)

    def rows() -> Iterator[dict[str, Any]]:
        for copies_lambda in (1, 2):
            for policy in _ALGORITHM_3:
                options = Options(first="spread", copies_lambda=copies_lambda)
                run = checked_run(instance, policy, options)
                stream = offline.solve(instance, Rung.STREAM, of=run.run).certificate
                expect_ordered(policy, {Rung.STREAM: stream}, run)
                yield _row("requests", TIMES[1], instance, run, options) | {
                    "stream_batches": sum(count == tasks for count in stream.satisfied) / batches,
                    "stream_tasks": sum(stream.satisfied) / (tasks * batches),
                }

    return {"kind": "readings", "rows": list(rows())}


def _first_calls(workers: int, tasks: int, batches: int, seed: int) -> dict[str, Any]:
    rows = []
    crowd = Volunteers(workers, seed)
    # draws the availability for all four settings once
    crowd.covering(_FIRST_DAY * DAY - WEEK, _FIRST_DAY * DAY + batches * max(length for length, _ in TIMES))
    for times in TIMES:
        instance = _instance(times, crowd, tasks, batches)
        for first in ("start", "spread"):
            options = Options(first=first)
            rows.append(_row("begin", times, instance, checked_run(instance, "A2", options), options))
    return {"kind": "readings", "rows": rows}


def _overdue(seed: int) -> dict[str, Any]:
    times = TIMES[seed % len(TIMES)]
    instance = _instance(times, Volunteers(_WORKERS, seed), _TASKS, _BATCHES)
    rows = []
    for overdue in ("carry", "drop"):
        for policy in (name + shift for name in _ALGORITHM_3 for shift in ("", "-shift")):
            options = Options(overdue=overdue)
            rows.append(_row("closing", times, instance, checked_run(instance, policy, options), options))
    return {"kind": "readings", "rows": rows}


def checked_run(instance: Instance, policy: str, options: Options) -> Simulation:
    """Run a policy; raise `SelfCheckError` if the checker rejects the run."""
    run = run_policy(instance, policy, options)
    verdict = instances.check(instance, run.run)
    if not verdict.is_valid or verdict.outcome.satisfied != run.satisfied:
        raise SelfCheckError(f"{policy}: the checker says {verdict}")
    return run


def _row(
    question: str, times: tuple[int, int], instance: Instance, run: Simulation, options: Options
) -> dict[str, Any]:
    tasks, num = instance.tasks, instance.num_batches
    satisfied = run.satisfied_tasks
    return {
        "question": question,
        "deadline_s": times[0],
        "c": times[1],
        "workers": instance.num_workers,
        "tasks": tasks,
        "batches": num,
        "policy": run.policy,
        "first": options.first,
        "copies_lambda": options.copies_lambda,
        "overdue": options.settled(run.policy[:2]).overdue,
        "runs": 1,
        "fed": sum(count >= tasks for count in run.requests) / num,
        "satisfied_batches": run.satisfied_batches(tasks) / num,
        "satisfied_tasks": satisfied / (tasks * num),
        "stream_batches": None,
        "stream_tasks": None,
        "copies_per_task": sum(run.copies) / satisfied if satisfied else None,
        "stuck": int(_is_stuck(run)),
    }


def _is_stuck(run: Simulation) -> bool:
    """Return whether workers called during the last batch but none of its tasks was sent."""
    return run.contacts[-1] > 0 and run.copies[-1] == 0
