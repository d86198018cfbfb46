"""Study ``readings``: the paper's experiment under several readings and seeds, compared with its printed tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from docs.studies.commands.gathered import gather
from docs.studies.commands.points import ExperimentPoints, draws, points
from hindsched.bench.commands import options
from hindsched.bench.output import Table

_READINGS = ("printed", "conditional", "undivided", "held-frozen", "candidate-fresh", "frozen")


@dataclass(frozen=True, slots=True)
class _Runs:
    """Options of the runs."""

    slots: int
    seeds: Sequence[int]
    readings: tuple[str, ...]
    policies: tuple[str, ...]
    jobs: int


@click.command(short_help="Compare readings and seeds of the paper's experiment with its printed tables.")
@points()
@draws("0")
@click.option("--slots", type=options.POSITIVE, default=1_000_000, show_default=True, help="Horizon of a run.")
@click.option("--seed", "seeds", type=options.NUMBERS, default="0-4", show_default=True, help="Of the experiment.")
@click.option(
    "--reading",
    "readings",
    type=click.Choice(_READINGS),
    multiple=True,
    default=("printed", "frozen"),
    show_default=True,
    help="A reading of the paper's open points. May be given several times.",
)
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="A heuristic.  [default: all 17]")
@options.jobs
@click.option("--out", metavar="FILE.csv", help="Write the metrics to this file too.")
@options.kept_in("readings")
@options.as_json
@gather("points", ExperimentPoints)
@gather("runs", _Runs)
def readings(points: ExperimentPoints, runs: _Runs, results: Path, out: str | None, as_json: bool) -> None:
    """Run readings of the paper on instances of several seeds, and compute the metrics of its tables.

    Runs are kept in the results folder; calls for other seeds, trials or readings add to it. The stored runs of seed 0
    under printed and conditional count too. Writes metrics.csv, and the distances from the printed tables to
    closeness.csv.
    """
    import pandas as pd

    from docs.studies.coupled import readings as study
    from hindsched.bench.coupled import paper_tables, reproduction
    from hindsched.bench.coupled.paper import SLOTS
    from hindsched.bench.results.records import records
    from hindsched.instances.errors import InputError
    from hindsched.instances.text_files import write_text
    from hindsched.online.coupled import POLICIES

    chosen = [reproduction.READINGS[name] for name in dict.fromkeys(runs.readings)]
    for name in runs.policies:
        if name not in POLICIES:
            raise InputError(f"{name!r}, expected one of {', '.join(POLICIES)}", place="--policy")
    published = study.published_runs() if runs.slots == SLOTS else None
    for seed in runs.seeds:
        is_known = published is not None and seed == 0
        wanted = [reading for reading in chosen if not (is_known and reading.name in study.PUBLISHED)]
        sources = points.sources(seed, runs.slots)
        study.run_on(sources, wanted, results, policies=runs.policies or POLICIES, num_processes=runs.jobs)
    found = pd.concat([published, study.read_runs(results)], ignore_index=True)
    metrics = study.metrics_of(found)
    closeness = paper_tables.compare_metrics(metrics, by=("reading", "seed", "sample"))
    study.write_metrics(metrics, results / "metrics.csv")
    write_text(results / "closeness.csv", closeness.to_csv(index=False))
    if out is not None:
        study.write_metrics(metrics, Path(out))
    shown = closeness[(closeness["subset"] == "core") & (closeness["metric"] == "diff")]
    table = Table({name: name for name in shown.columns}, as_json, title="How close %diff comes to the printed tables")
    table.add_all(records(shown))
    table.show()
