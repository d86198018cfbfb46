"""Runs of public strategy files, unchanged, on windows of the packaged zones beside the optimum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report.formatting import NOTHING
from hindsched.bench.shared_types import Row
from hindsched.instances import InputError
from hindsched.instances.deadline import HOUR_S, spot_zones
from hindsched.offline.deadline import solve
from hindsched.online.deadline import run_policy

__all__ = ["BESIDE", "COLUMNS", "REPOSITORIES", "measure", "strategies_table"]

COLUMNS = ("policy", "zone", "start_sample", "deadline_h", "overhead_s", "cost", "free", "failure")
#: Built-in policies that run on the same windows.
BESIDE = ("greedy", "uniform", "uniform_plain", "on_demand")
#: Public repositories of the files that were tried, by the beginning of their paths.
REPOSITORIES = ("FrontierCS/Frontier-CS", "andylizf/skynomad-artifact")
_WORK_S, _OVERHEAD_S, _DEADLINES_H = 48 * HOUR_S, 720, (52,)


def measure(files: Sequence[str], starts: int) -> Iterator[Row]:
    """Yield a row for each run: built-in policies, then files; a run that fails has a message in place of a cost.

    Parameters
    ----------
    files
        Strategy files.
    starts
        Windows of each zone and deadline; they start at the samples of the experiment.
    """
    for deadline_h in _DEADLINES_H:
        for zone in spot_zones.spot_zone_names():
            for start in spot_zones.starts([zone], deadline_h * HOUR_S, starts):
                job = spot_zones.window(
                    [zone], start, work_s=_WORK_S, deadline_s=deadline_h * HOUR_S, overhead_s=_OVERHEAD_S
                )
                free = solve(job).value
                for policy in (*BESIDE, *files):
                    cost = failure = None
                    try:
                        run = run_policy(job, policy)
                        cost = None if run.finish is None else run.cost
                    except InputError as error:
                        failure = str(error)
                    where = (zone, start, deadline_h, _OVERHEAD_S)
                    yield dict(zip(COLUMNS, (policy, *where, cost, free, failure), strict=True))


def strategies_table() -> str:
    """Return cost / free of each policy in the mean and at worst by deadline, and how many runs failed."""
    rows = read_rows("deadline_strategies")
    rows["ratio"] = rows["cost"] / rows["free"]
    found = []
    for policy, own in rows.groupby("policy", sort=False):
        ratios = own.groupby("deadline_h")["ratio"]
        numbers = [number for hours in _DEADLINES_H for number in (ratios.mean()[hours], ratios.max()[hours])]
        texts = [NOTHING if isnan(number) else f"{number:.3f}" for number in numbers]
        found.append((own["ratio"].mean(), [f"`{_short(str(policy))}`", *texts, str(own["cost"].isna().sum())]))
    found.sort(key=lambda entry: (isnan(entry[0]), entry[0]))
    headings = [f"{hours} h, {what}" for hours in _DEADLINES_H for what in ("mean", "worst")]
    return text_table(["policy or file", *headings, "unfinished"], [row for _, row in found])


def _short(policy: str) -> str:
    """Return the last two parts of a path."""
    return "/".join(policy.split("/")[-2:])
