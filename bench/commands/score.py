"""``hindsched score``: competitive ratios of policies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.by_family import FamilyCommand, family_option, policy_options
from hindsched.bench.family import family_named
from hindsched.bench.run_records import Options
from hindsched.bench.shared_types import Row

if TYPE_CHECKING:
    from hindsched.bench.campaign.sources import Source


@click.command(cls=FamilyCommand, short_help="Compare policies with the hindsight optimum.")
@click.argument("files", nargs=-1, metavar="[FILE|FOLDER]...")
@family_option
@click.option("--seed", type=options.COUNT, default=0, help="Seed of instances and of random policies.")
@options.policies
@options.run_options
@click.option(
    "--isolated",
    is_flag=True,
    help="Run each of your own policies in a process of its own, which does not hold the future (coupled, grid, "
    "deadline).",
)
@options.solver
@options.time_limit(60.0)
@options.policy_time_limit
@options.jobs
@options.pool
@click.option("--results", type=options.FOLDER, default=Path("results/score"), help="Folder of the results.")
@options.retry_failed
@options.as_json
def score(
    files: tuple[str, ...],
    family: str,
    seed: int,
    policies: tuple[str, ...],
    pairs: tuple[str, ...],
    isolated: bool,
    solver: str,
    time_limit_s: float,
    policy_time_limit_s: float | None,
    jobs: int,
    pool: bool,
    results: Path,
    retry_failed: bool,
    as_json: bool,
    own: Row,
) -> None:
    """Compute the ratios of policies to the hindsight optimum of the same instances.

    A FOLDER stands for its instance files (*.json), such as the windows that hindsched import --windows writes. Files
    of different kinds (nodes or number of workers, tasks, iterations, lengths) have a table each.

    Without FILE, the instances are a point of the family's published experiment and windows of real traces. The same
    command resumes an interrupted one; rows in the results folder are reused. A policy is code that runs with your
    rights.
    """
    from hindsched.bench.campaign import score as scoring
    from hindsched.bench.campaign.engine import Runs
    from hindsched.bench.campaign.sources import from_path
    from hindsched.bench.results.print_table import show_table

    sources: list[Source]
    if files:
        sources = [source for path in files for source in from_path(path)]
        for source in sources:
            if "family" in options.given_flags() and source.family != family:
                raise click.UsageError(f"{source.name} is of the family {source.family}, not of --family {family}")
        family = sources[0].family
    adapter = family_named(family)
    options.expect_solver(solver, family)
    if files:
        options.refuse_unused((name for name in own if name not in adapter.run_options), "with FILE")
    else:
        sources = adapter.commands.default_sources({"seed": seed, **own})
    run = policy_options(adapter, pairs, own)
    found = scoring.score(
        sources,
        policies or ("all",),
        Options(run=run, solver=solver, time_limit_s=time_limit_s, seed=seed, isolated=isolated),
        results,
        num_processes=jobs,
        runs=Runs(policy_time_limit_s, retry_failed),
        pool=pool,
    )
    show_table(found.results, found.table, as_json)
    if not as_json:
        click.echo("Written: " + ", ".join(str(path) for path in found.files))
    for line in found.ties:
        click.echo(f"hindsched: {line}", err=True)
    if found.failure is not None:
        raise found.failure
