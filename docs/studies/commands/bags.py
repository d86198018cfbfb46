"""Study ``bags``: how fast bags are run and solved."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table


@click.command("bags", short_help="Time schedulers and optima of bags of tasks.")
@click.option(
    "--starts",
    "number",
    type=options.POSITIVE,
    default=5,
    show_default=True,
    help="So many on weekdays, and as many on weekends, of each of the paper's bags.",
)
@click.option("--large/--no-large", "is_large", default=True, show_default=True, help="Whether to run a large bag too.")
@click.option(
    "--results", type=options.FOLDER, default=Path("results/speed"), show_default=True, help="Where the table goes."
)
@options.as_json
def bags(number: int, is_large: bool, results: Path, as_json: bool) -> None:
    """Time all schedulers and all kinds of optima on the paper's bags, and on 1,000 machines with 10,000 tasks.

    Medians and worst cases, in milliseconds of processor time of one process; a run writes its schedule, an optimum is
    replayed by the checker. Writes bags_speed.csv.
    """
    import pandas as pd

    from hindsched.bench.bags.speed import COLUMNS, how_many, measure
    from hindsched.bench.progress import counting

    with counting("runs and optima", how_many(number, is_large=is_large), 0) as counter:
        rows = measure(number, is_large=is_large, step=counter.step)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["proven"] = frame["proven"].astype("Int64")
    results.mkdir(parents=True, exist_ok=True)
    frame.to_csv(results / "bags_speed.csv", index=False, lineterminator="\n")
    table = Table({name: name for name in COLUMNS[1:-1]}, as_json, title="Milliseconds of processor time")
    table.add_all(rows)
    table.show()
    click.echo(f"Machine: {rows[0]['machine']}; one process.", err=True)
