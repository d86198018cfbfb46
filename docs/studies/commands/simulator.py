"""Study ``simulator``: slots per second of the two simulators."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.report.markdown import markdown_table
from hindsched.instances.text_files import write_text


@click.command("simulator", short_help="Time the two simulators side by side.")
@click.option("--instances", type=options.POSITIVE, default=6, show_default=True, help="Instances of the paper.")
@click.option(
    "--slots", type=options.POSITIVE, default=2_000, show_default=True, help="Slots of each that both simulators run."
)
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the experiment.")
@options.policies
@click.option(
    "--estimator",
    type=click.Choice(["printed", "conditional"]),
    default="printed",
    show_default=True,
    help="Expected duration of a computation: as the paper prints it, or the conditional expectation.",
)
@click.option(
    "--results", type=options.FOLDER, default=Path("results/simulator"), show_default=True, help="Where the results go."
)
@options.as_json
def simulator(
    instances: int, slots: int, seed: int, policies: tuple[str, ...], estimator: str, results: Path, as_json: bool
) -> None:
    """Time the compiled simulator and its plain twin on the same instances, in one process.

    Times are medians of processor time over the instances, without the drawing of states. The last column is for the
    compiled simulator on runs of up to 1,000,000 slots. Runs that differ end the study with exit code 3. Writes
    table.md.
    """
    from docs.studies.coupled import simulator_race as racing
    from hindsched.bench.campaign.plan import expand_policies
    from hindsched.bench.progress import counting
    from hindsched.bench.run_records import Options
    from hindsched.instances import InputError
    from hindsched.online.coupled import POLICIES

    run = Options(run=(("estimator", estimator),))
    names = expand_policies(policies, ["coupled"], run)["coupled"]
    for name in names:
        if name not in POLICIES:
            raise InputError(f"{name!r}, expected one of {', '.join(POLICIES)}", place="policy")
    results.mkdir(parents=True, exist_ok=True)
    with counting("runs", instances * len(names), 0) as counter:
        rows = racing.race(names, instances=instances, slots=slots, estimator=estimator, seed=seed, step=counter.step)
    medians = racing.summary(rows)
    loading = racing.loading_times()
    note = (
        f"Machine: {loading['machine']}; one core. Before a first run, not included above: {loading['compile_s']} s of "
        f"compilation once after installation, and {loading['load_s']} s to load the machine code in each process."
    )
    write_text(results / "table.md", markdown_table(medians, list(medians[0])) + "\n" + note + "\n")
    table = Table({name: name for name in medians[0]}, as_json, title="Medians over the instances")
    table.add_all(medians)
    table.show()
    click.echo(note, err=True)
