"""Run the paper's experiment on many substitute traces, under three readings of how absent machines are noticed.

A trace is an independent sample: intervals are over traces. A trace has two weeks to train the predictor `hour` on, and
starts in the two weeks after them: every two hours from 8:00 to 22:00 on weekdays, as in the paper, and every hour of
two weekends. Each trace takes a few of these starts, and the traces together take all of them equally often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from hindsched.instances.bags import Instance, Store, ideal_time
from hindsched.instances.bags.generate import SLOT_S, TRACES, paper
from hindsched.offline.bags import solve
from hindsched.online.bags import Absence, run_policy

__all__ = ["BAGS", "BAG_COLUMNS", "RUNS", "WHEN", "column", "optimum_column", "run_traces", "starts_of"]

BAG_COLUMNS = ("machines", "tasks", "reference_s", "checkpoints")
BAGS = tuple(product(("M01", "M04"), (25, 75), (1800, 7200), (0, 1, 9)))
WHEN = ("weekday", "weekend")
#: Policies by store and reading of absences: name in a column, policy and predictor. FCFS-AT is FCFS where absences are
#: noticed, by a theorem (docs/bags/theory.md), so it does not run there.
_SCHEDULERS = {
    "FCFS": ("FCFS", None),
    "FCFS-AT": ("FCFS-AT", None),
    "FCFS-TR": ("FCFS-TR", None),
    "FCFS-PRDCT-DMD": ("FCFS-PRDCT-DMD", "hour"),
    "oracle": ("FCFS-PRDCT-DMD", "oracle"),
    "LEVEL": ("LEVEL", None),
    "PACE": ("PACE", None),
}
_NOTICED = ("FCFS", "FCFS-TR", "FCFS-PRDCT-DMD", "oracle")
_UNNOTICED = ("FCFS", "FCFS-AT", "FCFS-TR", "FCFS-PRDCT-DMD", "oracle")
RUNS = (
    *((name, Store.SHARED, Absence.NOTICED) for name in (*_NOTICED, "LEVEL", "PACE")),
    *((name, Store.SHARED, Absence.UNNOTICED) for name in _UNNOTICED),
    *((name, Store.PRIVATE, Absence.NOTICED) for name in _NOTICED),
    *((name, Store.PRIVATE, Absence.UNNOTICED) for name in _UNNOTICED),
)
_WEEK, _HOUR = 7 * 24 * 3600 // SLOT_S, 3600 // SLOT_S
#: Weeks to train on, then weeks in which runs start; slots of an instance.
_TRAINING_WEEKS, _START_WEEKS, _SLOTS = 2, (2, 3), 11 * 24 * _HOUR
_WEEKDAY_HOURS = tuple(24 * day + hour for day in range(5) for hour in range(8, 23, 2))
_WEEKEND_HOURS = tuple(range(5 * 24 + 21, 6 * 24 + 21))
#: Starts of a trace: numbers of weekday and weekend starts.
_NUM_STARTS = {"weekday": 4, "weekend": 2}


def column(policy: str, store: Store | str, absence: Absence | str) -> str:
    """Return the column of a policy's turnaround / IET."""
    return f"{policy} {store} {absence}"


def optimum_column(store: Store | str, *, on_demand: bool) -> str:
    """Return the column of OPT / IET."""
    return f"OPT {store} {'on demand' if on_demand else 'at ends'}"


def starts_of(when: str, seed: int) -> Sequence[int]:
    """Return the slots in which runs on a trace start.

    Examples
    --------
    >>> [round(slot / 720 % 7, 2) for slot in starts_of("weekday", 0)]  # days after Monday 0:00
    [0.33, 1.58, 2.83, 4.42]
    """
    hours = _WEEKDAY_HOURS if when == "weekday" else _WEEKEND_HOURS
    number = _NUM_STARTS[when]
    step = len(hours) // number
    return [
        _START_WEEKS[(i + seed) % 2] * _WEEK + hours[(7 * seed + (step + 1) * i) % len(hours)] * _HOUR
        for i in range(number)
    ]


def run_traces(seeds: Sequence[int], traces: Sequence[str] = TRACES) -> Iterator[dict[str, Any]]:
    """Yield a row for each trace, seed, part of the week and bag.

    A row has the means over the starts of turnaround / IET of each run of `RUNS`, and of OPT / IET for both stores with
    and without saves on demand. A run that the slots end counts with the time up to their end; ``unfinished`` is the
    number of these runs, ``unproven`` that of optima whose bounds differ (the upper one counts).
    """
    for trace, seed in product(traces, seeds):
        training = paper("M01", slots=_TRAINING_WEEKS * _WEEK, seed=seed, trace=trace)
        for when, bag in product(WHEN, BAGS):
            found = [_results(trace, seed, start, bag, training) for start in starts_of(when, seed)]
            head = {"trace": trace, "seed": seed, "when": when, **dict(zip(BAG_COLUMNS, bag, strict=True))}
            sums = {name: sum(each.pop(name) for each in found) for name in ("unfinished", "unproven")}
            yield (
                head
                | {"starts": len(found)}
                | sums
                | {name: float(np.mean([each[name] for each in found])) for name in found[0]}
            )


def _results(trace: str, seed: int, start: int, bag: tuple[str, int, int, int], training: Instance) -> dict[str, float]:
    """Return turnaround / IET of every run from a start, OPT / IET, and what did not end."""
    machines, tasks, reference_s, checkpoints = bag
    one = paper(
        machines,
        tasks=tasks,
        reference_s=reference_s,
        checkpoints=checkpoints,
        on_demand=True,
        slots=_SLOTS,
        start=start,
        seed=seed,
        trace=trace,
    )
    instances = {store: one.replace(store=store) for store in Store}
    ideal = ideal_time(one)
    found = {"unfinished": 0.0, "unproven": 0.0}
    for name, store, absence in RUNS:
        policy, predictor = _SCHEDULERS[name]
        options: dict[str, Any] = {} if predictor is None else {"predictor": predictor, "training": training}
        run = run_policy(instances[store], policy, absence=absence, schedule=False, **options)
        found["unfinished"] += run.turnaround is None
        found[column(name, store, absence)] = (one.horizon if run.turnaround is None else run.turnaround) / ideal
    for store, on_demand in product(Store, (False, True)):
        result = solve(instances[store], on_demand=on_demand, time_limit_s=2.0)
        found["unproven"] += result.lower != result.upper
        found[optimum_column(store, on_demand=on_demand)] = float(result.upper or one.horizon) / ideal
    return found
