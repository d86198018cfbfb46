"""The paper's experiment again, with the optimum of every start; the same on real zones; its page and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched.bench.bags.cells import cells, draw_bars, optima
from hindsched.bench.bags.claims import Finding, findings
from hindsched.bench.bags.paper import Paper, starts
from hindsched.bench.bags.zones import PREDICTOR, Zone, days
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

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["experiment", "reproduce", "zones"]

#: The points of the experiment.
MACHINES, TASKS, REFERENCES, CHECKPOINTS = ("M01", "M04"), (25, 75), (1800, 7200), (0, 1, 9)
#: Bags for nine zones.
ZONE_TASKS = (9, 25)


def experiment(number: int, *, seed: int = 0) -> list[Paper]:
    """Return the instances of the paper's experiment, so many starts on weekdays and as many at weekends."""
    return [
        Paper(*point, str(store), start, seed=seed)
        for store, when in product(Store, ("weekday", "weekend"))
        for point in product(MACHINES, TASKS, REFERENCES, CHECKPOINTS)
        for start in starts(when, number)
    ]


def zones(number: int) -> list[Zone]:
    """Return the same bags on real zones, on the first so many days."""
    return [
        Zone(tasks, reference_s, checkpoints, str(store), start)
        for store in Store
        for tasks, reference_s, checkpoints in product(ZONE_TASKS, REFERENCES, CHECKPOINTS)
        for start in list(days())[:number]
    ]


def reproduce(
    folder: Path,
    *,
    num_processes: int,
    dask: str | None,
    as_json: bool,
    number: int,
    time_limit_s: float,
    seed: int,
    real: bool,
) -> None:
    """Run the experiment and write its tables, bars and the list of claims.

    Parameters
    ----------
    folder
        Receives ``runs.jsonl``, from which a later call goes on, ``cells.csv``, ``optima.md``, ``bars-*.svg``,
        ``claims.csv`` and ``claims.md``.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.
    as_json
        Print JSON lines.
    number
        Starts on weekdays, and at weekends.
    time_limit_s
        Of each optimum.
    seed
        Of the substitute trace.
    real
        Whether to run the zones too.

    Raises
    ------
    SelfCheckError
        When the checker refuses a schedule, a ratio is below 1, or FCFS-AT differs from FCFS with a shared store.
    """
    plain = Options(time_limit_s=time_limit_s)
    truth = plain.with_run({"predictor": "oracle"})
    sources = experiment(number, seed=seed)
    campaigns = [Campaign(sources, ("all",), [plain]), Campaign(sources, ("FCFS-PRDCT-DMD",), [truth])]
    if real:
        campaigns.append(Campaign(zones(number), ("all",), [plain.with_run({"predictor": PREDICTOR})]))
    rows = [row for each in campaigns for row in run_campaign(each, folder, num_processes=num_processes, dask=dask)]
    runs = results_of_rows(rows, folder).runs
    for wrong in (*contradictions(runs), *_timeouts_that_matter(runs)):
        raise SelfCheckError(wrong)
    found = cells(runs)
    write_text(folder / "cells.csv", found.to_csv(index=False, lineterminator="\n"))
    best = optima(found)
    write_text(folder / "optima.md", markdown_table(records(best), list(best.columns)))
    for machines, store, when in found[["machines", "store", "when"]].drop_duplicates().itertuples(index=False):
        canvas.save(draw_bars(found, machines, store, when), folder / f"bars-{machines}-{store}-{when}.svg")
    claims = findings(found)
    said = [asdict(claim) for claim in claims]
    write_text(folder / "claims.md", markdown_table(said, list(said[0])))
    _show(found, claims, as_json)


def _timeouts_that_matter(runs: pd.DataFrame) -> list[str]:
    """Return where FCFS-AT is not FCFS although stores are shared and nothing is RECLAIMED."""
    shared = runs[runs["population"].str.contains(" shared ") & runs["policy"].isin(["FCFS", "FCFS-AT"])]
    # a run that did not finish is told by its limit
    values = shared.assign(told=shared["value"].fillna(-1.0))
    spread = values.groupby("fingerprint")["told"].nunique()
    return [f"FCFS-AT differs from FCFS on {name}" for name in spread[spread > 1].index]


def _show(found: pd.DataFrame, claims: Sequence[Finding], as_json: bool) -> None:
    if as_json:
        lines = Table(None, as_json=True)
        lines.add_all({"cell": None, **row} for row in records_or_none(found))
        lines.add_all(asdict(claim) for claim in claims)
        lines.show()
        return
    columns = ("number", "claim", "ours", "verdict")
    table = Table({name: name for name in columns}, as_json, title="The paper's claims, and what the optimum adds")
    table.add_all(asdict(claim) for claim in claims)
    table.show()
