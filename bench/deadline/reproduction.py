"""Run the experiment on the nine packaged zones, and write its lines, cells and figure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched.bench.campaign.engine import run_jobs
from hindsched.bench.campaign.jobs import optimum_job
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.campaign.plan import Campaign, results_of_rows, run_campaign
from hindsched.bench.deadline.cells import FREE, GUARDED, cells, draw_ratios, line_of_row
from hindsched.bench.deadline.sources import Window
from hindsched.bench.output import Table
from hindsched.bench.report import canvas
from hindsched.bench.results.ratios import contradictions
from hindsched.bench.results.records import records_or_none
from hindsched.bench.run_records import Options
from hindsched.bench.shared_types import Row
from hindsched.instances.deadline import HOUR_S, spot_zones
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.text_files import excerpt, write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DEADLINES_H", "OVERHEADS_S", "SHOWN", "WORK_S", "Setup", "experiment", "reproduce"]

#: Points of the experiment.
WORK_S, DEADLINES_H, OVERHEADS_S = 48 * HOUR_S, (52, 70, 92), (180, 720)
#: Policies that wait for spot: only they can miss the deadline under the guard ``step_old``.
_WAITING = ("spot_only", "greedy", "uniform", "uniform_plain", "uniform_text", "sliced:4")
#: Policies of the figure.
SHOWN = ("renewal", "uniform", "uniform_plain", "uniform_text", "sliced:4", "greedy", "fallback")
_COLUMNS = {
    "deadline_h": "D, h",
    "overhead_s": "d, s",
    "policy": "policy",
    "missed": "missed",
    "dollars": "mean $",
    "ratio": "cost / free",
    "ratio_95": "95 %",
    "worst": "worst",
    "guarded_ratio": "cost / guarded",
    "score": "score",
}


@dataclass(frozen=True, slots=True)
class Setup:
    """Parameters of the experiment.

    Parameters
    ----------
    starts
        Windows of each zone, deadline and overhead.
    zones
        Names of packaged zones; empty: all nine.
    seed
        Seed of the windows.
    """

    starts: int = 40
    zones: tuple[str, ...] = ()
    seed: int = 0


def experiment(setup: Setup) -> list[Window]:
    """Return the windows, each once: a few draws coincide if there are many.

    Raises
    ------
    InputError
        For an unknown zone.
    """
    known = spot_zones.spot_zone_names()
    for zone in setup.zones:
        if zone not in known:
            raise InputError(f"{excerpt(zone)}, expected one of {', '.join(known)}", place="--zones")
    return list(
        dict.fromkeys(
            Window(zone, start, WORK_S, hours * HOUR_S, overhead_s)
            for zone, hours in product(setup.zones or known, DEADLINES_H)
            for start in spot_zones.starts([zone], hours * HOUR_S, setup.starts, setup.seed)
            for overhead_s in OVERHEADS_S
        )
    )


def reproduce(folder: Path, setup: Setup, *, num_processes: int, dask: str | None, as_json: bool) -> None:
    """Run the experiment and write its tables and figure.

    Parameters
    ----------
    folder
        Receives ``runs.jsonl`` and ``guarded/runs.jsonl``, from which a later call resumes; ``runs.csv``, a line for
        each run and optimum; ``cells.csv``; and ``ratios.svg``.
    setup
        What is run.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.
    as_json
        Print JSON lines.

    Raises
    ------
    SelfCheckError
        When the checker rejects a schedule, or a ratio is below 1.
    """
    import pandas as pd

    windows = experiment(setup)
    step = Options(run=(("guard", "step"),))
    step_old = step.with_run({"guard": "step_old"})
    rows: list[Row] = []
    for campaign in (Campaign(windows, ("all", "ours"), [step]), Campaign(windows, _WAITING, [step_old])):
        made = run_campaign(campaign, folder, num_processes=num_processes, dask=dask)
        for wrong in contradictions(results_of_rows(made, folder).runs):
            raise SelfCheckError(wrong)
        rows += [row for _, row in made if row["kind"] == "run"]
    rows += [row for _, row in made if row["kind"] == "optimum"]
    by_name = {window.name: window for window in windows}
    lines = [line_of_row(by_name[row["instance"]], row, row.get("policy", FREE)) for row in rows]
    lines += _guarded(windows, step, folder / GUARDED, num_processes=num_processes, dask=dask)
    frame = pd.DataFrame(lines)
    _write(folder / "runs.csv", frame.convert_dtypes())
    found = cells(frame, WORK_S)
    _write(folder / "cells.csv", found.round(5))
    canvas.save(draw_ratios(found, SHOWN), folder / "ratios.svg")
    table = Table(None if as_json else _COLUMNS, as_json, title="Means of windows of packaged zones, guard step")
    table.add_all(records_or_none(found if as_json else found[_is_shown(found)]))
    table.show()


def _is_shown(found: pd.DataFrame) -> pd.Series[bool]:
    return (found["guard"] != "step_old") & found["policy"].isin([FREE, GUARDED, *SHOWN, "on_demand"])


def _guarded(
    windows: list[Window], options: Options, folder: Path, *, num_processes: int, dask: str | None
) -> list[Row]:
    """Return lines of the guarded optima, whose rows are in a folder of their own: a report has one optimum each."""
    guarded = replace(options, solve=(("rung", "guarded"), ("guard", "step")))
    jobs = [optimum_job(window, guarded, folder) for window in windows]
    with Journal(folder) as journal:
        run_jobs("guarded optima", jobs, journal, num_processes=num_processes, dask=dask)
        return [line_of_row(window, dict(journal[job.key]), GUARDED) for window, job in zip(windows, jobs, strict=True)]


def _write(path: Path, frame: pd.DataFrame) -> None:
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))
