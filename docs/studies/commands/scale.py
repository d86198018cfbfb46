"""Study ``scale``: how a solver's time grows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.report.markdown import markdown_table
from hindsched.instances.text_files import write_text


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
    help="Where LANL's event_trace of the Failure Trace Archive is.",
)
@options.solver
@options.time_limit(60.0)
@click.option(
    "--threads", type=options.NUMBERS, default="1", show_default=True, help="Threads a solver may use, in turn."
)
@click.option(
    "--processor",
    is_flag=True,
    help="Let times and limit be of the processor's time, of all threads together, not of what goes by.",
)
@options.kept_in("scale")
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
    threads: Sequence[int],
    processor: bool,
    results: Path,
    as_json: bool,
) -> None:
    """Measure how a solver's time grows with p, m, K, n_com and wmin, and what it does on real traces.

    The spot zones come with the toolkit; LANL's machines are tried too where --traces names the folder of their table.
    Interrupted, it goes on where it was. The table is written to coupled_scale.csv too.
    """
    import pandas as pd

    from docs.studies.coupled import solver_races as races
    from docs.studies.coupled.lanl import lanl_sources
    from hindsched.bench.campaign.sources import Source
    from hindsched.bench.coupled.paper import Paper
    from hindsched.bench.coupled.real import spot_sources

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
    rows = races.race(sources, [solver], results, time_limit_s=time_limit_s, is_processor=processor, threads=threads)
    scaled = races.scale_rows(sources, rows)
    races.draw_scale(scaled, results / "scale.svg")
    columns = ("instance", *(("threads",) if len(threads) > 1 else ()), "status", "value", "bound", "gap", "seconds")
    write_text(results / "table.md", markdown_table(rows, columns))
    frame = pd.DataFrame(scaled, columns=list(races.SCALE_COLUMNS))
    write_text(results / "coupled_scale.csv", frame.convert_dtypes().to_csv(index=False))
    table = Table({name: name for name in columns}, as_json, title=f"{solver}, at most {time_limit_s:g} s each")
    table.add_all(rows)
    table.show()
