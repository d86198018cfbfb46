"""Study ``volunteers``: how long runs of batches on many volunteers take, and what memory they need."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.instances.text_files import write_text


@click.command(short_help="Measure time and memory of batches on many volunteers.")
@click.option("--workers", type=options.POSITIVE, default=37_472, show_default=True, help="W, volunteers.")
@click.option("--days", type=options.POSITIVE, default=114, show_default=True, help="Days of availability to hold.")
@click.option("--tasks", type=options.POSITIVE, default=4096, show_default=True, help="N, tasks per batch.")
@click.option("--batches", type=options.POSITIVE, default=256, show_default=True, help="M, batches of an hour.")
@click.option("--copies-lambda", type=options.POSITIVE, default=3, show_default=True, help="Requests for each task.")
@options.kept_in("volunteers")
@options.as_json
def volunteers(
    workers: int, days: int, tasks: int, batches: int, copies_lambda: int, results: Path, as_json: bool
) -> None:
    """Measure, in processor seconds: volunteers drawn, runs, their replay by the checker, the rungs.

    Each step runs once on a small instance before it is measured, so that no compilation is counted.
    """
    import pandas as pd

    from hindsched.bench.batches import scale

    results.mkdir(parents=True, exist_ok=True)  # before the work, which takes minutes
    rows = scale.measure(workers=workers, days=days, tasks=tasks, batches=batches, copies_lambda=copies_lambda)
    frame = pd.DataFrame(rows, columns=list(scale.COLUMNS))
    write_text(results / "table.csv", str(frame.to_csv(index=False)))
    table = Table({name: name for name in scale.COLUMNS}, as_json, title="Batches on many volunteers")
    table.add_all(rows)
    table.show()
