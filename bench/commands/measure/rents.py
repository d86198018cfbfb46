"""``hindsched bench rents``: the bound by rents against optima of small instances."""

from __future__ import annotations

from pathlib import Path

import click

from bench.commands import options
from bench.output import Table
from instances.textio import write_text


@click.command(short_help="Measure the bound by rents against optima (coupled).")
@click.option("--instances", type=options.POSITIVE, default=5_000, show_default=True, help="Random instances.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the instances.")
@options.kept_in("rents")
@options.as_json
def rents(instances: int, seed: int, results: Path, as_json: bool) -> None:
    """Ask for the lower bound by rents of small instances of all shapes, and compare with their optima.

    The bound is asked for from nothing, and to refute optimum - 1 alone; each certificate goes to the independent
    evaluator. A bound above the optimum, or a certificate refused, ends the command with exit code 3, and the instance
    is written to the folder of results. Interrupted, it goes on where it was. The table is written to coupled_rents.csv
    too.
    """
    from bench.coupled.studies.rent_bounds import COLUMNS, as_csv, measure

    rows = measure(results, instances, seed)
    table = Table({name: name for name in COLUMNS}, as_json, title="Bounds by rents, small instances by K")
    table.add_all(rows)
    table.show()
    write_text(results / "coupled_rents.csv", as_csv(rows, COLUMNS))
