"""``hindsight verify-solvers``: all back ends for instances without communication, compared."""

from __future__ import annotations

from pathlib import Path

import click

from bench.commands import options
from bench.output import Table


@click.command("verify-solvers", short_help="Compare all back ends without communication.")
@click.option("--instances", type=options.POSITIVE, default=10_000, show_default=True, help="Random instances.")
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
@options.results
@options.as_json
def verify_solvers(
    instances: int, seed: int, solvers: tuple[str, ...], failures: Path, results: Path | None, as_json: bool
) -> None:
    """Put questions about random instances without communication to every back end, and compare.

    Decision, earliest finish, makespan, iterations, largest w and largest m in turn; every schedule is checked. The
    first disagreement ends the command with exit code 3, and its instance is written to a file.
    """
    from bench.coupled.agreement import agree
    from bench.coupled.verification import verify_instances
    from bench.progress import counting

    chosen = solvers or None
    if results is not None:
        answered = verify_instances(results, instances=instances, seed=seed, solvers=chosen, failures=failures)
    else:
        with counting("instances", instances, 0) as counter:
            answered = agree(instances=instances, seed=seed, solvers=chosen, failures=failures, step=counter.step)
    table = Table({"solver": "solver", "instances": "instances answered alike"}, as_json)
    table.add_all({"solver": solver, "instances": number} for solver, number in answered.items())
    table.show()
