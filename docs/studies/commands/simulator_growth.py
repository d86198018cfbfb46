"""Study ``simulator-growth``: time of a slot against the number of workers."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.coupled.simulator_growth import WORKERS, growth
from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.progress import counting
from hindsched.bench.report.markdown import markdown_table
from hindsched.instances.text_files import write_text

_POLICIES = ("IE", "RANDOM", "P-IE", "E-IE", "Y-IE")


@click.command("simulator-growth", short_help="Time a slot of the simulator against the number of workers.")
@click.option("--policy", "policies", multiple=True, default=_POLICIES, show_default=True, help="Policies to time.")
@click.option(
    "--workers", multiple=True, type=options.POSITIVE, default=WORKERS, show_default=True, help="Numbers of workers."
)
@click.option("--slots", type=options.POSITIVE, default=20_000, show_default=True, help="Slots of a run.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the experiment.")
@click.option(
    "--results", type=options.FOLDER, default=Path("results/simulator"), show_default=True, help="Where the results go."
)
@options.as_json
def simulator_growth(
    policies: tuple[str, ...], workers: tuple[int, ...], slots: int, seed: int, results: Path, as_json: bool
) -> None:
    """Time policies on instances of the paper with more and more workers.

    A later run finds the estimates that a first run on the same workers has cached. Writes growth.md.
    """
    results.mkdir(parents=True, exist_ok=True)
    with counting("rows", len(workers) * len(policies), 0) as counter:
        rows = growth(policies, workers=workers, slots=slots, seed=seed, step=counter.step)
    write_text(results / "growth.md", markdown_table(rows, list(rows[0])) + "\n")
    table = Table({name: name for name in rows[0]}, as_json, title="Microseconds of a slot")
    table.add_all(rows)
    table.show()
