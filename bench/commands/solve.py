"""``hindsched solve``: the best that full knowledge of the future allows, proven."""

from __future__ import annotations

import click

from bench.commands import options
from bench.output import Table, bad_input

_COLUMNS = ("file", "status", "objective", "value", "bound", "solver", "runtime_s")


@click.command(short_help="Find the hindsight optimum of each instance.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--objective",
    type=click.Choice(["makespan", "iterations"]),
    default="makespan",
    show_default=True,
    help="Fewest slots for the iterations asked for, or most iterations within the slots.",
)
@options.solver
@options.stand_by
@options.time_limit(None)
@click.option("--threads", type=options.POSITIVE, default=1, show_default=True, help="Threads a solver may use.")
@click.option("--schedule", "out", metavar="OUT", help="Write the schedule; with several FILEs, into the folder OUT.")
@click.option(
    "--write-model",
    "model",
    metavar="OUT",
    help="Write the model of the makespan first: .lp or .mps (integer program), .pbtxt or .pb (CP-SAT). One FILE only.",
)
@options.as_json
def solve(
    files: tuple[str, ...],
    objective: str,
    solver: str,
    stand_by: bool,
    time_limit_s: float | None,
    threads: int,
    out: str | None,
    model: str | None,
    as_json: bool,
) -> int:
    """Find the hindsight optimum of each instance, with a checked schedule and a proven bound."""
    import instances
    import offline.coupled
    from bench.progress import working
    from bench.targets import schedule_targets

    if model is not None and (len(files) > 1 or objective != "makespan"):
        raise click.UsageError("--write-model goes with one FILE and the objective makespan")
    targets = schedule_targets(out, files)
    table = Table({key: key for key in _COLUMNS}, as_json, title="Hindsight optima")
    failed = 0
    for file in files:
        try:
            instance = instances.read(file)
        except instances.InputError as error:
            bad_input(error.in_file(file))
            failed = 2
            continue
        if model is not None:
            with working(f"writing {model}"):
                offline.coupled.write_model(
                    instance, model, solver=solver, stand_by=stand_by, time_limit_s=time_limit_s
                )
        with working(f"solving {file}"):
            result = offline.solve(
                instance,
                objective,
                solver=solver,
                stand_by=stand_by,
                time_limit_s=time_limit_s,
                threads=threads,
            )
        if result.schedule is not None and targets:
            instances.write_schedule(result.schedule, targets[file, ""])
        table.add(
            {
                "file": file,
                "status": str(result.status),
                "objective": str(result.objective),
                "value": result.value,
                "bound": result.bound,
                "solver": result.solver,
                "runtime_s": round(result.runtime_s, 6),
            }
        )
    table.show()
    return failed
