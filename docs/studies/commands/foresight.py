"""Study ``foresight``: ratios along six axes, on drawn chains and real machines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from docs.studies.commands.gathered import gather
from docs.studies.commands.traces import named_traces
from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.instances.text_files import write_text

_AXES = ("task", "channels", "program", "workers", "lost", "away")


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Options of drawn instances."""

    axes: tuple[str, ...]
    instances: int


@dataclass(frozen=True, slots=True)
class _OwnTraces:
    """Options of traces and their windows."""

    traces: tuple[str, ...]
    slot_s: float
    nodes: int
    windows: int
    train_slots: int | None
    window_slots: int | None


@dataclass(frozen=True, slots=True)
class _Runs:
    """Options of runs and solves."""

    policies: tuple[str, ...]
    seed: int
    time_limit_s: float
    jobs: int
    results: Path


@click.command(short_help="Measure when foresight matters (coupled).")
@click.option("--axis", "axes", type=click.Choice(_AXES), multiple=True, help="Only this axis.  [default: all six]")
@click.option("--instances", type=options.COUNT, default=6, show_default=True, help="Drawn instances at each point.")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="A policy.  [default: E-IE, hot and auto]")
@click.option("--spot/--no-spot", default=True, show_default=True, help="Include the packaged spot zones.")
@click.option("--trace", "traces", multiple=True, metavar="[NAME=]FILE",
              help="Include this trace; files with one name are one trace.")  # fmt: skip
@click.option("--slot-s", type=options.ABOVE_ZERO, default=600.0, show_default=True, metavar="S",
              help="Length of a slot of these traces.")  # fmt: skip
@click.option(
    "--nodes",
    type=options.POSITIVE,
    default=20,
    show_default=True,
    help="Most nodes of each of these traces.",
)
@click.option("--windows", type=options.POSITIVE, default=4, show_default=True, help="Windows of each real trace.")
@click.option(
    "--train-slots",
    type=options.POSITIVE,
    default=None,
    help="Slots to fit chains on.  [default: 3000, or a third of the trace]",
)
@click.option(
    "--window-slots",
    type=options.POSITIVE,
    default=None,
    help="Slots of a window.  [default: 40 availability periods]",
)
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of drawn instances.")
@options.time_limit(10.0)
@options.jobs
@options.kept_in("foresight")
@options.as_json
@gather("drawn", _Drawn)
@gather("own", _OwnTraces)
@gather("runs", _Runs)
def foresight(drawn: _Drawn, own: _OwnTraces, runs: _Runs, spot: bool, as_json: bool, **_: Any) -> None:
    """Run policies and find optima along six axes from a common centre, on drawn chains and on real machines.

    The axes are task length and absences over the mean availability period, n_com over m, T_prog over the task length,
    p over m, and the share of absences that are DOWN. Writes foresight.csv and foresight.svg. An interrupted study
    resumes.
    """
    from docs.studies.coupled import foresight as study
    from hindsched.bench.results.records import records
    from hindsched.instances.traces import read_packaged

    sources = study.drawn_sources(drawn.axes or _AXES, drawn.instances, runs.seed)
    if spot:
        windows = study.Windows(own.windows, train_slots=3_100, slots=3_400)
        trace = read_packaged("spot_aws_v100")
        sources += study.trace_sources("spot", trace, 195, windows, tasks=study.AXES["task"])
    windows = study.Windows(own.windows, train_slots=own.train_slots, slots=own.window_slots, nodes=own.nodes)
    for name, trace in named_traces(own.traces).items():
        sources += study.trace_sources(name, trace, own.slot_s, windows)
    found = study.map_of(
        sources,
        runs.policies or ("E-IE", "hot", "auto"),
        runs.results,
        num_processes=runs.jobs,
        time_limit_s=runs.time_limit_s,
        seed=runs.seed,
    )
    write_text(runs.results / "foresight.csv", found.to_csv(index=False, float_format="%.6g"))
    study.draw_map(found, runs.results / "foresight.svg")
    table = Table({name: name.replace("_", " ") for name in study.COLUMNS}, as_json, title="Makespan / optimum")
    table.add_all(records(found))
    table.show()
