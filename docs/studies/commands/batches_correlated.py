"""Study ``batches-correlated``: predictors of availability that use other hosts."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("batches-correlated", short_help="Predict availability from the history of other hosts (batches).")
@click.option("--trace", required=True, metavar="FILE", help="Event table of the Failure Trace Archive, or any trace.")
@click.option("--workers", type=options.POSITIVE, default=600, show_default=True, help="Number of drawn volunteers.")
@options.kept_in("batches-correlated")
@options.as_json
def batches_correlated(trace: str, workers: int, results: Path, as_json: bool) -> None:
    """Judge forecasts for the hosts of a trace and for drawn volunteers. Writes batches_correlated.csv."""
    import pandas as pd

    from docs.studies.batches.correlated import measure_all
    from hindsched.instances.traces import read

    frame = pd.DataFrame(measure_all(read(trace), workers)).round(5).astype({"c": "Int64"})
    write_and_print(frame, results / "batches_correlated.csv", "Forecasts with other hosts", as_json=as_json)
