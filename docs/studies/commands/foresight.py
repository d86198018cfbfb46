"""Study ``foresight``: the map of when knowing the future matters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.traces import named_traces
from hindsched.bench.output import Table
from hindsched.instances.text_files import write_text

_AXES = ("task", "channels", "program", "workers", "lost", "away")


@click.command(short_help="Map when knowing the future matters (coupled).")
@click.option("--axis", "axes", type=click.Choice(_AXES), multiple=True, help="Only this axis.  [default: all six]")
@click.option("--instances", type=options.COUNT, default=6, show_default=True, help="Drawn at each point.")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="A policy.  [default: E-IE, hot and auto]")
@click.option("--spot/--no-spot", default=True, show_default=True, help="Nine spot zones, which come along, too.")
@click.option("--trace", "traces", multiple=True, metavar="[NAME=]FILE",
              help="A trace of yours too; files of one name are one trace.")  # fmt: skip
@click.option("--slot-s", type=options.ABOVE_ZERO, default=600.0, show_default=True, metavar="S",
              help="Seconds in a slot of these.")  # fmt: skip
@click.option(
    "--nodes", type=options.POSITIVE, default=20, show_default=True, help="At most so many nodes of each of these."
)
@click.option("--windows", type=options.POSITIVE, default=4, show_default=True, help="Windows of each real trace.")
@click.option(
    "--train-slots",
    type=options.POSITIVE,
    default=None,
    help="For chains, of these.  [default: 3000, or a third of the trace]",
)
@click.option(
    "--window-slots",
    type=options.POSITIVE,
    default=None,
    help="In a window of these.  [default: 40 availability periods]",
)
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of what is drawn.")
@options.time_limit(10.0)
@options.jobs
@options.kept_in("foresight")
@options.as_json
def foresight(
    axes: tuple[str, ...],
    instances: int,
    policies: tuple[str, ...],
    spot: bool,
    traces: tuple[str, ...],
    slot_s: float,
    nodes: int,
    windows: int,
    train_slots: int | None,
    window_slots: int | None,
    seed: int,
    time_limit_s: float,
    jobs: int,
    results: Path,
    as_json: bool,
    **_: Any,
) -> None:
    """Run policies and find optima along six axes from a common centre, on drawn chains and on real machines.

    Task length and absences over the mean availability period, n_com over m, T_prog over the task length, p over m,
    and the share of absences that are DOWN. Writes foresight.csv and foresight.svg; interrupted, it resumes.
    """
    from docs.studies.coupled import foresight as study
    from hindsched.bench.results.records import records
    from hindsched.instances.traces import read_packaged

    sources = study.drawn_sources(axes or _AXES, instances, seed)
    if spot:
        trace = read_packaged("spot_aws_v100")
        sources += study.trace_sources(
            "spot", trace, 195, windows=windows, train_slots=3_100, slots=3_400, tasks=study.AXES["task"]
        )
    for name, trace in named_traces(traces).items():
        sources += study.trace_sources(
            name, trace, slot_s, windows=windows, train_slots=train_slots,
            slots=window_slots, nodes=nodes,
        )  # fmt: skip
    found = study.map_of(
        sources, policies or ("E-IE", "hot", "auto"), results, num_processes=jobs, time_limit_s=time_limit_s, seed=seed
    )
    write_text(results / "foresight.csv", found.to_csv(index=False, float_format="%.6g"))
    study.draw_map(found, results / "foresight.svg")
    table = Table({name: name.replace("_", " ") for name in study.COLUMNS}, as_json, title="Makespan / optimum")
    table.add_all(records(found))
    table.show()
