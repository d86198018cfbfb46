"""Study ``simulator-growth``: time of a slot against the number of workers."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from docs.studies.coupled.simulator_growth import WORKERS, growth
from hindsched.bench.commands import options
from hindsched.bench.progress import counting

_POLICIES = ("IE", "RANDOM", "P-IE", "E-IE", "Y-IE", "rr", "hot")


@click.command("simulator-growth", short_help="Time a slot of the simulator against the number of workers.")
@click.option("--policy", "policies", multiple=True, default=_POLICIES, show_default=True, help="Policies to time.")
@click.option(
    "--workers", multiple=True, type=options.POSITIVE, default=WORKERS, show_default=True, help="Numbers of workers."
)
@click.option("--slots", type=options.POSITIVE, default=5_000, show_default=True, help="Slots of a run.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the experiment.")
@click.option(
    "--results", type=options.FOLDER, default=Path("results/simulator"), show_default=True, help="Where the results go."
)
@options.as_json
def simulator_growth(
    policies: tuple[str, ...], workers: tuple[int, ...], slots: int, seed: int, results: Path, as_json: bool
) -> None:
    """Time policies on instances of the paper with more and more workers.

    A later run finds the estimates that a first run on the same workers has cached. Writes
    simulator_growth.csv.
    """
    import pandas as pd

    with counting("rows", len(workers) * len(policies), 0) as counter:
        rows = growth(policies, workers=workers, slots=slots, seed=seed, step=counter.step)
    path = results / "simulator_growth.csv"
    write_and_print(pd.DataFrame(rows), path, "Microseconds of a slot", as_json=as_json)
