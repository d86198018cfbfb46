"""An example for the report: the worst run of the best heuristic, and the optimum of the same states."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched import instances, offline
from hindsched.bench.campaign.jobs import simulate
from hindsched.bench.coupled.gantt import draw_gantt
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.family import family_named
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import number
from hindsched.bench.report.html import Figure
from hindsched.bench.results.quantile import quantile
from hindsched.bench.results.records import records
from hindsched.bench.run_records import Options
from hindsched.bench.shared_types import Row
from hindsched.instances import HindschedError, Verdict
from hindsched.instances.coupled import Instance, Schedule
from hindsched.online.coupled import POLICIES

if TYPE_CHECKING:
    import pandas as pd

    from hindsched.bench.report.report_files import Files

__all__ = ["Example", "drawn_example", "find_example"]

#: Largest number of slots of a readable picture.
MOST_SLOTS = 120
#: Number of runs that are tried, and the time limit of an optimum in seconds.
_TRIES, _TIME_LIMIT_S = 3, 20.0


@dataclass(frozen=True)
class Example:
    """A run and an optimal schedule of one instance, with the verdicts of the checker."""

    name: str
    policy: str
    instance: Instance
    run: Schedule
    best: Schedule
    of_run: Verdict
    of_best: Verdict


def find_example(ratios: pd.DataFrame) -> Example | None:
    """Return the worst run of the best heuristic, among the runs that are short enough for a picture.

    The best heuristic has the least median ratio. Only heuristics of the paper are run again, on instances that can be
    generated or read, with a proven optimum. Both makespans must be those of the results.

    Parameters
    ----------
    ratios
        As returned by `hindsched.bench.results.ratios.with_ratios`, of one combination of options.
    """
    known = ratios[ratios["policy"].isin([policy for policy in POLICIES if policy != "RANDOM"])]
    if len(known) == 0:
        return None
    medians = {policy: quantile(group["high"], 0.5) for policy, group in known.groupby("policy")}
    best = min(POLICIES, key=lambda policy: medians.get(policy, float("inf")))
    own = known[(known["policy"] == best) & (known["value"] <= MOST_SLOTS) & (known["low"] == known["high"])]
    worst = own.sort_values(["low", "instance"], ascending=[False, True], kind="stable")
    for row in records(worst.head(_TRIES)):
        instance = _instance(row)
        example = None if instance is None else _replayed(instance, row)
        if example is not None:
            return example
    return None


def _instance(row: Row) -> Instance | None:
    """Return the instance of a row, or None if it cannot be generated or read, or has another fingerprint."""
    import pandas as pd

    try:
        if not pd.isna(row["m"]):
            found = _drawn(row)
        elif Path(row["instance"]).is_file():
            found = instances.read(row["instance"])
        else:
            return None
    except (HindschedError, OSError):
        return None
    is_known = row["fingerprint"].startswith("sha256:")
    return found if found.fingerprint == row["fingerprint"] or not is_known else None


def _drawn(row: Row) -> Instance:
    import pandas as pd

    def number(name: str, default: int) -> int:
        return default if pd.isna(row[name]) else int(row[name])

    return Paper(
        m=int(row["m"]),
        n_com=None if pd.isna(row["n_com"]) else int(row["n_com"]),
        wmin=number("wmin", 1),
        scenario=number("scenario", 0),
        trial=number("trial", 0),
        slots=number("limit", 1),
        seed=number("instance_seed", 0),
        p=number("p", 20),
        iterations=number("iterations", 10),
        mu=None if pd.isna(row["mu"]) else int(row["mu"]),
        start=row["start"] if isinstance(row["start"], str) else "up",
    ).load()


def _replayed(instance: Instance, row: Row) -> Example | None:
    family = family_named("coupled")
    given = {name: row[name] for name in family.run_options if isinstance(row[name], str)}
    try:
        run = simulate(family, instance, row["policy"], Options().with_run(given)).schedule
        best = offline.solve(instance, "makespan", time_limit_s=_TIME_LIMIT_S).schedule
    except HindschedError:
        return None
    if best is None:
        return None
    of_run, of_best = instances.check(instance, run), instances.check(instance, best)
    if (of_run.outcome.makespan, of_best.outcome.makespan) != (row["value"], row["optimum"]):
        return None
    return Example(row["instance"], row["policy"], instance, run, best, of_run, of_best)


def drawn_example(example: Example, files: Files) -> Figure:
    """Return the figure of a run below the optimum."""
    slots = max(example.run.slots, example.best.slots)
    height = min(20.0, 0.7 + 0.2 * example.instance.num_workers)
    drawing, panels = canvas.new_figure(2, width=max(8.0, 1.6 + 0.075 * slots), heights=(height, height + 0.3))
    shown = ((example.best, example.of_best, "hindsight optimum"), (example.run, example.of_run, example.policy))
    for axes, (schedule, verdict, who) in zip(panels, shown, strict=True):
        title = f"{who}: makespan {verdict.outcome.makespan}"
        is_last = axes is panels[-1]
        draw_gantt(
            axes, example.instance, schedule, ends=verdict.outcome.ends, title=title, slots=slots, legend=is_last
        )
    gap = (example.of_run.outcome.makespan or 0) / (example.of_best.outcome.makespan or 1)
    return Figure(
        f"{example.policy} on {example.name}",
        f"The worst run of at most 120 slots of the heuristic with the least median ratio takes {number(gap)} times "
        "the optimum. Each row is a worker. Hatched: RECLAIMED; plain grey: DOWN; vertical line: end of an iteration.",
        [files.picture("example", "", drawing)],
        is_wide=True,
    )
