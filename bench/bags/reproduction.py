"""Run the paper's experiment, also on real spot zones, and write its tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched.bench.bags.configuration_means import configuration_means, draw_bars, optima
from hindsched.bench.bags.paper import Paper, starts
from hindsched.bench.bags.spot_zones import PREDICTOR, SpotZones, start_slots
from hindsched.bench.campaign.plan import Campaign, results_of_rows, run_campaign
from hindsched.bench.output import Table
from hindsched.bench.report import canvas
from hindsched.bench.report.markdown import markdown_table
from hindsched.bench.results.ratios import contradictions
from hindsched.bench.results.records import records, records_or_none
from hindsched.bench.run_records import Options
from hindsched.instances.bags import Store
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.text_files import write_text
from hindsched.online.bags import PAPER_POLICIES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Setup", "experiment", "reproduce", "zones"]

#: Points of the experiment.
MACHINES, TASKS, REFERENCES, CHECKPOINTS = ("M01", "M04"), (25, 75), (1800, 7200), (0, 1, 9)
#: Sizes of the bags that run on the nine zones.
ZONE_TASKS = (9, 25)
#: Schedulers beside the paper's, which need a shared store.
_SHARED_POLICIES = ("LEVEL", "PACE")
_SUMMARY = ("machines", "store", "when", "policy")


@dataclass(frozen=True, slots=True)
class Setup:
    """Parameters of the experiment.

    Parameters
    ----------
    number
        Starts on weekdays, and as many at weekends.
    time_limit_s
        Time limit of each optimum in seconds.
    seed
        Seed of the substitute trace.
    real
        Whether the bags also run on the nine real zones.
    """

    number: int = 40
    time_limit_s: float = 30.0
    seed: int = 0
    real: bool = True


def experiment(number: int, *, seed: int = 0) -> list[Paper]:
    """Return the instances of the paper's experiment with ``number`` starts on weekdays and as many at weekends."""
    return [
        Paper(*point, str(store), start, seed=seed)
        for store, when in product(Store, ("weekday", "weekend"))
        for point in product(MACHINES, TASKS, REFERENCES, CHECKPOINTS)
        for start in starts(when, number)
    ]


def zones(number: int) -> list[SpotZones]:
    """Return the bags on real zones, with a start on each of the first ``number`` days."""
    return [
        SpotZones(tasks, reference_s, checkpoints, str(store), start)
        for store in Store
        for tasks, reference_s, checkpoints in product(ZONE_TASKS, REFERENCES, CHECKPOINTS)
        for start in list(start_slots())[:number]
    ]


def reproduce(folder: Path, setup: Setup, *, num_processes: int, dask: str | None, as_json: bool) -> None:
    """Run the experiment and write its tables and bar charts.

    Parameters
    ----------
    folder
        Receives ``runs.jsonl``, from which a later call resumes, ``cells.csv``, ``optima.md`` and ``bars-*.svg``.
    setup
        What is run.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.
    as_json
        Print JSON lines.

    Raises
    ------
    SelfCheckError
        When the checker rejects a schedule, a ratio is below 1, or FCFS-AT differs from FCFS with a shared store.
    """
    plain = Options(time_limit_s=setup.time_limit_s)
    oracle = plain.with_run({"predictor": "oracle"})
    sources = experiment(setup.number, seed=setup.seed)
    campaigns = [*_campaigns(sources, plain), Campaign(sources, ("FCFS-PRDCT-DMD",), [oracle])]
    if setup.real:
        campaigns += _campaigns(zones(setup.number), plain.with_run({"predictor": PREDICTOR}))
    rows = [row for each in campaigns for row in run_campaign(each, folder, num_processes=num_processes, dask=dask)]
    runs = results_of_rows(rows, folder).runs
    for wrong in (*contradictions(runs), *_effective_timeouts(runs)):
        raise SelfCheckError(wrong)
    means = configuration_means(runs)
    write_text(folder / "cells.csv", means.to_csv(index=False, lineterminator="\n"))
    best = optima(means)
    write_text(folder / "optima.md", markdown_table(records(best), list(best.columns)))
    for machines, when in means[["machines", "when"]].drop_duplicates().itertuples(index=False):
        canvas.save(draw_bars(means, machines, when), folder / f"bars-{machines}-{when}.svg")
    _show(means, as_json)


def _campaigns(sources: Sequence[Paper | SpotZones], options: Options) -> list[Campaign]:
    """Return the paper's policies on all sources, and those that need a shared store where they can run."""
    shared = [source for source in sources if source.store == Store.SHARED]
    return [Campaign(sources, PAPER_POLICIES, [options]), Campaign(shared, _SHARED_POLICIES, [options])]


def _effective_timeouts(runs: pd.DataFrame) -> list[str]:
    """Return where FCFS-AT differs from FCFS although stores are shared and no slot is RECLAIMED."""
    shared = runs[runs["population"].str.contains(" shared ") & runs["policy"].isin(["FCFS", "FCFS-AT"])]
    # an unfinished run has no value; -1 lets two unfinished runs compare as equal
    values = shared.assign(turnaround=shared["value"].fillna(-1.0))
    spread = values.groupby("fingerprint")["turnaround"].nunique()
    return [f"FCFS-AT differs from FCFS on {name}" for name in spread[spread > 1].index]


def _show(means: pd.DataFrame, as_json: bool) -> None:
    if as_json:
        lines = Table(None, as_json=True)
        lines.add_all(records_or_none(means))
        lines.show()
        return
    columns = {"slowdown": "turnaround / IET", "ratio_high": "turnaround / OPT", "optimum_slowdown": "OPT / IET"}
    summary = means.groupby(list(_SUMMARY), sort=True)[list(columns)].mean().reset_index()
    table = Table({name: name for name in _SUMMARY} | columns, as_json, title="Means over bags and checkpoints")
    table.add_all(records_or_none(summary))
    table.show()
