"""Study ``deadline-foresight``: what some hours of foresight are worth."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("deadline-foresight", short_help="Measure what some hours of foresight are worth (deadline).")
@click.option("--starts", type=options.POSITIVE, default=2, show_default=True, help="Windows of each zone and setting.")
@options.kept_in("deadline")
@options.as_json
def deadline_foresight(starts: int, results: Path, as_json: bool) -> None:
    """Run a yardstick that knows the next hours of spot on windows of the packaged zones, beside the optimum.

    It looks ahead, so it is no on-line policy. Writes deadline_foresight.csv, in about ten minutes.
    """
    import pandas as pd

    from docs.studies.deadline.foresight import rows
    from hindsched.bench.deadline.reproduction import Setup, experiment
    from hindsched.bench.progress import counting

    windows = experiment(Setup(starts=starts))
    with counting("windows", len(windows), 0) as counter:
        frame = pd.DataFrame(rows(windows, counter.step))
    write_and_print(frame, results / "deadline_foresight.csv", "Costs with hours of foresight", as_json=as_json)
