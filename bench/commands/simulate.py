"""``hindsched simulate``: on-line heuristics, slot by slot, on the states of an instance."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

import click

from bench.commands import options
from bench.output import Table, bad_input

_COLUMNS = ("file", "policy", "estimator", "makespan", "iterations")


@click.command(short_help="Run heuristics on each instance.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@options.policies
@options.estimator
@options.service
@options.ties
@options.policy_seed
@click.option("--schedule", "out", metavar="OUT", help="Write the schedule; with several runs, into the folder OUT.")
@options.as_json
def simulate(
    files: tuple[str, ...],
    policies: tuple[str, ...],
    estimator: str,
    service: str,
    ties: str,
    seed: int,
    out: str | None,
    as_json: bool,
) -> int:
    """Run heuristics on each instance; a makespan is null when the run is not finished within the slots."""
    import instances
    import online.coupled
    from bench.progress import working
    from bench.targets import schedule_targets

    names = options.expand_policies(policies, estimator=estimator)
    shown = [online.coupled.make_policy(name, estimator=estimator).name for name in names]
    targets = schedule_targets(out, files, shown)
    table = Table({key: key for key in _COLUMNS}, as_json, title="Runs")
    failed = 0
    for file in files:
        try:
            instance = instances.read(file)
            for name in names:
                with working(f"{name} on {file}"), redirect_stdout(sys.stderr):  # a policy may print
                    run = online.run_policy(instance, name, estimator=estimator, service=service, ties=ties, seed=seed)
                if targets:
                    instances.write_schedule(run.schedule, targets[file, run.policy])
                table.add(
                    {
                        "file": file,
                        "policy": run.policy,
                        "estimator": estimator,
                        "makespan": run.makespan,
                        "iterations": run.iterations,
                    }
                )
        except instances.InputError as error:
            bad_input(error.in_file(file))
            failed = 2
    table.show()
    return failed
