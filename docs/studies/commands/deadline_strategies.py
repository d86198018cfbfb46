"""Study ``deadline-strategies``: public strategy files, unchanged, beside the optimum."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("deadline-strategies", short_help="Run public strategy files beside the optimum (deadline).")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--fresh", type=options.POSITIVE, default=4, show_default=True, help="More windows of each zone for the best file."
)
@options.kept_in("deadline-strategies")
@options.as_json
def deadline_strategies(files: tuple[str, ...], fresh: int, results: Path, as_json: bool) -> None:
    """Run strategy files of the public simulator on a window of each packaged zone, each run in a process of its own.

    The best solution of a language model runs again on windows that did not choose it. Writes deadline_strategies.csv.
    """
    import pandas as pd

    from docs.studies.deadline.strategy_runs import COLUMNS, measure

    frame = pd.DataFrame(measure(files, fresh), columns=list(COLUMNS)).astype({"cost": "Int64"})
    write_and_print(frame, results / "deadline_strategies.csv", "Costs of strategy files", as_json=as_json)
