"""``hindsched campaign``: a whole campaign from a file, resumable, on this machine or on a cluster."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from bench.campaign.journal import Journal
from bench.commands import options
from bench.output import Table
from instances.errors import InputError


@click.command(short_help="Run a whole campaign from a file.")
@click.argument("file", metavar="FILE.toml")
@click.option(
    "--results", type=options.FOLDER, help="Where the results go.  [default: results/ and the name of the file]"
)
@click.option("--jobs", type=options.POSITIVE, default=2, show_default=True, help="Processes at work at once.")
@click.option("--dask", metavar="ADDRESS", help="Let the workers of this Dask scheduler do the work.")
@click.option("--parquet", is_flag=True, help="Write the rows to runs.parquet too, at the end.")
@options.as_json
def campaign(
    file: str,
    results: Path | None,
    jobs: int,
    dask: str | None,
    parquet: bool,
    as_json: bool,
) -> None:
    """Run every policy of a campaign file on each of its instances, beside the hindsight optimum.

    \b
    A campaign file is TOML; every key but instances may be left out:
      policies = ["all", "mine.py:Fastest"]
      estimators = ["printed"]        # and "conditional"
      services = ["index"]            # and others
      ties = ["lowest"]               # and "highest"
      check_slots = 2000              # replay only the first slots of a run
      time_limit_s = 60               # of an optimum
      [[instances]]                   # draws of the paper's generator
      m = [5, 10]
      n_com = [5, 10, 20]
      wmin = [1, 2, 3]
      scenarios = 10
      trials = 10
      slots = 1_000_000
      [[instances]]                   # and instance files
      files = ["spot.json"]

    Each run and each optimum is one row in runs.jsonl. Stopped at any moment, the same command goes on where it was.
    """  # noqa: D301  # click reads the control character
    from bench.campaign.file import read_campaign
    from bench.campaign.plan import run_campaign
    from bench.results.distributions import summary
    from bench.results.frames import read_results
    from bench.results.ratios import records

    plan = read_campaign(file)
    options.expect_solver(plan.readings[0].solver)
    if parquet and find_spec("pyarrow") is None:
        raise InputError('pyarrow is not installed, expected pip install "hindsched[parquet]"', place="--parquet")
    folder = results if results is not None else Path("results") / Path(file).stem
    run_campaign(plan, folder, num_processes=jobs, dask=dask)
    found = read_results(folder)
    written = [folder / Journal.NAME]
    if parquet:
        written.append(folder / "runs.parquet")
        found.runs.to_parquet(written[-1])
    frame = summary(found.runs)
    table = Table(dict(zip(frame.columns, frame.columns, strict=True)), as_json, title="Makespan / hindsight optimum")
    table.add_all(records(frame.astype(object).where(frame.notna(), None)))
    table.show()
    if not as_json:
        click.echo(
            "Medians and shares are over all runs on instances that some schedule finishes, means over finished ones."
        )
        click.echo("Written: " + ", ".join(map(str, written)) + f". A page with pictures: hindsched report {folder}")
