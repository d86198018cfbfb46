"""Study ``grid-bounds``: schedules and proven bounds on windows of a real log of parallel jobs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("grid-bounds", short_help="Measure schedules and bounds on windows of a real log (grid).")
@click.option("--log", metavar="FILE", help="The whole log KTH-SP2.  [default: windows of its packaged part]")
@click.option("--jobs", "counts", type=options.NUMBERS, help="Solve only the windows with these numbers of jobs.")
@click.option("--limit", "limit_s", type=options.POSITIVE, help="Seconds for each window.  [default: 60 to 600]")
@click.option("--processor", is_flag=True, help="Let the limits count processor time instead of wall-clock time.")
@options.policy_seed
@options.kept_in("grid-bounds")
@options.as_json
def grid_bounds(
    *,
    log: str | None,
    counts: Sequence[int] | None,
    limit_s: int | None,
    processor: bool,
    seed: int,
    results: Path,
    as_json: bool,
) -> None:
    """Solve windows of the log KTH-SP2, 100 nodes and slots of 60 s, within 1, 2, 5 or 10 minutes each.

    The checker confirms each schedule and each certificate. Writes grid_bounds.csv.
    """
    import pandas as pd

    from docs.studies.grid.bounds import COLUMNS, WINDOWS, measure

    chosen = [window for window in WINDOWS if counts is None or window[1] in counts]
    chosen = [(first, jobs, limit_s or usual_s) for first, jobs, usual_s in chosen]
    rows = measure(chosen, log, results, seed, is_processor=processor)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    write_and_print(frame, results / "grid_bounds.csv", "KTH-SP2, total waits in slots of 60 s", as_json=as_json)
