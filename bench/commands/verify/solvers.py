"""``hindsched verify-solvers``: all back ends for instances without communication, or all general solvers, compared."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.output_files import expect_folder


@click.command("verify-solvers", short_help="Compare the exact solvers.")
@click.option("--general", is_flag=True, help="The general problem, communication and all.")
@click.option("--instances", type=options.POSITIVE, default=10_000, show_default=True, help="Random instances.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the instances.")
@click.option(
    "--solver", "solvers", multiple=True, metavar="NAME", help="Only this back end. May be given several times."
)
@click.option(
    "--failures",
    type=options.FOLDER,
    default=Path("results/verify-solvers"),
    show_default=True,
    help="Folder for an instance on which they disagree.",
)
@options.results
@options.as_json
def verify_solvers(
    general: bool,
    instances: int,
    seed: int,
    solvers: tuple[str, ...],
    failures: Path,
    results: Path | None,
    as_json: bool,
) -> None:
    """Put questions about random instances to every exact solver, and compare.

    Without communication: decision, earliest finish, makespan, iterations, largest w and largest m in turn, by all back
    ends. With --general: small instances with communication, both objectives, with stand-by and without, by native,
    native-in-rounds (native, its first search cut off), cpsat and brute where it can; other solvers if you name them.

    Every schedule is checked. The first disagreement ends the command with exit code 3, and its instance is written to
    a file.
    """
    from hindsched.bench.coupled.verify.agreement import agree
    from hindsched.bench.coupled.verify.blocks import verify_instances
    from hindsched.bench.coupled.verify.general_agreement import agree_in_general
    from hindsched.bench.progress import counting

    expect_folder(failures)
    chosen = solvers or None
    if results is not None:
        answered = verify_instances(
            results, general=general, instances=instances, seed=seed, solvers=chosen, failures=failures
        )
    else:
        compare = agree_in_general if general else agree
        with counting("instances", instances, 0) as counter:
            answered = compare(instances=instances, seed=seed, solvers=chosen, failures=failures, step=counter.step)
    table = Table({"solver": "solver", "instances": "instances answered alike"}, as_json)
    table.add_all({"solver": solver, "instances": number} for solver, number in answered.items())
    table.show()
