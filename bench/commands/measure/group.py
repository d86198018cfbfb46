"""``hindsched bench``: measurements and data that the documentation rests on, each rebuilt by one command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from bench.commands import options
from bench.commands.measure.core import core
from bench.commands.measure.simulator import simulator
from bench.output import Table
from bench.report.markdown import markdown_table
from instances.textio import write_text


@click.group(short_help="Rebuild what the documentation claims.")
def bench() -> None:
    """Rebuild what the documentation claims: optima of the paper's experiment, and solvers against each other."""


bench.add_command(core)
bench.add_command(simulator)


def _results(name: str) -> Callable[[options.F], options.F]:
    return click.option(
        "--results",
        type=options.FOLDER,
        default=Path("results") / name,
        show_default=True,
        help="Where the results go.",
    )


_jobs = click.option("--jobs", type=options.POSITIVE, default=2, show_default=True, help="Processes at work at once.")


@bench.command(short_help="Find the optima of the paper's experiment.")
@click.option("--m", "ms", type=options.NUMBERS, default="5,10", show_default=True, help="Tasks per iteration.")
@click.option(
    "--n-com", "n_coms", type=options.NUMBERS, default="5,10,20", show_default=True, help="Workers served at once."
)
@click.option(
    "--wmin", "wmins", type=options.NUMBERS, default="1-10", show_default=True, help="w is in [wmin, 10 wmin]."
)
@click.option("--scenarios", type=options.NUMBERS, default="0-9", show_default=True, help="Draws of the workers.")
@click.option("--trials", type=options.NUMBERS, default="0-9", show_default=True, help="Draws of their states.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the experiment.")
@click.option(
    "--setting",
    type=click.Choice(["stand-by", "no-stand-by", "both"]),
    default="both",
    show_default=True,
    help="Which optimum.",
)
@options.solver
@options.time_limit(600.0)
@_jobs
@_results("optima")
@options.as_json
def optima(
    ms: Sequence[int],
    n_coms: Sequence[int],
    wmins: Sequence[int],
    scenarios: Sequence[int],
    trials: Sequence[int],
    seed: int,
    setting: str,
    solver: str,
    time_limit_s: float,
    jobs: int,
    results: Path,
    as_json: bool,
) -> None:
    """Find the hindsight optimum of every instance of the paper's experiment, 6,000 by default.

    Horizon 1,000,000 slots, p = 20, K = 10. Writes optima.csv (one row per instance, with its fingerprint),
    distribution.csv and optima.svg; interrupted, it goes on where it stopped.
    """
    from bench.campaign.jobs import Options
    from bench.coupled import optima as data
    from bench.results.ratios import records

    sources = data.experiment(ms=ms, n_coms=n_coms, wmins=wmins, scenarios=scenarios, trials=trials, seed=seed)
    settings = {"stand-by": (True,), "no-stand-by": (False,), "both": (True, False)}[setting]
    found = data.find_optima(
        sources, Options(solver=solver, time_limit_s=time_limit_s), results, stand_by=settings, num_processes=jobs
    )
    summary = data.distribution(found, "" if True in settings else "_no_stand_by")
    write_text(results / "distribution.csv", summary.to_csv(index=False))
    rows = records(summary.astype(object).where(summary.notna(), None))
    write_text(results / "distribution.md", markdown_table(rows, list(summary.columns)))
    data.draw_distribution(summary, results / "optima.svg")
    table = Table({name: name for name in summary.columns}, as_json, title="Hindsight optima, in slots")
    table.add_all(rows)
    table.show()


