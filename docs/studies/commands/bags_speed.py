"""Study ``bags-speed``: time the schedulers and the optima of bags of tasks."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("bags-speed", short_help="Time the schedulers and optima of bags of tasks.")
@click.option(
    "--starts",
    "number",
    type=options.POSITIVE,
    default=5,
    show_default=True,
    help="Starts of each of the paper's bags on weekdays, and as many at weekends.",
)
@click.option("--large/--no-large", "is_large", default=True, show_default=True, help="Whether to time a large bag.")
@options.kept_in("speed")
@options.as_json
def bags_speed(number: int, is_large: bool, results: Path, as_json: bool) -> None:
    """Time all schedulers and optima on the paper's bags, and on 1,000 machines with 10,000 tasks.

    Medians and maxima in milliseconds of processor time of one process. Runs write their schedules; the checker replays
    optima. Writes bags_speed.csv.
    """
    import pandas as pd

    from docs.studies.bags.speed import COLUMNS, how_many, measure
    from hindsched.bench.progress import counting

    with counting("runs and optima", how_many(number, is_large=is_large), 0) as counter:
        rows = measure(number, is_large=is_large, step=counter.step)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["proven"] = frame["proven"].astype("Int64")
    write_and_print(frame, results / "bags_speed.csv", "Milliseconds of processor time", as_json=as_json)
