"""``hindsched reproduce``: a published experiment again, and its tables and figures rebuilt."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.by_family import FamilyCommand, family_option
from hindsched.bench.family import family_named
from hindsched.bench.shared_types import Row


@click.command(cls=FamilyCommand, short_help="Reproduce a published experiment.")
@family_option
@options.jobs
@click.option("--dask", metavar="ADDRESS", help="Use the workers of this Dask scheduler.")
@click.option(
    "--results",
    type=options.FOLDER,
    help="Folder of the results.  [default: results/paper; results/FAMILY for other families]",
)
@options.as_json
def reproduce(family: str, jobs: int, dask: str | None, results: Path | None, as_json: bool, own: Row) -> None:
    """Run the published experiment of a family and rebuild its tables and figures.

    The same command resumes an interrupted one. The experiment of coupled has 17 heuristics on 6,000 instances.

    \b
    Files in the results folder (coupled):
      runs.jsonl       one row per run and optimum
      runs.csv.xz      the runs as a compact table, for hindsched report
      tables.csv, .md  Table I (m = 5) and II (m = 10) for each reading
      closeness.csv    comparison of the readings with each other and the paper
      metrics.csv      comparison of each metric with the paper
      figure2.svg      %diff against wmin for each reading
    """  # noqa: D301  # click reads the control character
    folder = results if results is not None else Path("results") / ("paper" if family == "coupled" else family)
    family_named(family).commands.reproduce(folder, num_processes=jobs, dask=dask, as_json=as_json, given=own)
