"""Study ``lookahead``: look-ahead policies on the paper's experiment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from docs.studies.commands.gathered import gather
from docs.studies.commands.points import ExperimentPoints, draws, points
from hindsched.bench.commands import options
from hindsched.bench.output import Table


@dataclass(frozen=True, slots=True)
class _Runs:
    """Options of the runs."""

    seed: int
    policies: tuple[str, ...]
    only_made: bool
    jobs: int


@click.command("lookahead", short_help="Run look-ahead policies on the paper's experiment.")
@points()
@draws()
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the experiment.")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME",
    help="A policy. May be given several times.  [default: all]",
)
@click.option(
    "--only-made",
    is_flag=True,
    help="Run nothing; write the tables of the runs in the folder, up to the first missing one.",
)
@options.jobs
@options.kept_in("lookahead")
@options.as_json
@gather("points", ExperimentPoints)
@gather("runs", _Runs)
def lookahead(points: ExperimentPoints, runs: _Runs, results: Path, as_json: bool) -> None:
    """Run the look-ahead policies on instances of the paper's experiment, 6,000 by default.

    Horizon 1,000,000 slots, p = 20, K = 10. An interrupted study resumes. Writes lookahead_runs.csv (one row per
    instance, with the makespan of each policy) and lookahead_speed.csv into the results folder.
    """
    from docs.studies.coupled.lookahead import run_lookahead
    from hindsched.bench.results.records import records
    from hindsched.instances import InputError
    from hindsched.online.coupled import OURS

    for policy in runs.policies:
        if policy not in OURS:
            raise InputError(f"{policy!r}, expected one of {', '.join(OURS)}", place="policy")
    _, costs = run_lookahead(
        points.sources(runs.seed),
        results,
        policies=runs.policies or OURS,
        num_processes=runs.jobs,
        only_made=runs.only_made,
    )
    table = Table({name: name for name in costs.columns}, as_json, title="Runs of look-ahead policies")
    table.add_all(records(costs.astype(object)))
    table.show()
