"""``hindsched recheck``: recompute a random sample of a campaign's runs."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table


@click.command(short_help="Recompute rows of a campaign and compare.")
@click.argument("results", type=options.FOLDER, metavar="RESULTS")
@click.option("--sample", "count", type=options.POSITIVE, default=50, help="Number of rows.")
@click.option("--seed", type=options.COUNT, default=0, help="Seed of the sample.")
@click.option("--most-slots", type=options.POSITIVE, default=20_000, help="Skip runs with more slots.")
@options.as_json
def recheck(results: Path, count: int, seed: int, most_slots: int, as_json: bool) -> int:
    """Recompute a random sample of a campaign's runs by simpler and slower code.

    Each instance is generated from its parameters, the policy runs in the plain simulator, and the checker replays
    every slot. The exit code is 1 if a row differs.
    """
    from hindsched.bench.campaign import recheck as again
    from hindsched.bench.progress import counting

    rows = again.sample(results, count, seed=seed, most_slots=most_slots)
    keys = ("instance", "policy", "value", "again", "differs")
    table = Table({key: key for key in keys}, as_json, title="Rows that differ")
    differing = 0
    with counting("recheck", total=len(rows), done=0) as counter:
        for row in again.recheck(results, rows):
            if as_json or row["differs"]:
                table.add(row)
            differing += bool(row["differs"])
            counter.step(f"{row['policy']} on {row['instance']}", failed=bool(row["differs"]))
    table.show()
    if not as_json:
        runs = "1 run" if len(rows) == 1 else f"{len(rows)} runs"
        click.echo(f"{runs} recomputed by the plain simulator and replayed completely: {differing} differ.")
    return 1 if differing else 0
