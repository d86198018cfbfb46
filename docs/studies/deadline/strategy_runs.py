"""Runs of public strategy files, unchanged, on windows of the packaged zones beside the optimum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from docs.studies.claims_tables import one_of
from docs.studies.deadline.intervals import Estimate, Resamples, difference
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import NOTHING
from hindsched.bench.shared_types import Row
from hindsched.instances import InputError
from hindsched.instances.deadline import HOUR_S, spot_zones
from hindsched.offline.deadline import solve
from hindsched.online.deadline import run_policy

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "BESIDE",
    "COLUMNS",
    "draw_ratios",
    "lead_of_best",
    "mean_ratio",
    "measure",
    "num_files",
    "ratios",
    "strategies_table",
]

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


def ratios() -> pd.DataFrame:
    """Return cost / free of each zone's window, with a column for each policy and file; NaN if a run did not finish."""
    rows = read_rows("deadline_strategies")
    rows["ratio"] = rows["cost"] / rows["free"]
    return rows.pivot_table(index="zone", columns="policy", values="ratio", dropna=False)


def written(found: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of `ratios` whose files are solutions by language models."""
    return found.loc[:, found.columns.str.contains("/solutions/")]


def lead_of_best() -> Estimate:
    """Return by how much the cost / free of the best file by a language model is below that of uniform."""
    found = ratios()
    best = written(found).mean().idxmin()
    return difference(Resamples(found.reset_index().assign(start=0)), found["uniform"], found[best])


def num_files(word: str) -> int:
    """Return the number of all files, of those that finish, of solutions by language models, or of better solutions.

    Better is a lower mean cost / free than that of the policy ``uniform`` or ``uniform_plain``.
    """
    found = ratios()
    means = found.mean()
    numbers = {
        "all": found.shape[1] - len(BESIDE),
        "finish": int(means.notna().sum()) - len(BESIDE),
        "written": written(found).shape[1],
        **{name: int((written(found).mean() < means[name]).sum()) for name in ("uniform", "uniform_plain")},
    }
    return numbers[one_of(word, numbers)]


def strategies_table() -> str:
    """Return cost / free of each policy in the mean and at worst, and how many runs did not finish."""
    found = ratios()
    rows = []
    for name in found.mean().sort_values(kind="stable").index:
        values = found[name]
        texts = [NOTHING if isnan(number) else f"{number:.3f}" for number in (values.mean(), values.max())]
        rows.append([f"`{_short(name)}`", *texts, str(len(values)), str(values.isna().sum())])
    return text_table(["policy or file", "mean", "worst", "runs", "unfinished"], rows)


def mean_ratio(policy: str) -> str:
    """Return the mean of cost / free over the windows, of the policy or the first file whose name ends so."""
    means = ratios().mean()
    names = [name for name in means.index if name.endswith(policy)]
    return f"{means[one_of(names[0] if names else policy, list(means.index))]:.2f}"


def draw_ratios(path: Path) -> None:
    """Draw cost / free of each window by policy and file, and the means; files that do not finish are left out."""
    found = ratios().dropna(axis="columns")
    names = list(found.mean().sort_values(kind="stable").index)
    figure, (axes,) = canvas.new_figure(width=7.0, heights=(0.24 * len(names) + 0.6,))
    for place, name in enumerate(names):
        colour = canvas.COLOURS[1 if name in BESIDE else 0]
        axes.plot(found[name], [place] * len(found), "o", color=colour, markerfacecolor="none", markersize=4, alpha=0.6)
        axes.plot(found[name].mean(), place, "D", color=colour, markersize=5)
    axes.set_yticks(range(len(names)), [_short(name) for name in names], fontsize=7)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("cost / free (circles: windows, diamond: mean; orange: built-in)")
    canvas.save(figure, path)


def _short(policy: str) -> str:
    """Return the last two parts of a path without the parts of the setting that all solutions share.

    Examples
    --------
    >>> _short("a/b/low_availability_tight_deadline_large_overhead/gpt5.py"), _short("uniform")
    ('low_availability/gpt5.py', 'uniform')
    """
    return "/".join(policy.split("/")[-2:]).replace("_tight_deadline_large_overhead", "")
