"""Study ``grid-dynamics``: what failures, cancellations, concurrent searches and bursts cost dgs."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("grid-dynamics", short_help="Measure failures, cancellations, conflicts and bursts (grid).")
@options.kept_in("grid-dynamics")
@options.as_json
def grid_dynamics(results: Path, as_json: bool) -> None:
    """Run dgs with node failures, cancellations and concurrent searches, and on workloads with bursts.

    An interrupted call resumes. Writes grid_dynamics.csv and grid_bursts.csv.
    """
    import pandas as pd

    from docs.studies.grid.dynamics import BURST_COLUMNS, COLUMNS, burst_rows, event_rows

    events = pd.DataFrame(event_rows(results), columns=list(COLUMNS))
    bursts = pd.DataFrame(burst_rows(results), columns=list(BURST_COLUMNS))
    for name, frame, title in (
        ("grid_dynamics.csv", events, "Waits and messages with events"),
        ("grid_bursts.csv", bursts, "Requested utilisation of days"),
    ):
        write_and_print(frame, results / name, title, as_json=as_json)
