"""``hindsched solve``: the best that full knowledge of the future allows, proven."""

from __future__ import annotations

from typing import Any

import click

from bench.commands import options
from bench.commands.by_family import FamilyCommand, own_flags
from bench.family import family_of
from bench.output import Table, bad_input


@click.command(cls=FamilyCommand, short_help="Find the hindsight optimum of each instance.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@options.solver
@options.time_limit(None)
@click.option("--threads", type=options.POSITIVE, default=1, show_default=True, help="Threads a solver may use.")
@click.option("--schedule", "out", metavar="OUT", help="Write the schedule; with several FILEs, into the folder OUT.")
@options.as_json
def solve(
    files: tuple[str, ...],
    solver: str,
    time_limit_s: float | None,
    threads: int,
    out: str | None,
    as_json: bool,
    own: dict[str, Any],
) -> int:
    """Find the hindsight optimum of each instance, with a checked schedule and a proven bound."""
    import instances
    from bench.progress import working
    from bench.targets import schedule_targets

    targets = schedule_targets(out, files)
    table = Table(None, as_json, title="Hindsight optima", spare=("bound", "solver", "objective", "runtime_s"))
    failed = 0
    for file in files:
        try:
            instance = instances.read(file)
            family = family_of(instance)
            mine = own_flags(own, family, "solve", file)
            bound = mine.pop("bound", None)
            family.before_solve(instance, len(files), bound=bound, solver=solver, time_limit_s=time_limit_s, **mine)
            with working(f"solving {file}"):
                answers = family.answers(instance, solver=solver, time_limit_s=time_limit_s, threads=threads, **mine)
        except instances.InputError as error:
            bad_input(error.in_file(file))
            failed = 2
            continue
        for number, (row, result) in enumerate(answers):
            if result.schedule is not None and targets and number == 0:  # the others are of variants of the instance
                instances.write_schedule(result.schedule, targets[file, ""])
            table.add({"file": file, **row})
        try:
            family.write_bound(answers[0][1], bound)
        except instances.InputError as error:
            bad_input(error.in_file(file))
            failed = 2
    table.show()
    return failed
