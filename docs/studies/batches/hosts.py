"""Compare the paper's predictors on the hosts of a real trace, by start date and copies per task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from docs.studies.batches.evidence import Rows, select
from docs.studies.batches.readings import checked_run
from docs.studies.estimates import Estimate, estimate
from hindsched.bench.batches.experiment import TIMES
from hindsched.instances.batches.from_trace import from_trace
from hindsched.instances.batches.generate import back_to_back
from hindsched.instances.batches.volunteers import DAY
from hindsched.instances.errors import InputError
from hindsched.instances.traces import Trace
from hindsched.online.batches import Options

__all__ = ["COLUMNS", "Size", "at_copies", "difference", "measure"]

_POLICIES = ("A3-history", "A3-speed", "A3-copies")
_REQUESTS = (1, 2, 3, 4, 6, 8, 12)
COLUMNS = (
    "hosts",
    "tasks",
    "date",
    "seed",
    "deadline_s",
    "c",
    "batches",
    "policy",
    "copies_lambda",
    "copies",
    "satisfied_batches",
    "satisfied_tasks",
)


@dataclass(frozen=True, slots=True)
class Size:
    """Size of the study.

    Parameters
    ----------
    tasks
        N.
    dates
        Number of start dates; one a day from the second day of the trace on, so that each has a past.
    seeds
        Number of draws of the hosts' speeds, which no trace has.
    """

    tasks: int
    dates: int
    seeds: int


def measure(trace: Trace, size: Size) -> list[dict[str, Any]]:
    """Return a row per start date, setting of times, draw of speeds, requests per task and policy.

    Batches fill the day of their start date. The run begins a day earlier.

    Raises
    ------
    InputError
        When the trace ends before the last batch.
    SelfCheckError
        When the checker rejects a run.
    """
    begin = min(row[0].start for row in trace.intervals)
    end = max(row[-1].stop for row in trace.intervals)
    if end - begin < (size.dates + 1) * DAY:
        days = float((end - begin) / DAY)
        raise InputError(f"{days:.1f} days, expected at least {size.dates + 1} for the start dates", place="--trace")
    return list(_rows(trace, size))


def _rows(trace: Trace, size: Size) -> Iterator[dict[str, Any]]:
    for date, (deadline_s, c), seed in product(range(1, size.dates + 1), TIMES, range(size.seeds)):
        batches = back_to_back(date * DAY, deadline_s, DAY // deadline_s)
        instance = from_trace(trace, tasks=size.tasks, batches=batches, c=c, start=(date - 1) * DAY, seed=seed)
        head = {"hosts": instance.num_workers, "tasks": size.tasks, "date": date, "seed": seed}
        head |= {"deadline_s": deadline_s, "c": c, "batches": len(batches)}
        for requests, policy in product(_REQUESTS, _POLICIES):
            run = checked_run(
                instance, policy, Options(first="spread", copies_lambda=requests, copies=max(2, requests))
            )
            yield head | {
                "policy": policy,
                "copies_lambda": requests,
                "copies": sum(run.copies) / (size.tasks * len(batches)),
                "satisfied_batches": run.satisfied_batches(size.tasks) / len(batches),
                "satisfied_tasks": run.satisfied_tasks / (size.tasks * len(batches)),
            }


def at_copies(rows: Rows, copies: float, what: str = "satisfied_tasks") -> dict[int, float]:
    """Return a share by start date at a number of copies per task, between the runs with fewer and with more requests.

    Runs are means over draws of speeds. Beyond them the nearest run counts.

    Examples
    --------
    >>> runs = [{"date": 1, "copies_lambda": 1, "copies": 1.0, "satisfied_tasks": 0.5}]
    >>> runs += [{"date": 1, "copies_lambda": 2, "copies": 3.0, "satisfied_tasks": 0.9}]
    >>> {date: round(share, 2) for date, share in at_copies(runs, 2.0).items()}
    {1: 0.7}
    """
    found = {}
    for date in sorted({row["date"] for row in rows}):
        points = []
        for requests in sorted({row["copies_lambda"] for row in rows}):
            mine = select(rows, date=date, copies_lambda=requests)
            points.append([estimate(row[name] for row in mine).mean for name in ("copies", what)])
        sent, done = zip(*sorted(points), strict=True)
        found[date] = float(np.interp(copies, sent, done))
    return found


def difference(better: Rows, worse: Rows, copies: float) -> Estimate:
    """Return the difference of satisfied tasks at equal copies, in percent points, over start dates."""
    ours, theirs = at_copies(better, copies), at_copies(worse, copies)
    return estimate(100 * (ours[date] - theirs[date]) for date in ours)
