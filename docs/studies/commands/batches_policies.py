"""Study ``batches-policies``: the policy `booking` and the paper's."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("batches-policies", short_help="Compare the policy booking with the paper's (batches).")
@click.option("--workers", type=options.POSITIVE, default=3747, show_default=True, help="W, volunteers.")
@click.option("--tasks", type=options.POSITIVE, default=102, show_default=True, help="N, tasks per batch.")
@click.option("--batches", type=options.POSITIVE, default=60, show_default=True, help="M, batches back to back.")
@click.option("--seeds", type=options.POSITIVE, default=4, show_default=True, help="Number of crowds of each kind.")
@options.jobs
@options.kept_in("batches-policies")
@options.as_json
def batches_policies(
    workers: int, tasks: int, batches: int, seeds: int, jobs: int, results: Path, as_json: bool
) -> None:
    """Run booking and the paper's policies on three kinds of volunteers, with the hindsight optima.

    The volunteers are those drawn for the paper in its four settings of times, some with a daily rhythm, and some with
    absences of days. An interrupted call resumes. Writes batches_policies.csv.
    """
    import pandas as pd

    from docs.studies.batches.policies import COLUMNS, Size, compare

    rows = compare(results, Size(workers, tasks, batches, seeds), num_processes=jobs)
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).round(4)
    write_and_print(frame, results / "batches_policies.csv", "Policies and hindsight optima", as_json=as_json)
