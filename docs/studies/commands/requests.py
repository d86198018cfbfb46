"""Study ``requests``: what the readings of requests, begin and closing decide for the paper's batches."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.instances.text_files import write_text


@click.command(short_help="Measure what three readings of the paper on batches decide.")
@click.option("--workers", type=options.POSITIVE, default=37_472, show_default=True, help="W, volunteers.")
@click.option("--tasks", type=options.POSITIVE, default=1024, show_default=True, help="N, tasks per batch.")
@click.option("--batches", type=options.POSITIVE, default=256, show_default=True, help="M, batches back to back.")
@click.option(
    "--crowds", type=options.POSITIVE, default=30, show_default=True, help="Crowds of 400 for the last question."
)
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Names the volunteers.")
@options.jobs
@options.kept_in("requests")
@options.as_json
def requests(
    workers: int, tasks: int, batches: int, crowds: int, seed: int, jobs: int, results: Path, as_json: bool
) -> None:
    """Measure what is decided by requests for one copy or two, by the begin, and by closing batches at deadlines.

    The last question is put to crowds of 400 volunteers. An interrupted call resumes. Writes table.csv into the results
    folder; docs/batches/reproduction.md shows one.
    """
    import pandas as pd

    from hindsched.bench.batches.requests import COLUMNS, measure
    from hindsched.bench.results.records import records_or_none

    size = {"workers": workers, "tasks": tasks, "batches": batches, "crowds": crowds, "seed": seed}
    rows = measure(results, **size, num_processes=jobs)
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).round(6).astype({"deadline_s": "Int64", "c": "Int64"})
    write_text(results / "table.csv", str(frame.to_csv(index=False)))
    table = Table({name: name for name in COLUMNS}, as_json, title="What readings decide")
    table.add_all(records_or_none(frame))
    table.show()
