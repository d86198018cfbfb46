"""``hindsched solve``: the optimum in hindsight, with a proof."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.by_family import FamilyCommand, own_flags
from hindsched.bench.family import family_of
from hindsched.bench.family_commands import FamilyCommands
from hindsched.bench.output import Refusals, Table
from hindsched.bench.shared_types import Row
from hindsched.offline.results import Result, Sense


@click.command(cls=FamilyCommand, short_help="Compute the hindsight optimum.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@options.solver
@options.time_limit(None)
@click.option("--threads", type=options.POSITIVE, default=1, help="Number of threads of a solver.")
@click.option(
    "--schedule",
    "out",
    metavar="OUT",
    help="Write the schedule to a file; with several FILEs, write to the folder OUT.",
)
@options.as_json
def solve(
    files: tuple[str, ...],
    solver: str,
    time_limit_s: float | None,
    threads: int,
    out: str | None,
    as_json: bool,
    own: Row,
) -> int:
    """Compute the hindsight optimum of each instance: a checked schedule and a proven bound."""
    from hindsched import instances
    from hindsched.bench.output_files import expect_writable, schedule_targets
    from hindsched.bench.progress import working

    targets = schedule_targets(out, [(file, "") for file in files], is_one=len(files) == 1)
    table = Table(None, as_json, title="Hindsight optima", spare=("seconds", "by", "satisfied_batches", "rung"))
    cells: list[tuple[FamilyCommands[Any, Any], Row]] = []
    refusals = Refusals()
    for file in files:
        with refusals.of(file):
            instance = instances.read(file)
            family = family_of(instance)
            given = own_flags(own, family, "solve", file)
            bound = given.pop("bound", None)
            if bound is not None:
                expect_writable(bound)
            limits = {"solver": solver, "time_limit_s": time_limit_s}
            family.commands.prepare_solve(instance, len(files), {"bound": bound, **limits, **given})
            with working(f"solving {file}"):
                results = family.commands.solve(instance, {**limits, "threads": threads, **given})
            for row, result in results:
                if as_json:
                    table.add({"file": file, **row})
                else:
                    cells.append((family.commands, {"file": file, **_cells(row, result, family.commands.only_json)}))
            first = results[0][1]  # the others are of variants of the instance
            with refusals.of(file):
                if targets and first.schedule is not None:
                    instances.write_schedule(first.schedule, targets[file, ""])
            family.commands.write_bound(first, bound)
    is_proven = all(row["bound"] == row["value"] for _, row in cells)  # the bounds say nothing more
    for commands, row in cells:
        shown = {name: value for name, value in row.items() if not (is_proven and name == "bound")}
        table.add(commands.table_cells(shown))
    table.show()
    return refusals.code


def _cells(row: Row, result: Result, only_json: Collection[str]) -> Row:
    """Return what the table shows of a row: one bound, and only what differs from the usual."""
    cells: Row = {"status": row["status"]}
    if row.get("objective", "makespan") != "makespan":
        cells["objective"] = row["objective"]
    bound = row["lower"] if result.sense is Sense.MIN else row["upper"]
    cells |= {"value": row["value"], "bound": bound, "by": row["by"], "seconds": row["runtime_s"]}
    left_out = {"status", "objective", "value", "lower", "upper", "by", "runtime_s", *only_json}
    cells |= {name: value for name, value in row.items() if name not in left_out}
    return cells | ({} if result.limit is None else {"limit": result.limit})
