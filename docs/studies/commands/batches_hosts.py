"""Study ``batches-hosts``: the paper's predictors on the hosts of a real trace."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("batches-hosts", short_help="Compare the paper's predictors on the hosts of a real trace (batches).")
@click.option("--trace", required=True, metavar="FILE", help="Event table of the Failure Trace Archive, or any trace.")
@click.option("--tasks", type=options.POSITIVE, default=16, show_default=True, help="N, tasks per batch.")
@click.option("--dates", type=options.SEVERAL, default=4, show_default=True, help="Number of start dates, one a day.")
@click.option("--seeds", type=options.POSITIVE, default=2, show_default=True, help="Number of draws of speeds.")
@options.kept_in("batches-hosts")
@options.as_json
def batches_hosts(trace: str, tasks: int, dates: int, seeds: int, results: Path, as_json: bool) -> None:
    """Run Algorithm 3 with requests for one to twelve copies per task. Writes batches_hosts.csv."""
    import pandas as pd

    from docs.studies.batches.hosts import COLUMNS, Size, measure
    from hindsched.instances.traces import read

    rows = measure(read(trace), Size(tasks, dates, seeds))
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).round(5)
    write_and_print(frame, results / "batches_hosts.csv", "Satisfied tasks on real hosts", as_json=as_json)
