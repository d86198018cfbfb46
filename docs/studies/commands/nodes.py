"""Study ``nodes``: how large a grid the decentralised scheduler is simulated on, and in which time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table


@click.command(short_help="Measure time and memory on large grids (grid).")
@click.option("--nodes", "sizes", type=options.NUMBERS, default="5000,50000", show_default=True, help="M, nodes.")
@click.option("--num-jobs", type=options.POSITIVE, default=20_000, show_default=True, help="Jobs of each workload.")
@options.policy_seed
@options.kept_in("nodes")
@options.as_json
def nodes(sizes: Sequence[int], num_jobs: int, seed: int, results: Path, as_json: bool) -> None:
    """Run dgs on generated workloads at 28 % of load, over the static overlay and over Cyclon.

    Seconds are those of the processor. The table is written to grid_nodes.csv too.
    """
    import pandas as pd

    from hindsched.bench.grid.studies.nodes import COLUMNS, measure
    from hindsched.instances.text_files import write_text

    rows = list(measure(sizes, num_jobs, seed))
    table = Table({name: name for name in COLUMNS}, as_json, title="dgs, seconds of the processor")
    table.add_all(rows)
    table.show()
    results.mkdir(parents=True, exist_ok=True)
    text = pd.DataFrame(rows, columns=list(COLUMNS))
    write_text(results / "grid_nodes.csv", str(text.to_csv(index=False, lineterminator="\n")))
