"""``hindsched score``: the main job, a table of competitive ratios."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.commands import options
from bench.output import Table

if TYPE_CHECKING:
    from bench.campaign.score import Score
    from bench.campaign.sources import Source


@click.command(short_help="Score heuristics against the hindsight optimum.")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@options.paper_point
@click.option("--scenarios", type=options.POSITIVE, default=10, show_default=True, help="Draws of the workers.")
@click.option("--trials", type=options.POSITIVE, default=2, show_default=True, help="Draws of the states of each.")
@click.option("--slots", type=options.POSITIVE, default=5_000, show_default=True, help="N, slots to generate.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of everything that is drawn.")
@options.policies
@options.estimator
@options.service
@options.solver
@options.time_limit(60.0)
@click.option("--jobs", type=options.POSITIVE, default=2, show_default=True, help="Processes at work at once.")
@click.option(
    "--results", type=options.FOLDER, default=Path("results/score"), show_default=True, help="Where the results go."
)
@options.as_json
def score(
    files: tuple[str, ...],
    m: int,
    n_com: int | None,
    wmin: int,
    p: int,
    iterations: int,
    scenarios: int,
    trials: int,
    slots: int,
    seed: int,
    policies: tuple[str, ...],
    estimator: str,
    service: str,
    solver: str,
    time_limit_s: float,
    jobs: int,
    results: Path,
    as_json: bool,
) -> None:
    """Score heuristics against the hindsight optimum of the same states.

    Without FILE: instances of the paper's experiment at the given point, and nine zones of real spot machines. An
    interrupted call goes on where it stopped; rows already in the results folder are not made again.
    """
    from bench.campaign import score as main_job
    from bench.campaign.jobs import Options
    from bench.campaign.sources import Paper, from_file
    from bench.coupled.real import spot_sources

    options.expect_solver(solver)
    sources: list[Source]
    if files:
        unused = {"m", "n_com", "wmin", "p", "iterations", "scenarios", "trials", "slots"}
        options.say_unused(options.given_flags() & unused, "with FILE")
        sources = [from_file(path) for path in files]
    else:
        sources = [
            Paper(m, n_com, wmin, scenario, trial, slots, seed, p, iterations)
            for scenario in range(scenarios)
            for trial in range(trials)
        ]
        sources += spot_sources()
    found = main_job.score(
        sources,
        options.expand_policies(policies, estimator=estimator),
        Options(estimator=estimator, service=service, solver=solver, time_limit_s=time_limit_s, seed=seed),
        results,
        num_processes=jobs,
    )
    _show(found, as_json)


def _show(found: Score, as_json: bool) -> None:
    from bench.results.ratios import COLUMNS, records

    rows = records(found.table)
    if as_json:
        table = Table({key: key for key in COLUMNS}, as_json=True)
        table.add_all(rows)
        return
    headings = {
        "policy": "policy",
        "solved": "solved",
        "unfinished": "unfinished",
        "mean": "mean ratio",
        "interval": "95% interval",
        "median": "median ratio",
        "optimal": "optimal",
    }
    for setting in dict.fromkeys(row["setting"] for row in found.optima):
        states = Counter(row["status"] for row in found.optima if row["setting"] == setting)
        optima = ", ".join(f"{count} {status}" for status, count in sorted(states.items()))
        title = f"{setting}; hindsight optima: {optima}"
        table = Table(headings, as_json=False, title=title)
        table.add_all(_readable(row) for row in rows if row["setting"] == setting)
        table.show()
        if states["infeasible"] == states.total():
            click.echo(f"{title}: no schedule finishes, so there is nothing to compare with.")
    click.echo(
        "solved, unfinished: runs. Ratios (makespan / hindsight optimum) are over solved runs; from..to where an"
    )
    click.echo("optimum is not proven. The interval is a bootstrap of the mean. optimal: share of all runs.")
    click.echo("Written: " + ", ".join(str(path) for path in found.files))


def _readable(row: Mapping[str, Any]) -> dict[str, Any]:
    cells = {key: row[key] for key in ("policy", "solved", "unfinished")}
    cells["mean"] = _range(row["mean"], row["mean_high"])
    low, high = row["ci_low"], row["ci_high"]
    cells["interval"] = None if low is None else f"{low:.3f} - {'?' if high is None else f'{high:.3f}'}"
    cells["median"] = _range(row["median"], row["median_high"])
    cells["optimal"] = _range(row["optimal"], row["optimal_high"], percent=True)
    return cells


def _range(low: float | None, high: float | None, *, percent: bool = False) -> str | None:
    if low is None:
        return None
    from_, to = (("?" if end is None else f"{end:.0%}" if percent else f"{end:.3f}") for end in (low, high))
    return from_ if from_ == to else f"{from_}..{to}"
