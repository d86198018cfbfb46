"""Study ``batches-theorem``: Theorem 1 of the paper on batches."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("batches-theorem", short_help="Check Theorem 1 and its repaired condition case by case (batches).")
@options.kept_in("batches-theorem")
@options.as_json
def batches_theorem(results: Path, as_json: bool) -> None:
    """Count the small instances for which each condition mispredicts Algorithm 1. Writes batches_theorem.csv."""
    import pandas as pd

    from docs.studies.batches.theorem import verify

    frame = pd.DataFrame([asdict(verify())])
    write_and_print(frame, results / "batches_theorem.csv", "Theorem 1", as_json=as_json)
