"""``hindsched reproduce``: the paper's experiment again, under every reading of what it leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from bench.commands import options
from bench.output import Table

_READINGS = ("printed", "conditional", "longest", "begun", "highest", "stationary", "mu1")


@click.command(short_help="Rebuild the paper's tables and Figure 2.")
@click.option("--m", "ms", type=options.NUMBERS, default="5,10", show_default=True, help="Tasks per iteration.")
@click.option("--n-com", "n_coms", type=options.NUMBERS, default="5,10,20", show_default=True, help="Workers served.")
@click.option(
    "--wmin", "wmins", type=options.NUMBERS, default="1-10", show_default=True, help="w is in [wmin, 10 wmin]."
)
@click.option("--scenarios", type=options.NUMBERS, default="0-9", show_default=True, help="Draws of the workers.")
@click.option("--trials", type=options.NUMBERS, default="0-9", show_default=True, help="Draws of their states.")
@click.option("--slots", type=options.POSITIVE, default=1_000_000, show_default=True, help="A longer run has failed.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the experiment.")
@click.option(
    "--reading",
    "readings",
    type=click.Choice([*_READINGS, "all"]),
    multiple=True,
    default=("printed", "conditional"),
    show_default=True,
    help="What is taken where the paper leaves a choice. May be given several times.",
)
@click.option("--printed", "figures", metavar="FILE.csv", help="The paper's figures, to compare with.")
@click.option("--check-slots", type=options.POSITIVE, default=2_000, show_default=True, help="Replay so many slots.")
@options.time_limit(600.0)
@click.option("--jobs", type=options.POSITIVE, default=2, show_default=True, help="Processes at work at once.")
@click.option("--dask", metavar="ADDRESS", help="Let the workers of this Dask scheduler do the work.")
@click.option(
    "--results", type=options.FOLDER, default=Path("results/paper"), show_default=True, help="Where the results go."
)
@options.as_json
def reproduce(
    ms: Sequence[int],
    n_coms: Sequence[int],
    wmins: Sequence[int],
    scenarios: Sequence[int],
    trials: Sequence[int],
    slots: int,
    seed: int,
    readings: tuple[str, ...],
    figures: str | None,
    check_slots: int,
    time_limit_s: float,
    jobs: int,
    dask: str | None,
    results: Path,
    as_json: bool,
) -> None:
    """Run the paper's 17 heuristics on its 6,000 instances, and rebuild Tables I and II and Figure 2.

    \b
    Written into the results folder:
      runs.jsonl       one row a run and optimum, from which a later call goes on
      runs.csv.xz      the runs as one compact table, for hindsched report
      tables.csv, .md  Table I (m = 5) and II (m = 10) under each reading
      closeness.csv    how close the readings come to each other and to --printed
      figure2.svg      %diff against wmin under each reading
    """  # noqa: D301  # click reads the control character
    from bench.campaign.jobs import Options
    from bench.coupled import reproduction
    from bench.coupled.optima import experiment
    from bench.report.markdown import markdown_table
    from bench.results.ratios import records
    from instances.textio import write_text

    other = None if figures is None else reproduction.printed_tables(figures)
    names = list(dict.fromkeys(_READINGS if "all" in readings else readings))
    sources = experiment(ms=ms, n_coms=n_coms, wmins=wmins, scenarios=scenarios, trials=trials, slots=slots, seed=seed)
    runs = reproduction.run_readings(
        sources,
        [reproduction.READINGS[name] for name in names],
        Options(time_limit_s=time_limit_s, check_slots=check_slots, seed=seed),
        results,
        num_processes=jobs,
        dask=dask,
    )
    found = reproduction.tables(runs)
    closeness = reproduction.closeness(found, other)
    reproduction.write_compact(runs, results / "runs.csv.xz")
    reproduction.draw_figure_2(runs, results / "figure2.svg")
    for frame, name in ((found, "tables"), (closeness, "closeness")):
        write_text(results / f"{name}.csv", frame.to_csv(index=False))
        write_text(results / f"{name}.md", markdown_table(records(frame), list(frame.columns)))
    for (reading, number), frame in found.groupby(["reading", "table"], sort=False):
        shown = [name for name in frame.columns if name not in ("table", "reading")]
        kept = list(frame.columns) if as_json else shown
        table = Table({name: name for name in kept}, as_json, title=f"Table {number}, reading {reading}")
        table.add_all(records(frame[kept]))
        table.show()
    if not as_json and len(closeness):
        table = Table({name: name for name in closeness.columns}, as_json, title="How close the readings come")
        table.add_all(records(closeness))
        table.show()
