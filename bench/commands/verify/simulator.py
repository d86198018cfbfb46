"""``hindsched verify-simulator``: the two simulators, compared run for run."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.output_files import expect_folder


@click.command("verify-simulator", short_help="Compare the two simulators.")
@click.option("--instances", type=options.POSITIVE, default=1_000, help="Number of random instances.")
@click.option("--seed", type=options.COUNT, default=0, help="Seed of the instances.")
@click.option(
    "--failures",
    type=options.FOLDER,
    default=Path("results/verify-simulator"),
    help="Folder for an instance on which the simulators differ.",
)
@options.as_json
def verify_simulator(instances: int, seed: int, failures: Path, as_json: bool) -> None:
    """Run all 17 heuristics on random instances in both simulators, and compare the schedules exactly.

    Every tenth instance is from the paper's experiment with 2,000 slots; the others are small and general. Estimators,
    orders of service and tie-breaking rules alternate. Every schedule is checked. The command stops at the first
    difference with exit code 3, and writes the instance to a file.
    """
    from hindsched.bench.coupled.verify.twins import agree
    from hindsched.bench.progress import counting

    expect_folder(failures)
    with counting("instances", instances, 0) as counter:
        done = agree(instances=instances, seed=seed, failures=failures, step=counter.step)
    table = Table({"policy": "policy", "runs": "runs alike", "slots": "slots in them"}, as_json)
    table.add_all({"policy": policy, "runs": runs, "slots": slots} for policy, (runs, slots) in done.items())
    table.show()
