"""Study ``markov``: whether real machines are Markov chains, and what the difference costs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from docs.studies.commands.gathered import gather
from docs.studies.commands.traces import named_traces
from hindsched.bench.commands import options
from hindsched.bench.output import Table


@dataclass(frozen=True, slots=True)
class _Traces:
    """Options of the trace."""

    traces: tuple[str, ...]
    slot_s: float
    nodes: int | None


@dataclass(frozen=True, slots=True)
class _Runs:
    """Options of runs and solves."""

    policies: tuple[str, ...]
    task: float
    windows: int
    seed: int
    time_limit_s: float
    jobs: int
    results: Path


@click.command(short_help="Test whether real machines are Markov chains (coupled).")
@click.option("--trace", "traces", multiple=True, metavar="[NAME=]FILE",
              help="A trace; files with one name are one trace.  [default: nine spot zones]")  # fmt: skip
@click.option("--slot-s", type=options.ABOVE_ZERO, default=195.0, show_default=True, metavar="S",
              help="Length of a slot.")  # fmt: skip
@click.option("--nodes", type=options.POSITIVE, default=None, help="Largest number of nodes.")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="A policy.  [default: E-IE]")
@click.option("--task", type=options.ABOVE_ZERO, default=0.1, show_default=True, metavar="SHARE",
              help="Task length over the mean availability period.")  # fmt: skip
@click.option("--windows", type=options.POSITIVE, default=4, show_default=True, help="Windows to run policies on.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of drawn states.")
@options.time_limit(60.0)
@options.jobs
@options.kept_in("markov")
@options.as_json
@gather("trace", _Traces)
@gather("runs", _Runs)
def markov(trace: _Traces, runs: _Runs, as_json: bool, **_: Any) -> None:
    """Test whether real machines are Markov chains, compare estimates with observations, and measure the cost.

    Writes markov_tests.csv (one row per node), markov_estimates.csv (predicted and observed attempts) and
    markov_costs.csv: ratios with chains of the training window, with chains of the instance's own window, and on states
    drawn from the chains. Rows of other machines in these files are kept.
    """
    from docs.studies.coupled import markov as study
    from hindsched.bench.results.records import records
    from hindsched.instances.errors import InputError
    from hindsched.instances.traces import read_packaged

    named = named_traces(trace.traces) if trace.traces else {"spot": read_packaged("spot_aws_v100")}
    if len(named) > 1:
        raise InputError(f"{len(named)} names, expected one trace: NAME=FILE for each of its files", place="--trace")
    ((machines, found),) = named.items()
    window = found.window(slot_s=trace.slot_s, nodes=trace.nodes)
    states = found.states(slot_s=trace.slot_s, start=window.start, slots=window.slots, nodes=window.nodes)
    tests = study.rows_of_tests(machines, window.nodes, states, trace.slot_s, float(window.start))
    half = window.slots // 2
    estimates = study.estimates(machines, states[:, :half], states[:, half:], members=(1, 2, 4), lengths=(5, 20, 80))
    costs = study.costs_of(
        study.Machines(machines, found, trace.slot_s, trace.nodes),
        study.Tasks(runs.task, runs.windows),
        runs.policies or ("E-IE",),
        runs.results,
        num_processes=runs.jobs,
        time_limit_s=runs.time_limit_s,
        seed=runs.seed,
    )
    for name, rows, columns in (
        ("tests", tests, study.TEST_COLUMNS),
        ("estimates", estimates, study.ESTIMATE_COLUMNS),
        ("costs", records(costs), tuple(costs.columns)),
    ):
        study.keep(runs.results / f"markov_{name}.csv", machines, rows, columns)
        table = Table({key: key.replace("_", " ") for key in columns}, as_json, title=name.capitalize())
        table.add_all(rows)
        table.show()
