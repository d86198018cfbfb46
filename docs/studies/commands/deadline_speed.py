"""Study ``deadline-speed``: times of optima, bounds and runs of jobs with a deadline, and a race of their solvers."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("deadline-speed", short_help="Time optima, runs and solvers of jobs with a deadline.")
@click.option("--windows", type=options.POSITIVE, default=1, show_default=True, help="Windows of each packaged zone.")
@click.option(
    "--instances", type=options.POSITIVE, default=3, show_default=True, help="Instances of a group of the race."
)
@options.time_limit(10.0)
@options.kept_in("deadline")
@options.as_json
def deadline_speed(windows: int, instances: int, time_limit_s: float, results: Path, as_json: bool) -> None:
    """Time optima, bounds and runs on the packaged zones, and all solvers on one list of instances.

    Times are processor times of one process and its children. Writes deadline_speed.csv and deadline_solvers.csv.
    """
    import pandas as pd

    from docs.studies.deadline import speed
    from hindsched.bench.progress import counting

    with counting("calls", speed.how_many(windows), 0) as counter:
        frame = pd.DataFrame(speed.measure(windows, counter.step), columns=list(speed.COLUMNS))
    write_and_print(frame, results / "deadline_speed.csv", "Milliseconds of processor time", as_json=as_json)
    number = sum(map(len, speed.racers(instances).values())) * len(speed.SOLVERS)
    with counting("solves", number, 0) as counter:
        rows = pd.DataFrame(speed.race(instances, time_limit_s, counter.step), columns=list(speed.RACE_COLUMNS))
    rows = rows.astype({"value": "Int64", "lower": "Int64"})
    write_and_print(rows, results / "deadline_solvers.csv", "Solvers of jobs with a deadline", as_json=as_json)
