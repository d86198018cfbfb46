"""``hindsched campaign``: a whole campaign from a file, resumable, on this machine or on a cluster."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from hindsched.bench.campaign.journal import Journal
from hindsched.bench.commands import options
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import write_bytes, write_text


@click.command(short_help="Run the campaign in a file.")
@click.argument("file", metavar="FILE.toml")
@click.option(
    "--results", type=options.FOLDER, help="Folder of the results.  [default: results/ and the name of the file]"
)
@options.policy_time_limit
@options.jobs
@click.option("--dask", metavar="ADDRESS", help="Use the workers of this Dask scheduler.")
@click.option("--parquet", is_flag=True, help="Also write the rows to runs.parquet at the end.")
@options.retry_failed
@options.pool
@options.as_json
def campaign(
    file: str,
    results: Path | None,
    policy_time_limit_s: float | None,
    jobs: int,
    dask: str | None,
    parquet: bool,
    retry_failed: bool,
    pool: bool,
    as_json: bool,
) -> None:
    """Run every policy of a campaign file on each instance, and compare with the hindsight optimum.

    \b
    A campaign file is TOML; only the key instances is required:
      policies = ["all", "mine.py:Fastest"]
      options.estimator = ["printed"]  # every combination of these is run
      check_slots = 2000               # replay only the first slots of a run
      time_limit_s = 60                # for an optimum
      policy_time_limit_s = 600        # for a run; without it there is no limit
      [[instances]]                    # points of the paper's experiment
      m = [5, 10]
      n_com = [5, 10, 20]
      wmin = [1, 2, 3]
      scenarios = 10
      trials = 10
      slots = 1_000_000
      [[instances]]                    # and instance files, or folders of them
      files = ["spot.json", "windows/"]

    Each run and each optimum is one row in runs.jsonl. The same command resumes an interrupted campaign.
    """  # noqa: D301  # click reads the control character
    from hindsched.bench.campaign.engine import Runs
    from hindsched.bench.campaign.file import read_campaign
    from hindsched.bench.campaign.plan import results_of_rows, run_all
    from hindsched.bench.campaign.ties import ties
    from hindsched.bench.results.columns import pooled
    from hindsched.bench.results.print_table import show_table
    from hindsched.bench.results.summary import csv_text, summary

    plan = read_campaign(file)
    try:
        for name in plan.families:
            options.expect_solver(plan.combinations[0].solver, name)
    except InputError as error:
        raise error.in_file(file) from None
    if parquet and find_spec("pyarrow") is None:
        raise InputError('pyarrow is not installed, expected pip install "hindsched[parquet]"', place="--parquet")
    folder = results if results is not None else Path("results") / Path(file).stem
    runs = Runs(policy_time_limit_s or plan.run_limit_s, retry_failed)
    rows, failure = run_all(plan, folder, runs, jobs, dask)
    found = results_of_rows(rows, folder)
    found = pooled(found) if pool else found
    frame = summary(found.runs)
    written = [folder / Journal.NAME, folder / "table.csv"]
    write_text(written[-1], csv_text(frame))
    if parquet:
        written.append(folder / "runs.parquet")
        write_bytes(written[-1], found.runs.to_parquet())
    show_table(found, frame, as_json)
    for line in ties(found.runs, plan.sources):
        click.echo(f"hindsched: {line}", err=True)
    if not as_json:
        click.echo(
            "Written: " + ", ".join(map(str, written)) + f". For a report with pictures: hindsched report {folder}"
        )
    if failure is not None:
        raise failure
