"""Study ``batches-arrivals``: Hypothesis 1 of the paper on batches."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("batches-arrivals", short_help="Test whether contacts are a Poisson stream (batches).")
@click.option("--workers", type=options.POSITIVE, default=11_320, show_default=True, help="W, volunteers.")
@click.option("--seeds", type=options.POSITIVE, default=8, show_default=True, help="Number of crowds.")
@options.kept_in("batches-arrivals")
@options.as_json
def batches_arrivals(workers: int, seeds: int, results: Path, as_json: bool) -> None:
    """Test gaps and counts of the contacts of volunteers that call once a period, as the paper's Table 1 does.

    Writes batches_arrivals.csv: a row per crowd and period, and one of a Poisson stream of the same mean gap.
    """
    import pandas as pd

    from docs.studies.batches.arrivals import arrivals

    frame = pd.DataFrame(arrivals(workers, seeds)).round(5)
    write_and_print(frame, results / "batches_arrivals.csv", "Contacts as a Poisson stream", as_json=as_json)
