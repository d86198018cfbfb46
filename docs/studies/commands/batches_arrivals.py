"""Study ``batches-arrivals``: Hypothesis 1 of the paper on batches."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("batches-arrivals", short_help="Test whether contacts are a Poisson stream (batches).")
@click.option("--workers", type=options.POSITIVE, default=11_320, show_default=True, help="W, volunteers.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the volunteers.")
@options.kept_in("batches-arrivals")
@options.as_json
def batches_arrivals(workers: int, seed: int, results: Path, as_json: bool) -> None:
    """Test gaps and counts of the contacts of volunteers that call once a period. Writes batches_arrivals.csv."""
    import pandas as pd

    from docs.studies.batches.arrivals import arrivals

    frame = pd.DataFrame(arrivals(workers, seed))
    write_and_print(frame, results / "batches_arrivals.csv", "Contacts as a Poisson stream", as_json=as_json)
