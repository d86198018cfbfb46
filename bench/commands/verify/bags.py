"""``hindsched verify-bags``: what is proven of bags, confirmed by machine."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.output_files import expect_folder, expect_writable
from hindsched.instances.text_files import write_text


@click.command("verify-bags", short_help="Test the theorems on bags.")
@click.option("--instances", type=options.POSITIVE, default=1_000, help="Number of random instances.")
@click.option("--seed", type=options.COUNT, default=0, help="Seed of the instances.")
@click.option(
    "--failures",
    type=options.FOLDER,
    default=Path("results/verify-bags"),
    help="Folder for an instance that contradicts a theorem.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Output file for the counts (CSV).",
)
@options.as_json
def verify_bags(instances: int, seed: int, failures: Path, output: Path | None, as_json: bool) -> None:
    """Test the theorems of docs/bags/theory.md on small random bags.

    Optima are compared with exhaustive search, CP-SAT models, matchings, greedy assignments and interval graphs. All
    policies run in both simulators, and their schedules are checked. The command stops at the first contradiction with
    exit code 3, and writes the instance to a file.
    """
    from hindsched.bench.bags.verify import CLAIMS, verify
    from hindsched.bench.progress import counting

    expect_folder(failures)
    if output is not None:
        expect_writable(output)
    with counting("instances", instances, 0) as counter:
        done = verify(instances=instances, seed=seed, failures=failures, step=counter.step)
    table = Table({"claim": "claim", "says": "what it says", "confirmed": "times confirmed"}, as_json)
    table.add_all({"claim": name, "says": CLAIMS[name], "confirmed": times} for name, times in done.items())
    table.show()
    if output is not None:
        lines = [f"{name},{times}" for name, times in {"instances": instances, **done}.items()]
        write_text(output, "\n".join(["claim,times", *lines]) + "\n")
