"""``hindsched reproduce``: a published experiment again, and its tables and figures rebuilt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.by_family import FamilyCommand, family_option
from hindsched.bench.family import family_named


@click.command(cls=FamilyCommand, short_help="Run a published experiment again and rebuild its tables.")
@family_option
@options.jobs
@click.option("--dask", metavar="ADDRESS", help="Let the workers of this Dask scheduler do the work.")
@click.option(
    "--results",
    type=options.FOLDER,
    help="Where the results go.  [default: results/paper; results/ and the name of another family]",
)
@options.as_json
def reproduce(
    family: str, jobs: int, dask: str | None, results: Path | None, as_json: bool, own: dict[str, Any]
) -> None:
    """Run the published experiment of a family again, and rebuild its tables and figures.

    An interrupted call resumes. For coupled: 17 heuristics on 6,000 instances, under the readings asked for.

    \b
    Written into the results folder (coupled):
      runs.jsonl       one row a run and optimum, from which a later call goes on
      runs.csv.xz      the runs as one compact table, for hindsched report
      tables.csv, .md  Table I (m = 5) and II (m = 10) under each reading
      closeness.csv    how close the readings come to each other and the paper
      metrics.csv      how close they come to the paper, metric by metric
      figure2.svg      %diff against wmin under each reading
    """  # noqa: D301  # click reads the control character
    folder = results if results is not None else Path("results") / ("paper" if family == "coupled" else family)
    family_named(family).commands.reproduce(folder, num_processes=jobs, dask=dask, as_json=as_json, given=own)
