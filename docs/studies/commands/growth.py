"""Study ``growth``: how the cost of solve, simulate, score and report grows."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from docs.studies.coupled.growth import AXES, COLUMNS, WORKS, Settings, measure
from hindsched.bench.commands import options
from hindsched.bench.progress import counting


@click.command(short_help="Measure how the cost of solve, simulate, score and report grows.")
@click.option(
    "--work", "works", multiple=True, type=click.Choice(tuple(WORKS)), default=tuple(WORKS), help="What to measure."
)
@click.option("--most", type=options.POSITIVE, help="Largest value on an axis.  [default: all values]")
@click.option("--instances", type=options.POSITIVE, default=5, show_default=True, help="Instances for each point.")
@options.time_limit(2.0)
@options.kept_in("growth")
@options.as_json
def growth(
    works: tuple[str, ...], most: int | None, instances: int, time_limit_s: float, results: Path, as_json: bool
) -> None:
    """Measure processor time against p, N, K, m, n_com and the number of rows, around a base point.

    Writes growth.csv. Rows of other works in it are kept. The limit is processor time of a solve; values with a solve
    that it stops count in no slope.
    """
    import pandas as pd

    path = results / "growth.csv"
    results.mkdir(parents=True, exist_ok=True)
    axes = {axis: [value for value in values if most is None or value <= most] for axis, values in AXES.items()}
    with counting("values", sum(map(len, axes.values())), 0) as counter:
        rows = list(measure(Settings(works, axes, instances, time_limit_s), counter.step))
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).convert_dtypes()
    if path.is_file():
        before = pd.read_csv(path).convert_dtypes()
        frame = pd.concat([before[~before["work"].isin(work for name in works for work in WORKS[name])], frame])
    write_and_print(frame, path, "Seconds", as_json=as_json)
