"""Run the paper's experiment: its instances and policies, and the row of each run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hindsched import instances, offline
from hindsched.bench.batches.hindsight_order import expect_ordered
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.shared_types import Given, Row
from hindsched.instances.batches import Instance, Rung, Volunteers
from hindsched.instances.batches.generate import paper
from hindsched.instances.batches.volunteers import DAY, WEEK
from hindsched.instances.errors import SelfCheckError
from hindsched.offline.batches import Hindsight
from hindsched.online.batches import Options, Simulation, run_policy

__all__ = ["TIMES", "Setting", "Setup", "experiment", "run_experiment"]

TASKS = (1024, 2048, 4096)
#: D - S and the mean computing time in seconds; the mean is 1/2, 1/8, 1/4 and 1/2 of D - S.
TIMES = ((3600, 1800), (14_400, 1800), (14_400, 3600), (14_400, 7200))
#: 1 September, 1 November and 1 January.
DAYS = (153, 214, 275)
_WORKERS = 37_472
#: Weeks of availability before the first submission, which the policy `A3-history` reads.
_HISTORY_WEEKS = 10
_ALGORITHM_3 = ("A3-history", "A3-speed", "A3-copies")
#: Options under which the paper most likely ran Algorithm 3; only these runs are compared with hindsight optima.
_LIKELY: Row = {"first": "spread", "copies_lambda": 2}


@dataclass(frozen=True, slots=True)
class Setup:
    """Parameters of the experiment.

    Parameters
    ----------
    days
        Of the first submission.
    batches
        M.
    scale
        Share of the workers and of the tasks per batch; 1 is the paper's size.
    seed
        Seed of the volunteers.
    """

    days: tuple[int, ...] = DAYS
    batches: int = 256
    scale: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Setting:
    """Parameters of one instance."""

    day: int
    deadline_s: int
    c: int
    tasks: int
    workers: int
    batches: int
    seed: int
    homogeneous: bool = False

    def instance(self) -> Instance:
        """Return the instance; settings with the same start date share their volunteers."""
        return paper(
            tasks=self.tasks,
            deadline_s=self.deadline_s,
            c=self.c,
            batches=self.batches,
            first_day=self.day,
            homogeneous=self.homogeneous,
            volunteers=_crowd(self.workers, self.seed, self.day, self.batches),
        )


@lru_cache(maxsize=1)
def _crowd(workers: int, seed: int, day: int, batches: int) -> Volunteers:
    crowd = Volunteers(workers, seed)
    longest = max(length for length, _ in TIMES)
    crowd.covering(max(0, day * DAY - _HISTORY_WEEKS * WEEK), day * DAY + batches * longest)
    return crowd


@lru_cache(maxsize=1)  # the runs on an instance are neighbours
def _loaded(setting: Setting) -> Instance:
    return setting.instance()


@lru_cache(maxsize=1)
def _free(setting: Setting) -> Hindsight:
    hindsight: Hindsight = offline.solve(_loaded(setting), Rung.FREE).certificate
    return hindsight


def experiment(setup: Setup) -> list[tuple[str, Setting, str, Row]]:
    """Return the runs: part of the experiment, instance, policy and options.

    Part ``arrivals`` holds the runs of the paper's section 5.1, ``batches`` those of section 5.2. The paper states
    neither ``first`` nor ``copies_lambda``; less likely values are run for the smallest N only.
    """
    found: list[tuple[str, Setting, str, Row]] = []
    workers = max(1, round(_WORKERS * setup.scale))
    for day, full, (deadline_s, c) in product(setup.days, TASKS, TIMES):
        tasks = max(2, round(full * setup.scale))
        mixed = Setting(day, deadline_s, c, tasks, workers, setup.batches, setup.seed)
        alike = replace(mixed, homogeneous=True)
        is_first = full == TASKS[0]
        readings = [_LIKELY, _LIKELY | {"copies_lambda": 1}, _LIKELY | {"first": "start"}] if is_first else [_LIKELY]
        for options, policy in product(readings, _ALGORITHM_3):
            found.append(("batches", mixed, policy, options))
        for first, policy in product(("spread", "start") if is_first else ("spread",), ("A2", "A2-shift")):
            found.append(("arrivals", alike, policy, {"first": first}))
    return found


def run_experiment(
    setup: Setup, folder: Path, *, num_processes: int, dask: str | None, is_held_only: bool = False
) -> list[Row]:
    """Make the rows that the folder lacks, and return all rows of this setup.

    Parameters
    ----------
    setup
        What is run.
    folder
        Holds ``runs.jsonl``.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.
    is_held_only
        Run nothing; return the rows that the folder holds.

    Raises
    ------
    SelfCheckError
        When the checker rejects a run or a certificate, or the hindsight optima are not ordered.
    """
    jobs = [
        Job(
            job_key("batches", "online", "paper", repr(setting), policy, sorted(options.items())),
            f"{policy} {options} on N={setting.tasks} {setting.deadline_s}/{setting.c} day {setting.day}",
            _row,
            (part, setting, policy, options),
            group=f"{setting.day} {setting.seed}",
        )
        for part, setting, policy, options in experiment(setup)
    ]
    with Journal(folder) as journal:
        if not is_held_only:
            run_jobs("reproduce", jobs, journal, num_processes=num_processes, dask=dask)
        return [dict(journal[job.key]) for job in jobs if job.key in journal]


def _row(part: str, setting: Setting, policy: str, options: Given) -> Row:
    instance = _loaded(setting)
    run = run_policy(instance, policy, Options(**options))
    who = f"{policy} {dict(options)} on {setting}"
    verdict = instances.check(instance, run.run)
    if not verdict.is_valid or verdict.outcome.satisfied != run.satisfied:
        raise SelfCheckError(f"{who}: the checker finds {verdict}")
    optima: dict[Rung, Hindsight] = {}
    if part == "batches" and dict(options) == _LIKELY:
        optima[Rung.FREE] = _free(setting)
        if policy == _ALGORITHM_3[0]:  # contacts do not depend on what is sent, so one policy stands for all
            optima[Rung.TRAFFIC] = offline.solve(instance, Rung.TRAFFIC, of=run.run).certificate
        optima[Rung.STREAM] = offline.solve(instance, Rung.STREAM, of=run.run).certificate
        expect_ordered(who, optima, run)
    return {
        "kind": "paper",
        "part": part,
        **asdict(setting),
        "policy": policy,
        **options,
        **_numbers(instance, run),
        **{f"{rung}_{name}": x for rung, found in optima.items() for name, x in _summary(instance, found).items()},
    }


def _numbers(instance: Instance, run: Simulation) -> Row:
    tasks, num = instance.tasks, instance.num_batches
    requests = np.array(run.requests)
    periods = [seconds for _, seconds in run.run.periods]
    whole = [
        latency
        for latency, count in zip(run.latency, run.satisfied, strict=True)
        if count == tasks and latency is not None
    ]
    satisfied = run.satisfied_tasks
    return {
        "fed": float((requests >= tasks).mean()),
        "requests": _deciles(requests / tasks),
        "fractions": _deciles(np.array(run.satisfied) / tasks),
        "satisfied_tasks": satisfied / (tasks * num),
        "satisfied_batches": run.satisfied_batches(tasks) / num,
        "copies_per_task": sum(run.copies) / satisfied if satisfied else None,
        "latency": float(np.mean(whole)) if whole else None,
        "all_contacts": run.all_contacts,
        "shortest_period": min(periods),
        "longest_period": max(periods),
    }


def _summary(instance: Instance, found: Hindsight) -> Row:
    tasks, num = instance.tasks, instance.num_batches
    latencies = [latency for latency in found.latency if latency is not None]
    return {
        "tasks": sum(found.satisfied) / (tasks * num),
        "batches": sum(count == tasks for count in found.satisfied) / num,
        "latency": float(np.mean(latencies)) if latencies else None,
    }


def _deciles(values: npt.NDArray[np.float64]) -> list[float]:
    return [round(float(x), 4) for x in np.quantile(values, np.linspace(0, 1, 11))]
