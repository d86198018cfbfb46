"""One instructive run, made again, beside the optimum of the same states."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import instances
import offline
import online.coupled
from bench.campaign.jobs import Options, simulate
from bench.campaign.sources import Paper
from bench.results.ratios import records
from bench.results.stats import quantile
from instances import HindschedError, Verdict
from instances.coupled import Instance, Schedule

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Example", "find_example"]

#: A picture of more slots would not be read.
MOST_SLOTS = 120
_TRIES, _TIME_LIMIT_S = 3, 20.0


@dataclass(frozen=True)
class Example:
    """A run and an optimal schedule of one instance, with what the checker says of each."""

    name: str
    policy: str
    instance: Instance
    run: Schedule
    best: Schedule
    of_run: Verdict
    of_best: Verdict


def find_example(ratios: pd.DataFrame) -> Example | None:
    """Return the run in which the best heuristic does worst, among those short enough to be drawn.

    The best heuristic has the least median ratio. Only the paper's are made again, since code of a user's own is not
    run for a picture; and only where the optimum is proven, the instance can be had again, and both makespans come out
    as told.

    Parameters
    ----------
    ratios
        As returned by `bench.results.distributions.with_ratios`, of one combination of options.
    """
    known = ratios[ratios["policy"].isin([policy for policy in online.coupled.POLICIES if policy != "RANDOM"])]
    if len(known) == 0:
        return None
    medians = {policy: quantile(group["high"], 0.5) for policy, group in known.groupby("policy")}
    best = min(online.coupled.POLICIES, key=lambda policy: medians.get(policy, float("inf")))
    mine = known[(known["policy"] == best) & (known["makespan"] <= MOST_SLOTS) & (known["low"] == known["high"])]
    worst = mine.sort_values(["low", "instance"], ascending=[False, True], kind="stable")
    for row in records(worst.head(_TRIES)):
        instance = _instance(row)
        example = None if instance is None else _replayed(instance, row)
        if example is not None:
            return example
    return None


def _instance(row: dict[str, Any]) -> Instance | None:
    """Return the row's instance if it can be had; where the row tells no fingerprint, the makespans must tell."""
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
    is_told = row["fingerprint"].startswith("sha256:")
    return found if found.fingerprint == row["fingerprint"] or not is_told else None


def _drawn(row: dict[str, Any]) -> Instance:
    import pandas as pd

    def number(name: str, default: int) -> int:
        return default if pd.isna(row[name]) else int(row[name])

    return Paper(
        m=int(row["m"]),
        n_com=None if pd.isna(row["n_com"]) else int(row["n_com"]),
        wmin=number("wmin", 1),
        scenario=number("scenario", 0),
        trial=number("trial", 0),
        slots=number("slot_limit", 1),
        seed=number("instance_seed", 0),
        p=number("p", 20),
        iterations=number("iterations", 10),
        mu=None if pd.isna(row["mu"]) else int(row["mu"]),
        start=row["start"] if isinstance(row["start"], str) else "up",
    ).load()


def _replayed(instance: Instance, row: dict[str, Any]) -> Example | None:
    names = {field.name for field in fields(Options)}
    given = {
        name: row[name] for name in ("estimator", "service", "ties") if name in names and isinstance(row[name], str)
    }
    try:
        run = simulate(instance, row["policy"], Options(**given)).schedule
        best = offline.solve(instance, "makespan", time_limit_s=_TIME_LIMIT_S).schedule
    except HindschedError:
        return None
    if best is None:
        return None
    of_run, of_best = instances.check(instance, run), instances.check(instance, best)
    if (of_run.outcome.makespan, of_best.outcome.makespan) != (row["makespan"], row["optimum"]):
        return None
    return Example(row["instance"], row["policy"], instance, run, best, of_run, of_best)
