"""Study ``grid-scale``: time and memory of the decentralised scheduler on large grids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("grid-scale", short_help="Measure time and memory on large grids (grid).")
@click.option("--nodes", "sizes", type=options.NUMBERS, default="5000,50000", show_default=True, help="M, nodes.")
@click.option("--num-jobs", type=options.POSITIVE, default=20_000, show_default=True, help="Jobs of each workload.")
@options.policy_seed
@options.kept_in("grid-scale")
@options.as_json
def grid_scale(sizes: Sequence[int], num_jobs: int, seed: int, results: Path, as_json: bool) -> None:
    """Run dgs on generated workloads at 28 % of load, over the static overlay and over Cyclon.

    Times are processor seconds. Writes grid_scale.csv.
    """
    import pandas as pd

    from docs.studies.grid.scale import COLUMNS, measure

    frame = pd.DataFrame(list(measure(sizes, num_jobs, seed)), columns=list(COLUMNS))
    write_and_print(frame, results / "grid_scale.csv", "dgs, processor seconds", as_json=as_json)
