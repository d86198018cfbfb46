"""``hindsched verify-solvers``: all back ends for instances without communication, or all general solvers, compared."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.output_files import expect_folder


@click.command("verify-solvers", short_help="Compare the exact solvers.")
@click.option("--general", is_flag=True, help="Solve the general problem, with communication.")
@click.option("--instances", type=options.POSITIVE, default=10_000, help="Number of random instances.")
@click.option("--seed", type=options.COUNT, default=0, help="Seed of the instances.")
@click.option(
    "--solver", "solvers", multiple=True, metavar="NAME", help="A solver. May be given several times.  [default: all]"
)
@click.option(
    "--failures",
    type=options.FOLDER,
    default=Path("results/verify-solvers"),
    help="Folder for an instance on which solvers disagree.",
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
    """Compare the answers of all exact solvers on random instances.

    Without communication, the objectives alternate: decision, earliest finish, makespan, iterations, largest w and
    largest m. With --general, small instances with communication have both objectives, with and without stand-by; the
    solvers are native, native-in-rounds (whose first search is cut off), cpsat and brute, unless --solver names others.

    Every schedule is checked. The command stops at the first disagreement with exit code 3, and writes the instance to
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
