"""Study ``fleets``: heuristics on fleets of up to 10,000 workers."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("fleets", short_help="Run heuristics on up to 10,000 workers (coupled).")
@click.option(
    "--scenarios", type=options.COUNT, default=4, show_default=True, help="Drawn instances of each point and fleet."
)
@click.option(
    "--trace",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="LANL's event_trace of the Failure Trace Archive.",
)
@click.option(
    "--windows", type=options.POSITIVE, default=10, show_default=True, help="Windows of the trace for each fleet."
)
@click.option("--largest", type=options.POSITIVE, default=10_000, show_default=True, help="Most workers of a fleet.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of drawn instances.")
@options.time_limit(4.0)
@click.option("--only-made", is_flag=True, help="Run nothing; write the table of the instances in the folder.")
@options.kept_in("fleets")
@options.as_json
def fleets(
    scenarios: int,
    trace: Path | None,
    windows: int,
    largest: int,
    seed: int,
    time_limit_s: float,
    only_made: bool,
    results: Path,
    as_json: bool,
) -> None:
    """Run the 17 heuristics and some look-ahead policies on 20 to 10,000 workers, and solve each instance.

    The time limit is processor time. An interrupted study resumes. Writes fleets.csv.
    """
    from docs.studies.coupled import fleets as study

    drawn, lanl = ([fleet for fleet in each if fleet.workers <= largest] for each in (study.FLEETS, study.LANL_FLEETS))
    sources = study.drawn_fleets(drawn, scenarios, seed)
    if trace is not None:
        sources += study.lanl_fleets(trace, lanl, windows)
    frame = study.run_fleets(sources, results, time_limit_s=time_limit_s, only_made=only_made)
    write_and_print(frame, results / "fleets.csv", "Runs on large fleets", as_json=as_json)
