"""Study ``bags-traces``: the paper's experiment on bags, on many substitute traces and under three readings."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.results.records import records


@click.command("bags-traces", short_help="Run the experiment on many substitute traces (bags).")
@click.option("--seeds", type=options.POSITIVE, default=20, show_default=True, help="Number of traces of each kind.")
@options.kept_in("bags-traces")
@options.as_json
def bags_traces(seeds: int, results: Path, as_json: bool) -> None:
    """Run the four schedulers under each reading of absences, and solve for the optima.

    Writes bags_traces.csv.xz, and prints the number of starts and what did not end.
    """
    import pandas as pd

    from docs.studies.bags.traces import run_traces

    frame = pd.DataFrame(run_traces(range(seeds))).round(4)
    results.mkdir(parents=True, exist_ok=True)
    frame.to_csv(results / "bags_traces.csv.xz", index=False, lineterminator="\n")
    sums = frame.groupby(["trace", "when"])[["starts", "unfinished", "unproven"]].sum().reset_index()
    table = Table({str(name): str(name) for name in sums}, as_json, title="Many traces")
    table.add_all(records(sums))
    table.show()
