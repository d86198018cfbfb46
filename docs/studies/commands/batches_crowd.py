"""Study ``batches-crowd``: the drawn volunteers, described as the paper describes its trace."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("batches-crowd", short_help="Describe the drawn volunteers as the paper describes its trace (batches).")
@click.option("--workers", type=options.POSITIVE, default=11_320, show_default=True, help="W, volunteers.")
@click.option("--seeds", type=options.POSITIVE, default=6, show_default=True, help="Number of crowds.")
@options.kept_in("batches-crowd")
@options.as_json
def batches_crowd(workers: int, seeds: int, results: Path, as_json: bool) -> None:
    """Measure stays, shares of time, lost tasks, active workers and predicted states. Writes batches_crowd.csv."""
    import pandas as pd

    from docs.studies.batches.crowd import describe

    frame = pd.DataFrame(describe(workers, seeds)).round(5).astype({"states": "Int64"})
    write_and_print(frame, results / "batches_crowd.csv", "The drawn volunteers", as_json=as_json)
