"""Study ``batches-copies``: satisfied batches by copies sent, and the gain of shifting."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("batches-copies", short_help="Compare the paper's predictors at equal copies per task (batches).")
@click.option("--workers", type=options.POSITIVE, default=37_472, show_default=True, help="W, volunteers.")
@click.option("--tasks", type=options.POSITIVE, default=1024, show_default=True, help="N, tasks per batch.")
@click.option("--batches", type=options.POSITIVE, default=48, show_default=True, help="M of the runs of Algorithm 3.")
@click.option("--seeds", type=options.POSITIVE, default=3, show_default=True, help="Number of crowds.")
@options.jobs
@options.kept_in("batches-copies")
@options.as_json
def batches_copies(workers: int, tasks: int, batches: int, seeds: int, jobs: int, results: Path, as_json: bool) -> None:
    """Run Algorithm 3 with requests for one to six copies per task, and Algorithm 2 with damped shifting.

    An interrupted call resumes. Writes batches_copies.csv.
    """
    import pandas as pd

    from docs.studies.batches.copies import COLUMNS, Size, measure

    rows = measure(results, Size(workers, tasks, batches, seeds), num_processes=jobs)
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).round(5)
    write_and_print(frame, results / "batches_copies.csv", "Satisfied batches by copies", as_json=as_json)
