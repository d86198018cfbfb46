"""Study ``batches-readings``: what three unstated details of the paper on batches decide."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("batches-readings", short_help="Measure what three unstated details of the paper decide (batches).")
@click.option("--workers", type=options.POSITIVE, default=37_472, show_default=True, help="W, volunteers.")
@click.option("--tasks", type=options.POSITIVE, default=1024, show_default=True, help="N, tasks per batch.")
@click.option("--batches", type=options.POSITIVE, default=256, show_default=True, help="M, batches back to back.")
@click.option(
    "--crowds",
    type=options.POSITIVE,
    default=30,
    show_default=True,
    help="Crowds of 400 volunteers for the last question.",
)
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the volunteers.")
@options.jobs
@options.kept_in("batches-readings")
@options.as_json
def batches_readings(
    *, workers: int, tasks: int, batches: int, crowds: int, seed: int, jobs: int, results: Path, as_json: bool
) -> None:
    """Measure the effect of requests for one copy or two, of first calls, and of closing overdue batches.

    The last question uses crowds of 400 volunteers. An interrupted call resumes. Writes batches_readings.csv.
    """
    import pandas as pd

    from docs.studies.batches.readings import COLUMNS, Size, measure

    rows = measure(results, Size(workers, tasks, batches, crowds, seed), num_processes=jobs)
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).round(6).astype({"deadline_s": "Int64", "c": "Int64"})
    write_and_print(frame, results / "batches_readings.csv", "What unstated details decide", as_json=as_json)
