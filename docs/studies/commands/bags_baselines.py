"""Study ``bags-baselines``: baselines of the related work, predictors, and owners that reclaim machines."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("bags-baselines", short_help="Compare baselines, predictors, and suspended with lost copies (bags).")
@click.option("--policies", type=options.POSITIVE, default=24, show_default=True, help="Traces of a kind for policies.")
@click.option("--predictors", type=options.POSITIVE, default=12, show_default=True, help="... for predictors.")
@click.option("--owners", type=options.POSITIVE, default=16, show_default=True, help="Traces for visits of owners.")
@click.option("--moves", type=options.POSITIVE, default=12, show_default=True, help="Traces for paid moves.")
@options.kept_in("bags-baselines")
@options.as_json
def bags_baselines(policies: int, predictors: int, owners: int, moves: int, results: Path, as_json: bool) -> None:
    """Run baselines and predictors on drawn traces of class rooms, also with visits of owners and with paid moves.

    The checker replays every run. Writes bags_policies.csv, bags_predictors.csv, bags_owners.csv and bags_moves.csv.
    """
    import pandas as pd

    from docs.studies.bags.baselines import Size, how_many, measure
    from hindsched.bench.progress import counting

    size = Size(policies, predictors, owners, moves)
    with counting("rows", how_many(size), 0) as counter:
        for name, rows in measure(size, step=counter.step):
            write_and_print(pd.DataFrame(rows), results / f"bags_{name}.csv", f"Seconds: {name}", as_json=as_json)
