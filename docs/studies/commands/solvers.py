"""Study ``solvers``: exact solvers timed against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from docs.studies.commands.gathered import gather
from docs.studies.commands.points import points
from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.report.markdown import markdown_table
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import write_text


@dataclass(frozen=True, slots=True)
class _Spread:
    """Options of the instances."""

    ms: Sequence[int]
    n_coms: Sequence[int]
    wmins: Sequence[int]
    iterations: Sequence[int]
    instances: int
    slots: int


@click.command(short_help="Time exact solvers against each other.")
@points()
@click.option("--iterations", type=options.NUMBERS, default="1-5", show_default=True, help="K.")
@click.option("--instances", type=options.POSITIVE, default=10, show_default=True, help="Instances for each K.")
@click.option("--slots", type=options.POSITIVE, default=100_000, show_default=True, help="N.")
@click.option(
    "--solver",
    "solvers",
    metavar="NAME",
    multiple=True,
    default=("native", "cpsat"),
    show_default=True,
    help="A solver. May be given several times.",
)
@options.time_limit(60.0)
@options.kept_in("solvers")
@options.as_json
@gather("spread", _Spread)
def solvers(spread: _Spread, solvers: tuple[str, ...], time_limit_s: float, results: Path, as_json: bool) -> None:
    """Time exact solvers against each other on the paper's instances, one after the other on one core each.

    The solvers are those of `hindsched solve` and rivals: didp-cabs, didp-caasdy, ilp-scip, and with -whole the same
    and ilp-highs without proven windows. Rivals that are not installed are left out.

    For each K the instances are spread evenly over the points m, n_com, wmin. Ratios are times over those of the first
    solver on the same instance; a stopped solve counts with its time limit, so its ratio is a lower bound.
    """
    from docs.studies.coupled import solver_races as races
    from docs.studies.coupled.rivals import RIVALS

    missing = [RIVALS[name] for name in solvers if name in RIVALS and not RIVALS[name].is_available()]
    for rival in missing:
        needed = " and ".join(rival.requires)
        click.echo(f"hindsched: {rival.name} is left out: it needs {needed} (extra rivals)", err=True)
    solvers = tuple(name for name in solvers if name not in [rival.name for rival in missing])
    if not solvers:
        raise InputError("none of them is installed", place="solver")
    sources = races.spread(spread.ms, spread.n_coms, spread.wmins, spread.iterations, spread.instances, spread.slots)
    rows = races.race(sources, solvers, results, races.Limits(time_limit_s))
    _show_race(races.compare(rows, solvers[0]), results, as_json)


def _show_race(compared: Sequence[dict[str, Any]], results: Path, as_json: bool) -> None:
    import pandas as pd

    write_text(results / "table.csv", pd.DataFrame(compared).to_csv(index=False))
    write_text(results / "table.md", markdown_table(compared, list(compared[0])))
    table = Table({name: name for name in compared[0]}, as_json, title="Exact solvers on the same instances")
    table.add_all(compared)
    table.show()
