"""Runs of public strategy files, unchanged, on windows of the packaged zones beside the optimum."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from docs.studies.claims_tables import one_of
from docs.studies.deadline.intervals import Estimate, Resamples, difference
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import NOTHING
from hindsched.bench.results.quantile import quantile
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
    "best_solution",
    "draw_models",
    "files_frame",
    "lead_of_best",
    "mean_ratio",
    "measure",
    "models_table",
    "num_files",
    "ratios",
]

COLUMNS = ("policy", "zone", "start_sample", "deadline_h", "overhead_s", "cost", "free", "failure")
#: Built-in policies that run on the same windows.
BESIDE = ("greedy", "uniform", "uniform_plain", "on_demand")
_WORK_S, _OVERHEAD_S, _DEADLINE_H = 48 * HOUR_S, 720, 52


def measure(files: Sequence[str], fresh: int) -> Iterator[Row]:
    """Yield a row for each run; a run that fails has a message in place of a cost.

    Built-in policies and files run on the first window of each zone. The best solution of a language model there runs
    again beside ``uniform`` on other windows, which did not choose it.

    Parameters
    ----------
    files
        Strategy files.
    fresh
        Other windows of each zone; all windows start at the samples of the experiment.
    """
    import pandas as pd

    zones = spot_zones.spot_zone_names()
    starts = {zone: spot_zones.starts([zone], _DEADLINE_H * HOUR_S, 1 + fresh) for zone in zones}
    found = []
    for zone in zones:
        for row in _runs((*BESIDE, *files), zone, starts[zone][:1]):
            found.append(row)
            yield row
    best = best_solution(pd.DataFrame(found, columns=list(COLUMNS)))
    if best is not None:
        for zone in zones:
            yield from _runs(("uniform", best), zone, starts[zone][1:])


def _runs(policies: Sequence[str], zone: str, starts: Sequence[int]) -> Iterator[Row]:
    for start in starts:
        job = spot_zones.window([zone], start, work_s=_WORK_S, deadline_s=_DEADLINE_H * HOUR_S, overhead_s=_OVERHEAD_S)
        free = solve(job).value
        for policy in policies:
            cost = failure = None
            try:
                run = run_policy(job, policy)
                cost = None if run.finish is None else run.cost
            except InputError as error:
                failure = str(error)
            values = (policy, zone, start, _DEADLINE_H, _OVERHEAD_S, cost, free, failure)
            yield dict(zip(COLUMNS, values, strict=True))


def ratios(rows: pd.DataFrame | None = None, *, is_fresh: bool = False) -> pd.DataFrame:
    """Return cost / free of the first window of each zone, or of the fresh windows, with a column for each policy.

    It is infinite if a run did not finish.

    Parameters
    ----------
    rows
        As `measure` yields them; None: the stored ones.
    is_fresh
        Whether to take the windows that did not choose the best file.
    """
    rows = read_rows("deadline_strategies") if rows is None else rows
    is_first = rows["start_sample"] == rows.groupby("zone")["start_sample"].transform("first")
    mine = rows[is_first != is_fresh].rename(columns={"start_sample": "start"})
    mine = mine.assign(ratio=mine["cost"].astype(float).fillna(np.inf) / mine["free"])
    return mine.pivot_table(index=["zone", "start"], columns="policy", values="ratio").reset_index()


def _means(found: pd.DataFrame) -> pd.Series[float]:
    """Return the mean of each policy; it is infinite if a run did not finish."""
    return found.drop(columns=["zone", "start"]).mean()


def _written(means: pd.Series[float]) -> pd.Series[float]:
    """Return the means of the solutions by language models."""
    return means[means.index.str.contains("/solutions/")]


def best_solution(rows: pd.DataFrame | None = None) -> str | None:
    """Return the solution of a language model with the least mean cost / free; None if none finishes everywhere."""
    means = _written(_means(ratios(rows)))
    return str(means.idxmin()) if np.isfinite(means).any() else None


def lead_of_best() -> Estimate:
    """Return by how much cost / free of the best solution is below that of uniform, in the fresh windows."""
    found = ratios(is_fresh=True)
    return difference(Resamples(found), found["uniform"], found[best_solution()])


def num_files(word: str) -> int:
    """Return a number of files.

    Parameters
    ----------
    word
        ``all``; ``finish``, those that finish everywhere; ``written``, the solutions by language models; ``uniform`` or
        ``uniform_plain``, the solutions whose mean cost / free is less than that of this policy; ``fresh``, not files
        but fresh windows.
    """
    means = _means(ratios())
    written = _written(means)
    numbers = {
        "all": len(means) - len(BESIDE),
        "finish": int(np.isfinite(means).sum()) - len(BESIDE),
        "written": len(written),
        **{name: int((written < means[name]).sum()) for name in ("uniform", "uniform_plain")},
        "fresh": len(ratios(is_fresh=True)),
    }
    return numbers[one_of(word, numbers)]


def mean_ratio(policy: str) -> str:
    """Return the mean of cost / free of a built-in policy, or of the best solution, which is called ``best``."""
    means = _means(ratios())
    return f"{_written(means).min() if policy == 'best' else means[one_of(policy, BESIDE)]:.3f}"


def files_frame() -> pd.DataFrame:
    """Return a row for each policy and file, with mean and greatest cost / free, runs, and unfinished runs."""
    found = ratios().drop(columns=["zone", "start"])
    frame = found.agg(["mean", "max", "size"]).T.sort_values("mean", kind="stable")
    frame["unfinished"] = np.isinf(found).sum()
    return frame.reset_index().rename(columns={"max": "worst", "size": "runs"}).astype({"runs": int})


def models_table() -> str:
    """Return for each language model how many solutions finish and cost less than uniform, with best and median."""
    means = _means(ratios())
    rows = []
    for model, own in _written(means).groupby(_model):
        texts = [NOTHING if np.isinf(number) else f"{number:.3f}" for number in (own.min(), quantile(own, 0.5))]
        counts = [
            len(own),
            np.isfinite(own).sum(),
            (own < means["uniform"]).sum(),
            (own < means["uniform_plain"]).sum(),
        ]
        rows.append([str(model), *map(str, counts), *texts])
    headings = ["model", "solutions", "finish", "below `uniform`", "below `uniform_plain`", "best mean", "median mean"]
    return text_table(headings, rows)


def draw_models(path: Path) -> None:
    """Draw the mean cost / free of each solution by its language model, and of built-in policies."""
    means = _means(ratios())
    groups = {str(model): own for model, own in _written(means).groupby(_model)}
    figure, (axes,) = canvas.new_figure(width=7.0, heights=(0.3 * (len(groups) + len(BESIDE)) + 0.6,))
    labels = [f"{model} ({np.isfinite(own).sum()} of {len(own)})" for model, own in groups.items()]
    for place, own in enumerate(groups.values()):
        done = own[np.isfinite(own)]
        axes.plot(done, [place] * len(done), "o", color=canvas.COLOURS[0], markerfacecolor="none", markersize=5)
    for place, name in enumerate(BESIDE, len(groups)):
        axes.plot(means[name], place, "D", color=canvas.COLOURS[1], markersize=5)
    axes.axvline(means["uniform"], color=canvas.COLOURS[1], linewidth=0.8)
    axes.set_yticks(range(len(groups) + len(BESIDE)), [*labels, *BESIDE], fontsize=8)
    axes.set_ylim(len(groups) + len(BESIDE) - 0.5, -0.5)
    axes.set_xlabel("mean cost / free (circle: a solution; diamond: built-in policy; line: uniform)")
    canvas.save(figure, path)


def _model(policy: str) -> str:
    """Return the language model that a solution is named after.

    Examples
    --------
    >>> _model("research/solutions/cant_be_late/mixed/gpt5.1_2.py"), _model("gemini2.5pro.py")
    ('gpt5.1', 'gemini2.5pro')
    """
    return re.sub(r"(_\d+)?\.py$", "", policy.rpartition("/")[2])
