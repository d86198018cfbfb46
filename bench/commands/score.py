"""``hindsight score``: the main job, a table of competitive ratios."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.commands import options
from bench.output import Table

if TYPE_CHECKING:
    from bench.coupled.score import Score
    from bench.coupled.sources import Source


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@options.paper_point
@click.option("--scenarios", type=options.POSITIVE, default=5, show_default=True, help="Draws of the workers.")
@click.option("--trials", type=options.POSITIVE, default=2, show_default=True, help="Draws of the states of each.")
@click.option("--slots", type=options.POSITIVE, default=5_000, show_default=True, help="N, slots to generate.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of everything that is drawn.")
@options.policies
@options.estimator
@options.service
@options.solver
@options.time_limit
@click.option("--jobs", type=options.POSITIVE, default=2, show_default=True, help="Processes at work at once.")
@click.option(
    "--results", type=click.Path(path_type=Path), default=Path("results/score"), show_default=True, help="Folder."
)
@options.as_json
def score(
    files: tuple[str, ...],
    m: int,
    n_com: int | None,
    wmin: int,
    p: int,
    iterations: int | None,
    scenarios: int,
    trials: int,
    slots: int,
    seed: int,
    policies: tuple[str, ...],
    estimator: str,
    service: str,
    solver: str,
    time_limit_s: float | None,
    jobs: int,
    results: Path,
    as_json: bool,
) -> None:
    """Score heuristics against the hindsight optimum of the same states.

    Without FILE: instances of the paper's experiment at the given point, and real spot machines where their trace is
    at hand. An interrupted call goes on where it stopped; rows already in the results folder are not made again.
    """
    from bench.coupled import score as main_job
    from bench.coupled.campaign import Options
    from bench.coupled.sources import Paper, from_file
    from bench.coupled.spot import spot_sources

    sources: list[Source]
    if files:
        sources = [from_file(path) for path in files]
    else:
        sources = [
            Paper(m, n_com, wmin, scenario, trial, slots, seed, p, 2 if iterations is None else iterations)
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
    from bench.coupled.ratios import COLUMNS, records

    rows = records(found.table)
    if as_json:
        table = Table({key: key for key in COLUMNS}, as_json=True)
        table.add_all(rows)
        return
    headings = {key: heading for key, heading in COLUMNS.items() if key != "setting"}
    for setting in dict.fromkeys(row["setting"] for row in found.optima):
        states = Counter(row["status"] for row in found.optima if row["setting"] == setting)
        optima = ", ".join(f"{count} {status}" for status, count in sorted(states.items()))
        table = Table(headings, as_json=False, title=f"{setting}: hindsight optima: {optima}")
        table.add_all(row for row in rows if row["setting"] == setting)
        table.show()
    click.echo("solved, unfinished: runs. Ratios over solved runs; between a number and its 'at most' lies the ratio")
    click.echo("of an optimum that is not proven. optimal: share of all runs.")
    click.echo("Written: " + ", ".join(str(path) for path in found.files))
