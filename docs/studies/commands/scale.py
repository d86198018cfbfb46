"""Study ``scale``: how the time of a solver grows with the size of instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import click

from docs.studies.commands.gathered import gather
from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.report.markdown import markdown_table
from hindsched.instances.text_files import write_text


@dataclass(frozen=True, slots=True)
class _Grid:
    """Options of drawn instances; every combination is an instance."""

    ps: Sequence[int]
    ms: Sequence[int]
    wmins: Sequence[int]
    n_coms: Sequence[int]
    iterations: Sequence[int]
    instances: int
    slots: int


@dataclass(frozen=True, slots=True)
class _Solve:
    """Options of the solver."""

    solver: str
    time_limit_s: float
    threads: Sequence[int]
    processor: bool


@click.command(short_help="Measure how a solver's time grows.")
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
    help="Folder with LANL's event_trace of the Failure Trace Archive.",
)
@options.solver
@options.time_limit(60.0)
@click.option("--threads", type=options.NUMBERS, default="1", show_default=True, help="Numbers of threads, in turn.")
@click.option(
    "--processor",
    is_flag=True,
    help="Measure and limit processor time of all threads together, not wall-clock time.",
)
@options.kept_in("scale")
@options.as_json
@gather("grid", _Grid)
@gather("solve", _Solve)
def scale(grid: _Grid, solve: _Solve, traces: Path | None, results: Path, as_json: bool) -> None:
    """Measure how a solver's time grows with p, m, K, n_com and wmin, and solve instances on real traces.

    The packaged spot zones are included; --traces adds the machines of LANL. An interrupted study resumes. Writes
    coupled_scale.csv, table.md and scale.svg.
    """
    import pandas as pd

    from docs.studies.coupled import solver_races as races
    from docs.studies.coupled.lanl import lanl_sources
    from hindsched.bench.campaign.sources import Source
    from hindsched.bench.coupled.paper import Paper
    from hindsched.bench.coupled.real import spot_sources

    drawn = product(grid.ps, grid.ms, grid.n_coms, grid.wmins, grid.iterations, range(grid.instances))
    sources: list[Source] = [
        Paper(m, n_com, wmin, 0, trial, grid.slots, 0, p, k) for p, m, n_com, wmin, k, trial in drawn
    ]
    sources += spot_sources()
    if traces is not None:
        sources += lanl_sources(traces)
    limits = races.Limits(solve.time_limit_s, is_processor=solve.processor, threads=solve.threads)
    rows = races.race(sources, [solve.solver], results, limits)
    scaled = races.scale_rows(sources, rows)
    races.draw_scale(scaled, results / "scale.svg")
    threads = ("threads",) if len(solve.threads) > 1 else ()
    columns = ("instance", *threads, "status", "value", "bound", "gap", "seconds")
    write_text(results / "table.md", markdown_table(rows, columns))
    frame = pd.DataFrame(scaled, columns=list(races.SCALE_COLUMNS))
    write_text(results / "coupled_scale.csv", frame.convert_dtypes().to_csv(index=False))
    title = f"{solve.solver}, at most {solve.time_limit_s:g} s each"
    table = Table({name: name for name in columns}, as_json, title=title)
    table.add_all(rows)
    table.show()
