"""Study ``grid-waits``: the parts of the waits of the decentralised scheduler."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("grid-waits", short_help="Separate the causes of a decentralised scheduler's waits (grid).")
@options.kept_in("grid-waits")
@options.as_json
def grid_waits(results: Path, as_json: bool) -> None:
    """Run schedulers with less and less information, and the optimum, on windows of a real log and larger workloads.

    Writes grid_waits.csv.
    """
    import pandas as pd

    from docs.studies.grid.waits import COLUMNS, measure

    frame = pd.DataFrame(measure(results), columns=list(COLUMNS)).astype({"seed": "Int64", "patience": "Int64"})
    write_and_print(frame, results / "grid_waits.csv", "Total waits in slots", as_json=as_json)
