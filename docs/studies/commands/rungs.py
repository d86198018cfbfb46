"""Study ``rungs``: from the hindsight optimum up to the decentralised scheduler, step by step."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table


@click.command(short_help="Tell apart what a decentralised scheduler waits for (grid).")
@options.kept_in("rungs")
@options.as_json
def rungs(results: Path, as_json: bool) -> None:
    """Run the schedulers of the family grid on windows of a real log, whose optima are sought, and on larger workloads.

    The rows are written to grid_rungs.csv too.
    """
    import pandas as pd

    from hindsched.bench.grid.studies.rungs import COLUMNS, measure
    from hindsched.instances.text_files import write_text

    rows = measure(results)
    table = Table({name: name for name in COLUMNS}, as_json, title="Rungs, total waits in slots")
    table.add_all(rows)
    table.show()
    text = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"seed": "Int64", "patience": "Int64"})
    write_text(results / "grid_rungs.csv", str(text.to_csv(index=False, lineterminator="\n")))
