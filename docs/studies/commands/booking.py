"""Study ``booking``: the master of batches that books its calls, beside the paper's masters."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.instances.text_files import write_text


@click.command(short_help="Compare the batch master that books its calls with the paper's.")
@click.option("--workers", type=options.POSITIVE, default=3747, show_default=True, help="W, volunteers.")
@click.option("--tasks", type=options.POSITIVE, default=102, show_default=True, help="N, tasks per batch.")
@click.option("--batches", type=options.POSITIVE, default=60, show_default=True, help="M, batches back to back.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Names the volunteers.")
@options.jobs
@options.kept_in("booking")
@options.as_json
def booking(workers: int, tasks: int, batches: int, seed: int, jobs: int, results: Path, as_json: bool) -> None:
    """Run it, and the paper's masters of batches, on volunteers of three kinds; hold all against the rungs.

    Volunteers as drawn for the paper in its four settings of times; with a daily rhythm; and away for days at a time.
    An interrupted call resumes. Writes table.csv into the results folder; docs/batches/beyond.md shows one.
    """
    import pandas as pd

    from hindsched.bench.batches import beyond
    from hindsched.bench.results.records import records_or_none

    rows = beyond.compare(results, workers=workers, tasks=tasks, batches=batches, seed=seed, num_processes=jobs)
    frame = pd.DataFrame(rows, columns=list(beyond.COLUMNS)).round(4)
    write_text(results / "table.csv", str(frame.to_csv(index=False)))
    table = Table(
        {name: name for name in beyond.COLUMNS}, as_json, title="Masters of batches, and what hindsight allows"
    )
    table.add_all(records_or_none(frame))
    table.show()
