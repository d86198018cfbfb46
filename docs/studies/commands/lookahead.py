"""Study ``lookahead``: our own policies on the paper's experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table


@click.command("lookahead", short_help="Run our own policies on the paper's experiment.")
@options.points()
@options.draws()
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the experiment.")
@click.option(
    "--policy", "policies", multiple=True, metavar="NAME", help="One of ours; several may be given.  [default: all]"
)
@click.option(
    "--only-made",
    is_flag=True,
    help="Make no run; write the tables of those that the folder holds, up to the first that it lacks.",
)
@options.jobs
@options.kept_in("lookahead")
@options.as_json
def lookahead(
    ms: Sequence[int],
    n_coms: Sequence[int],
    wmins: Sequence[int],
    scenarios: Sequence[int],
    trials: Sequence[int],
    seed: int,
    policies: tuple[str, ...],
    only_made: bool,
    jobs: int,
    results: Path,
    as_json: bool,
) -> None:
    """Run our own policies of coupled on the instances of the paper's experiment, 6,000 by default.

    Horizon 1,000,000 slots, p = 20, K = 10. An interrupted study resumes. Writes lookahead_runs.csv (one row per
    instance, with the makespan of each policy) and lookahead_speed.csv into the results folder.
    """
    from docs.studies.coupled.lookahead import run_ours
    from hindsched.bench.coupled.paper import experiment
    from hindsched.bench.results.records import records
    from hindsched.instances import InputError
    from hindsched.online.coupled import OURS

    for policy in policies:
        if policy not in OURS:
            raise InputError(f"{policy!r}, expected one of {', '.join(OURS)}", place="policy")
    sources = experiment(ms=ms, n_coms=n_coms, wmins=wmins, scenarios=scenarios, trials=trials, seed=seed)
    _, costs = run_ours(sources, results, policies=policies or OURS, num_processes=jobs, only_made=only_made)
    table = Table({name: name for name in costs.columns}, as_json, title="Runs of our own policies")
    table.add_all(records(costs.astype(object)))
    table.show()
