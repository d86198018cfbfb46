"""``hindsched solve``: the optimum in hindsight, with a proof."""

from __future__ import annotations

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.by_family import FamilyCommand, own_flags
from hindsched.bench.family import family_of
from hindsched.bench.output import Refusals, Table
from hindsched.bench.shared_types import Row


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
    table = Table(None, as_json, title="Hindsight optima", spare=("bound", "solver", "objective", "runtime_s"))
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
            for row, result in results:  # JSON has the limit as a part of "termination"
                table.add({"file": file, **row} | ({} if as_json else {"limit": result.limit}))
            first = results[0][1]  # the others are of variants of the instance
            with refusals.of(file):
                if targets and first.schedule is not None:
                    instances.write_schedule(first.schedule, targets[file, ""])
            family.commands.write_bound(first, bound)
    table.show()
    return refusals.code
