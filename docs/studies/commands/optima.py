"""Study ``optima``: the optima of the paper's whole experiment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from docs.studies.commands.gathered import gather
from docs.studies.commands.points import ExperimentPoints, draws, points
from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.report.markdown import markdown_table
from hindsched.instances.text_files import write_text


@dataclass(frozen=True, slots=True)
class _Solve:
    """Options of the solves."""

    seed: int
    setting: str
    solver: str
    time_limit_s: float
    jobs: int


@click.command(short_help="Find the optima of the paper's experiment.")
@points()
@draws()
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the experiment.")
@click.option(
    "--setting",
    type=click.Choice(["stand-by", "no-stand-by", "both"]),
    default="both",
    show_default=True,
    help="Optima with stand-by, without, or both.",
)
@options.solver
@options.time_limit(600.0)
@options.jobs
@options.kept_in("optima")
@options.as_json
@gather("points", ExperimentPoints)
@gather("solve", _Solve)
def optima(points: ExperimentPoints, solve: _Solve, results: Path, as_json: bool) -> None:
    """Find the hindsight optimum of every instance of the paper's experiment, 6,000 by default.

    Horizon 1,000,000 slots, p = 20, K = 10. Writes optima.csv (one row per instance, with its fingerprint),
    distribution.csv and optima.svg. An interrupted study resumes.
    """
    from docs.studies.coupled import optima as data
    from hindsched.bench.results.records import records_or_none
    from hindsched.bench.run_records import Options

    settings = {"stand-by": (True,), "no-stand-by": (False,), "both": (True, False)}[solve.setting]
    found = data.find_optima(
        points.sources(solve.seed),
        Options(solver=solve.solver, time_limit_s=solve.time_limit_s),
        results,
        stand_by=settings,
        num_processes=solve.jobs,
    )
    summary = data.distribution(found, "" if True in settings else "_no_stand_by")
    write_text(results / "distribution.csv", summary.to_csv(index=False))
    rows = records_or_none(summary)
    write_text(results / "distribution.md", markdown_table(rows, list(summary.columns)))
    data.draw_distribution(summary, results / "optima.svg")
    table = Table({name: name for name in summary.columns}, as_json, title="Hindsight optima, in slots")
    table.add_all(rows)
    table.show()
