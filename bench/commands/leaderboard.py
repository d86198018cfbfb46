"""``hindsched leaderboard``: a policy of one's own on held-out instances, beside the known ones."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Any

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Refusals, Table


@click.command(short_help="Rank a policy of yours on held-out instances.")
@click.argument("policies", nargs=-1, metavar="[FILE.py:CLASS]...")
@click.option("--rebuild", is_flag=True, help="Find the optima and run the built-in policies anew, into the folder.")
@options.jobs
@options.kept_in("leaderboard")
@options.as_json
def leaderboard(policies: tuple[str, ...], rebuild: bool, jobs: int, results: Path, as_json: bool) -> int:
    """Rank policies of coupled on instances that no policy of the toolkit was chosen by, with proven optima.

    36 instances of the paper's kind (p = 20, K = 10, m = 5 and 10, n_com = 5 and 20, wmin = 1 to 3) of a seed of their
    own. What the built-in policies do there is published; only those that you name are run.
    """
    from hindsched.bench.coupled import leaderboard as data

    if rebuild:
        data.rebuild(results, num_processes=jobs)
        click.echo(f"Written: {results / 'leaderboard.csv'}", err=as_json)
        return 0
    mine: dict[str, Any] = {}
    refusals = Refusals()
    for name, policy in data.named(policies).items():
        with refusals.of(None):
            mine[name] = data.play(policy)
    table = Table({name: name for name in data.COLUMNS}, as_json, title="Makespan / hindsight optimum, held-out seed")
    for row in data.board(mine):
        shown = {key: _shown(value) for key, value in row.items()}
        table.add({**shown, "policy": f"{row['policy']} *" if row["policy"] in mine and not as_json else row["policy"]})
    table.show()
    return refusals.code


def _shown(value: Any) -> Any:
    """Return a number as tables and JSON have it: three digits, None for what is infinite."""
    if not isinstance(value, float):
        return value
    return round(value, 3) if isfinite(value) else None
