"""Study ``bags-sweeps``: predictors of varied quality, and the readings of the paper, one at a time."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.results.records import records


@click.command("bags-sweeps", short_help="Vary predictors and readings of the paper (bags).")
@click.option("--seeds", type=options.POSITIVE, default=8, show_default=True, help="Number of traces of each kind.")
@options.kept_in("bags-sweeps")
@options.as_json
def bags_sweeps(seeds: int, results: Path, as_json: bool) -> None:
    """Run the experiment with noisy predictors and other readings. Writes bags_sweeps.csv.xz, and prints means."""
    import pandas as pd

    from docs.studies.bags.sweeps import run_sweeps

    frame = pd.DataFrame(run_sweeps(range(seeds))).round(5)
    results.mkdir(parents=True, exist_ok=True)
    frame.to_csv(results / "bags_sweeps.csv.xz", index=False, lineterminator="\n")
    means = frame.groupby(["option", "value", "machines", "store", "policy"])["change"].mean().reset_index()
    table = Table({str(name): str(name) for name in means}, as_json, title="Relative change of the turnaround")
    table.add_all(records(means))
    table.show()
