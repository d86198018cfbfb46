"""Study ``batches-scale``: time and memory of batches on many volunteers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("batches-scale", short_help="Measure time and memory of batches on many volunteers.")
@click.option("--workers", type=options.POSITIVE, default=37_472, show_default=True, help="W, volunteers.")
@click.option("--days", type=options.POSITIVE, default=114, show_default=True, help="Days of availability in memory.")
@click.option("--tasks", type=options.POSITIVE, default=4096, show_default=True, help="N, tasks per batch.")
@click.option("--batches", type=options.POSITIVE, default=256, show_default=True, help="M, batches of an hour.")
@click.option("--copies-lambda", type=options.POSITIVE, default=3, show_default=True, help="Requests per task.")
@options.kept_in("batches-scale")
@options.as_json
def batches_scale(results: Path, as_json: bool, **size: Any) -> None:
    """Measure processor seconds of drawn volunteers, runs, their replay by the checker, and the hindsight optima.

    Each step runs once on a small instance first, so that no compilation is counted. Writes batches_scale.csv.
    """
    import pandas as pd

    from docs.studies.batches.scale import COLUMNS, Size, measure

    results.mkdir(parents=True, exist_ok=True)  # fails before minutes of work, not after
    frame = pd.DataFrame(measure(Size(**size)), columns=list(COLUMNS))
    write_and_print(frame, results / "batches_scale.csv", "Batches on many volunteers", as_json=as_json)
