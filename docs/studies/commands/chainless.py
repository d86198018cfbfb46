"""Study ``chainless``: policies with and without chains, on machines that are Markov chains and on others."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("chainless", short_help="Compare policies with and without chains (coupled).")
@click.option("--instances", type=options.COUNT, default=30, show_default=True, help="Drawn instances at each point.")
@click.option("--windows", type=options.POSITIVE, default=30, show_default=True, help="Most windows of the spot zones.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of drawn instances.")
@options.time_limit(20.0)
@options.jobs
@options.kept_in("chainless")
@options.as_json
def chainless(
    instances: int, windows: int, seed: int, time_limit_s: float, jobs: int, results: Path, as_json: bool
) -> None:
    """Run policies with and without chains along the axis of task length.

    The machines are chains, Weibull and log-normal renewal processes with fitted chains, and spot zones whose absences
    are DOWN or RECLAIMED. An interrupted study resumes. Writes chainless.csv into the results folder.
    """
    from docs.studies.coupled import foresight, renewal

    found = foresight.map_of(
        renewal.sources(instances, windows, seed),
        renewal.POLICIES,
        results,
        num_processes=jobs,
        time_limit_s=time_limit_s,
        seed=seed,
    )
    write_and_print(found, results / "chainless.csv", "Makespan / optimum", as_json=as_json)
