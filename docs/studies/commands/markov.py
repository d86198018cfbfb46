"""Study ``markov``: whether real machines are Markov, and whether that matters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.traces import named_traces
from hindsched.bench.output import Table


@click.command(short_help="Test whether real machines are Markov (coupled).")
@click.option("--trace", "traces", multiple=True, metavar="[NAME=]FILE",
              help="A trace of yours; files of one name are one trace.  [default: nine spot zones]")  # fmt: skip
@click.option("--slot-s", type=options.ABOVE_ZERO, default=195.0, show_default=True, metavar="S",
              help="Seconds in a slot.")  # fmt: skip
@click.option("--nodes", type=options.POSITIVE, default=None, help="Only so many nodes.")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="A policy.  [default: E-IE]")
@click.option("--task", type=options.ABOVE_ZERO, default=0.1, show_default=True, metavar="SHARE",
              help="Task length over the mean availability period.")  # fmt: skip
@click.option("--windows", type=options.POSITIVE, default=4, show_default=True, help="Windows to run policies on.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of what is drawn.")
@options.time_limit(60.0)
@options.jobs
@options.kept_in("markov")
@options.as_json
def markov(
    traces: tuple[str, ...],
    slot_s: float,
    nodes: int | None,
    policies: tuple[str, ...],
    task: float,
    windows: int,
    seed: int,
    time_limit_s: float,
    jobs: int,
    results: Path,
    as_json: bool,
    **_: Any,
) -> None:
    """Test what chains forget on real machines, compare estimates with what came, and measure what it costs.

    Writes markov_tests.csv (a row for each node), markov_estimates.csv (predicted and observed attempts) and
    markov_costs.csv: ratios with chains of the training window, with those of the instance's own window, which nobody
    could know, and on states drawn from the chains instead of the real ones. Rows of other machines stay in them.
    """
    from docs.studies.coupled import markov as study
    from hindsched.bench.results.records import records
    from hindsched.instances.errors import InputError
    from hindsched.instances.traces import read_packaged

    named = named_traces(traces) if traces else {"spot": read_packaged("spot_aws_v100")}
    if len(named) > 1:
        raise InputError(f"{len(named)} names, expected one trace: NAME=FILE for each of its files", place="--trace")
    ((machines, trace),) = named.items()
    window = trace.window(slot_s=slot_s, nodes=nodes)
    states = trace.states(slot_s=slot_s, start=window.start, slots=window.slots, nodes=window.nodes)
    tests = study.rows_of_tests(machines, window.nodes, states, slot_s, float(window.start))
    half = window.slots // 2
    found = study.estimates(machines, states[:, :half], states[:, half:], members=(1, 2, 4), lengths=(5, 20, 80))
    cost = study.costs_of(
        machines, trace, slot_s, policies or ("E-IE",), results, windows=windows, task=task, nodes=nodes,
        num_processes=jobs, time_limit_s=time_limit_s, seed=seed,
    )  # fmt: skip
    for name, rows, columns in (
        ("tests", tests, study.TEST_COLUMNS),
        ("estimates", found, study.ESTIMATE_COLUMNS),
        ("costs", records(cost), tuple(cost.columns)),
    ):
        study.keep(results / f"markov_{name}.csv", machines, rows, columns)
        table = Table({key: key.replace("_", " ") for key in columns}, as_json, title=name.capitalize())
        table.add_all(rows)
        table.show()
