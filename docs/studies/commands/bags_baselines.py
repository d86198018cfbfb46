"""Study ``bags-baselines``: baselines of the related work, predictors, and owners that reclaim machines."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("bags-baselines", short_help="Compare baselines, predictors, and suspended with lost copies (bags).")
@click.option("--traces", type=options.POSITIVE, default=60, show_default=True, help="Traces for the policies.")
@click.option("--predictor-traces", type=options.POSITIVE, default=30, show_default=True, help="For the predictors.")
@click.option("--owner-traces", type=options.POSITIVE, default=24, show_default=True, help="For owners and suspension.")
@options.kept_in("bags-baselines")
@options.as_json
def bags_baselines(traces: int, predictor_traces: int, owner_traces: int, results: Path, as_json: bool) -> None:
    """Run baselines and predictors on drawn traces of class rooms, and policies under visits of owners.

    The checker replays every run. Writes bags_policies.csv, bags_predictors.csv and bags_owners.csv.
    """
    import pandas as pd

    from docs.studies.bags.baselines import Size, how_many, measure
    from hindsched.bench.progress import counting

    size = Size(traces, predictor_traces, owner_traces)
    with counting("rows", how_many(size), 0) as counter:
        found = measure(size, step=counter.step)
    for name, rows in found.items():
        write_and_print(pd.DataFrame(rows), results / f"bags_{name}.csv", f"Seconds: {name}", as_json=as_json)
