"""Study ``deadline-renewal``: the policy renewal on test windows and on drawn chains."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("deadline-renewal", short_help="Compare renewal with uniform and greedy on test windows and chains.")
@click.option(
    "--windows", type=options.POSITIVE, default=60, show_default=True, help="Windows of each zone and setting."
)
@click.option("--draws", type=options.POSITIVE, default=100, show_default=True, help="Instances of each drawn chain.")
@click.option(
    "--rounded", type=options.POSITIVE, default=4, show_default=True, help="Windows of each zone for a rounded oracle."
)
@options.kept_in("deadline")
@options.as_json
def deadline_renewal(windows: int, draws: int, rounded: int, results: Path, as_json: bool) -> None:
    """Run renewal, uniform and greedy on windows of the test zones and on drawn chains, beside the optimum.

    Also compares the optimum with an oracle that rounds overhead and work up to whole slots. Writes
    deadline_held_out.csv, deadline_chains.csv and deadline_rounded.csv. The three take about 15 minutes.
    """
    import pandas as pd

    from docs.studies.deadline import chains, held_out
    from docs.studies.deadline.rounded import rows
    from hindsched.bench.deadline.reproduction import Setup, experiment
    from hindsched.bench.progress import counting

    with counting("windows", held_out.how_many(windows), 0) as counter:
        frame = pd.DataFrame(held_out.rows(windows, counter.step))
    write_and_print(frame, results / "deadline_held_out.csv", "Costs in windows of the test zones", as_json=as_json)
    with counting("draws", chains.how_many(draws), 0) as counter:
        frame = pd.DataFrame(chains.rows(draws, counter.step))
    write_and_print(frame, results / "deadline_chains.csv", "Costs on drawn chains", as_json=as_json)
    few = experiment(Setup(starts=rounded))
    with counting("windows", len(few), 0) as counter:
        frame = pd.DataFrame(rows(few, counter.step))
    write_and_print(frame, results / "deadline_rounded.csv", "Costs of a rounded oracle", as_json=as_json)
