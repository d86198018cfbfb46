"""Runs of public strategy files, unchanged, on windows of the packaged zones beside the optimum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from docs.studies.claims_tables import one_of
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report.formatting import NOTHING
from hindsched.bench.shared_types import Row
from hindsched.instances import InputError
from hindsched.instances.deadline import HOUR_S, spot_zones
from hindsched.offline.deadline import solve
from hindsched.online.deadline import run_policy

__all__ = ["BESIDE", "COLUMNS", "mean_ratio", "measure", "strategies_table"]

COLUMNS = ("policy", "zone", "start_sample", "deadline_h", "overhead_s", "cost", "free", "failure")
#: Built-in policies that run on the same windows.
BESIDE = ("greedy", "uniform", "uniform_plain", "on_demand")
_WORK_S, _OVERHEAD_S, _DEADLINE_H = 48 * HOUR_S, 720, 52


def measure(files: Sequence[str], starts: int) -> Iterator[Row]:
    """Yield a row for each run: built-in policies, then files; a run that fails has a message in place of a cost.

    Parameters
    ----------
    files
        Strategy files.
    starts
        Windows of each zone; they start at the samples of the experiment.
    """
    deadline_s = _DEADLINE_H * HOUR_S
    for zone in spot_zones.spot_zone_names():
        for start in spot_zones.starts([zone], deadline_s, starts):
            job = spot_zones.window([zone], start, work_s=_WORK_S, deadline_s=deadline_s, overhead_s=_OVERHEAD_S)
            free = solve(job).value
            for policy in (*BESIDE, *files):
                cost = failure = None
                try:
                    run = run_policy(job, policy)
                    cost = None if run.finish is None else run.cost
                except InputError as error:
                    failure = str(error)
                values = (policy, zone, start, _DEADLINE_H, _OVERHEAD_S, cost, free, failure)
                yield dict(zip(COLUMNS, values, strict=True))


def strategies_table() -> str:
    """Return cost / free of each policy in the mean and at worst, and how many runs did not finish."""
    rows = read_rows("deadline_strategies")
    rows["ratio"] = rows["cost"] / rows["free"]
    found = []
    for policy, own in rows.groupby("policy", sort=False):
        ratios = own["ratio"]
        texts = [NOTHING if isnan(number) else f"{number:.3f}" for number in (ratios.mean(), ratios.max())]
        short = "/".join(str(policy).split("/")[-2:])
        found.append((ratios.mean(), [f"`{short}`", *texts, str(len(own)), str(ratios.isna().sum())]))
    found.sort(key=lambda entry: (isnan(entry[0]), entry[0]))
    return text_table(["policy or file", "mean", "worst", "runs", "unfinished"], [row for _, row in found])


def mean_ratio(policy: str) -> str:
    """Return the mean of cost / free over the windows, of the policy or the first file whose name ends so."""
    rows = read_rows("deadline_strategies")
    names = [name for name in rows["policy"].unique() if name.endswith(policy)]
    own = rows[rows["policy"] == one_of(names[0] if names else policy, rows["policy"].unique().tolist())]
    return f"{(own['cost'] / own['free']).mean():.2f}"
