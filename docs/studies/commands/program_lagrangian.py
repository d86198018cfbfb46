"""Study ``program-lagrangian``: the program Lagrangian bound compared with optima of small instances."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.instances.text_files import write_text


@click.command("program-lagrangian", short_help="Compare the program Lagrangian bound with optima (coupled).")
@click.option("--instances", type=options.POSITIVE, default=5_000, show_default=True, help="Random instances.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the instances.")
@click.option("--cells", is_flag=True, help="Run the bound alone on hard points of the study scale instead.")
@click.option("--seconds", type=options.POSITIVE, default=60, show_default=True, help="For each point of --cells.")
@options.kept_in("program-lagrangian")
@options.as_json
def program_lagrangian(instances: int, seed: int, cells: bool, seconds: int, results: Path, as_json: bool) -> None:
    """Compute the program Lagrangian bound of small instances of all shapes, and compare it with their optima.

    The bound starts from zero multipliers, and separately with the aim to refute optimum - 1. The independent evaluator
    checks each certificate. A bound above the optimum or a refused certificate ends the study with exit code 3, and the
    instance is written to the folder of results. An interrupted study resumes. Writes program_lagrangian.csv, or
    program_lagrangian_open.csv with --cells.
    """
    import pandas as pd

    from docs.studies.coupled.program_lagrangian import CELL_COLUMNS, COLUMNS, measure, measure_cells

    columns: tuple[str, ...] = CELL_COLUMNS if cells else COLUMNS
    rows = measure_cells(results, seconds) if cells else measure(results, instances, seed)
    name = "program_lagrangian_open" if cells else "program_lagrangian"
    table = Table({column: column for column in columns}, as_json, title="Program Lagrangian bound")
    table.add_all(rows)
    table.show()
    write_text(results / f"{name}.csv", pd.DataFrame(rows, columns=list(columns)).convert_dtypes().to_csv(index=False))
