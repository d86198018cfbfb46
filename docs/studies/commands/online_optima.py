"""Study ``online-optima``: on-line optima of small instances beside hindsight and policies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table


@click.command("online-optima", short_help="Find on-line optima of small instances (coupled).")
@click.option("--p", "ps", type=options.NUMBERS, default="2-5", show_default=True, help="Workers.")
@click.option("--m", type=options.POSITIVE, default=2, show_default=True, help="Tasks per iteration.")
@click.option("--n-com", type=options.POSITIVE, default=2, show_default=True, help="Workers served at once.")
@click.option("--iterations", type=options.POSITIVE, default=1, show_default=True, help="K.")
@click.option("--scenarios", type=options.NUMBERS, default="0-2", show_default=True, help="Draws of the workers.")
@click.option("--paths", type=options.SEVERAL, default=300, show_default=True, help="Futures of each.")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="A policy.  [default: E-IE, hot and auto]")
@click.option("--bound", "most_charged", type=options.COUNT, default=4, show_default=True, metavar="P",
              help="The charged bound up to so many workers.")  # fmt: skip
@click.option("--relaxed", is_flag=True, help="Measure the free-prefetch bound on the paper's instances instead.")
@options.kept_in("online-optima")
@options.as_json
def online_optima(
    ps: Sequence[int],
    m: int,
    n_com: int,
    iterations: int,
    scenarios: Sequence[int],
    paths: int,
    policies: tuple[str, ...],
    most_charged: int,
    relaxed: bool,
    results: Path,
    as_json: bool,
) -> None:
    """Find the on-line optimum of draws of the paper's workers with T_prog = 2 and T_data = 1, w from 1 to 10.

    The rows of hindsched online-optimum for each; they are kept in the results folder, and what is there is not made
    again. All of them are written to online_optimum.csv; what --relaxed measures, to free_prefetch.csv.
    """
    from docs.studies.coupled import online_optima as study

    if relaxed:
        table = Table({name: name.replace("_", " ") for name in study.RELAXED}, as_json, title="Free prefetch, p = 20")
        table.add_all(study.relaxed(results))
        table.show()
        return
    policies = policies or ("E-IE", "hot", "auto")
    table = Table({name: name.replace("_", " ") for name in study.STUDY}, as_json, title="Expected makespans, in slots")
    for p in ps:
        for scenario in scenarios:
            cell = study.Cell(p, m, n_com, iterations, scenario, paths, policies, p <= most_charged)
            table.add_all(study.measured(cell, results))
    study.collect(results)
    table.show()