@bench.command(short_help="Time exact solvers against each other.")
@click.option("--m", "ms", type=options.NUMBERS, default="5,10", show_default=True, help="Tasks per iteration.")
@click.option(
    "--n-com", "n_coms", type=options.NUMBERS, default="5,10,20", show_default=True, help="Workers served at once."
)
@click.option(
    "--wmin", "wmins", type=options.NUMBERS, default="1-10", show_default=True, help="w is in [wmin, 10 wmin]."
)
@click.option("--iterations", type=options.NUMBERS, default="1-5", show_default=True, help="K.")
@click.option("--instances", type=options.POSITIVE, default=10, show_default=True, help="Instances for each K.")
@click.option("--slots", type=options.POSITIVE, default=100_000, show_default=True, help="N.")
@click.option(
    "--solver",
    "solvers",
    metavar="NAME",
    multiple=True,
    default=("native", "cpsat"),
    show_default=True,
    help="Who competes. May be given several times.",
)
@options.time_limit(60.0)
@_results("solvers")
@options.as_json
def solvers(
    ms: Sequence[int],
    n_coms: Sequence[int],
    wmins: Sequence[int],
    iterations: Sequence[int],
    instances: int,
    slots: int,
    solvers: tuple[str, ...],
    time_limit_s: float,
    results: Path,
    as_json: bool,
) -> None:
    """Time exact solvers against each other on the paper's instances, one core each, in one process.

    For each K the instances are spread evenly over the points m, n_com, wmin. Ratios are times over those of the first
    solver on the same instance; a stopped solve counts with its time limit, so its ratio is a lower bound.
    """
    from bench.coupled.studies import races

    sources = races.spread(ms, n_coms, wmins, iterations, instances, slots)
    rows = races.race(sources, solvers, results, time_limit_s=time_limit_s)
    _show_race(races.compare(rows, solvers[0]), results, as_json)


@bench.command(short_help="Measure how a solver's time grows.")
@click.option("--p", "ps", type=options.NUMBERS, default="20,50,100,200,500,1000", show_default=True, help="Workers.")
@click.option("--m", "ms", type=options.NUMBERS, default="20,50", show_default=True, help="Tasks per iteration.")
@click.option(
    "--wmin", "wmins", type=options.NUMBERS, default="1-5", show_default=True, help="w is in [wmin, 10 wmin]."
)
@click.option(
    "--n-com", "n_coms", type=options.NUMBERS, default="5,20", show_default=True, help="Workers served at once."
)
@click.option("--iterations", type=options.NUMBERS, default="10", show_default=True, help="K.")
@click.option("--instances", type=options.POSITIVE, default=1, show_default=True, help="Instances for each point.")
@click.option("--slots", type=options.POSITIVE, default=100_000, show_default=True, help="N.")
@click.option(
    "--traces",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    envvar="HINDSCHED_TRACES",
    show_envvar=True,
    metavar="FOLDER",
    help="Where LANL's event_trace of the Failure Trace Archive is.",
)
@options.solver
@options.time_limit(60.0)
@_results("scale")
@options.as_json
def scale(
    ps: Sequence[int],
    ms: Sequence[int],
    wmins: Sequence[int],
    n_coms: Sequence[int],
    iterations: Sequence[int],
    instances: int,
    slots: int,
    traces: Path | None,
    solver: str,
    time_limit_s: float,
    results: Path,
    as_json: bool,
) -> None:
    """Measure how a solver's time grows with p, m, K, n_com and wmin, and what it does on real traces.

    The spot zones come with the toolkit; LANL's machines are tried too where --traces names the folder of their table.
    """
    from bench.campaign.sources import Paper, Source
    from bench.coupled.real import lanl_sources, spot_sources
    from bench.coupled.studies import races

    sources: list[Source] = [
        Paper(m, n_com, wmin, 0, trial, slots, 0, p, k)
        for p in ps
        for m in ms
        for n_com in n_coms
        for wmin in wmins
        for k in iterations
        for trial in range(instances)
    ]
    sources += spot_sources()
    if traces is not None:
        sources += lanl_sources(traces)
    rows = races.race(sources, [solver], results, time_limit_s=time_limit_s)
    races.draw_scale(sources, rows, results / "scale.svg")
    columns = ("instance", "status", "value", "bound", "gap", "seconds")
    write_text(results / "table.md", markdown_table(rows, columns))
    table = Table({name: name for name in columns}, as_json, title=f"{solver}, at most {time_limit_s:g} s each")
    table.add_all(rows)
    table.show()


def _show_race(compared: Sequence[dict[str, Any]], results: Path, as_json: bool) -> None:
    import pandas as pd

    write_text(results / "table.csv", pd.DataFrame(compared).to_csv(index=False))
    write_text(results / "table.md", markdown_table(compared, list(compared[0])))
    table = Table({name: name for name in compared[0]}, as_json, title="Exact solvers on the same instances")
    table.add_all(compared)
    table.show()
