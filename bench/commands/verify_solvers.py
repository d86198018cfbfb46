"""``hindsight verify-solvers``: all back ends for instances without communication, or all general solvers, compared."""

from __future__ import annotations

from pathlib import Path

import click

from bench.commands import options
from bench.output import Table


@click.command("verify-solvers", short_help="Compare the exact solvers.")
@click.option("--general", is_flag=True, help="The general problem, communication and all.")
@click.option("--instances", type=options.POSITIVE, default=10_000, show_default=True, help="Random instances.")
@click.option("--first", type=options.COUNT, default=0, show_default=True, help="With --general: go on from here.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the instances.")
@click.option(
    "--solver", "solvers", multiple=True, metavar="NAME", help="Only this back end. May be given several times."
)
@click.option(
    "--failures",
    type=click.Path(path_type=Path),
    default=Path("results/verify-solvers"),
    show_default=True,
    help="Folder for an instance on which they disagree.",
)
@options.as_json
def verify_solvers(
    general: bool, instances: int, first: int, seed: int, solvers: tuple[str, ...], failures: Path, as_json: bool
) -> None:
    """Put questions about random instances to every exact solver, and compare.

    Without communication: decision, earliest finish, makespan, iterations, largest w and largest m in turn, by all back
    ends. With --general: small instances with communication, both objectives, with stand-by and without, by native,
    native-in-rounds (native, its first search cut off), cpsat and brute where it can; other solvers if you name them.

    Every schedule is checked. The first disagreement ends the command with exit code 3, and its instance is written to
    a file. Instances are numbered and always the same, so that a stopped run can go on with --first.
    """
    from bench.coupled.agreement import agree
    from bench.coupled.general_agreement import agree_in_general
    from bench.progress import counting
    from instances import InputError

    if first and not general:
        raise InputError("goes with --general", place="--first")
    with counting("instances", instances, 0) as counter:
        if general:
            answered = agree_in_general(
                instances=instances,
                first=first,
                seed=seed,
                solvers=solvers or None,
                failures=failures,
                step=counter.step,
            )
        else:
            answered = agree(
                instances=instances, seed=seed, solvers=solvers or None, failures=failures, step=counter.step
            )
    table = Table({"solver": "solver", "instances": "instances answered alike"}, as_json)
    table.add_all({"solver": solver, "instances": number} for solver, number in answered.items())
    table.show()
