"""Study ``bounds``: schedules and proven bounds on windows of a real log of parallel jobs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.instances.text_files import write_text


@click.command(short_help="Measure schedules and bounds on windows of a real log (grid).")
@click.option("--log", metavar="FILE", help="The whole of KTH-SP2.  [default: windows of the part that comes along]")
@click.option("--jobs", "counts", type=options.NUMBERS, help="Only the windows of so many jobs.")
@click.option("--limit", "limit_s", type=options.POSITIVE, help="Seconds for each window.  [default: 60 to 600]")
@click.option("--processor", is_flag=True, help="Let the limits count the processor's time, not what goes by.")
@options.policy_seed
@options.kept_in("bounds")
@options.as_json
def bounds(
    log: str | None,
    counts: Sequence[int] | None,
    limit_s: int | None,
    processor: bool,
    seed: int,
    results: Path,
    as_json: bool,
) -> None:
    """Solve windows of the log KTH-SP2, 100 nodes and slots of 60 s, within 1, 2, 5 or 10 minutes each.

    Each schedule and each certificate is checked. The table is written to grid_bounds.csv too.
    """
    from hindsched.bench.grid.studies.windows import COLUMNS, WINDOWS, measure

    chosen = [window for window in WINDOWS if counts is None or window[1] in counts]
    chosen = [(first, jobs, limit_s or usual_s) for first, jobs, usual_s in chosen]
    rows = measure(chosen, log, results, seed, is_processor=processor)
    table = Table({name: name for name in COLUMNS}, as_json, title="KTH-SP2, total waits in slots of 60 s")
    table.add_all({name: row[name] for name in COLUMNS} for row in rows)
    table.show()
    lines = [",".join(str(row[name]) for name in COLUMNS) for row in rows]
    write_text(results / "grid_bounds.csv", "\n".join([",".join(COLUMNS), *lines, ""]))
