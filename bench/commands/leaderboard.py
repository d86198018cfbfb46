"""``hindsched leaderboard``: rank policies on held-out instances."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Refusals, Table


@click.command(short_help="Rank your policies on held-out instances.")
@click.argument("policies", nargs=-1, metavar="[FILE.py:CLASS]...")
@click.option(
    "--rebuild", is_flag=True, help="Recompute the optima and the runs of the built-in policies, into the folder."
)
@click.option(
    "--policy-time-limit",
    "policy_time_limit_s",
    type=options.ABOVE_ZERO,
    default=300.0,
    show_default=True,
    metavar="S",
    help="Stop a policy that has not finished a run after S seconds; it has no row then.",
)
@options.jobs
@options.kept_in("leaderboard")
@options.as_json
def leaderboard(
    policies: tuple[str, ...], rebuild: bool, policy_time_limit_s: float, jobs: int, results: Path, as_json: bool
) -> int:
    """Rank policies of coupled on held-out instances with proven optima.

    The 36 instances are points of the paper's experiment (p = 20, K = 10, m = 5 and 10, n_com = 5 and 20, wmin = 1 to
    3) with a seed that was used for nothing else. Results of the built-in policies are published; only your policies
    are run. A policy is code that runs with your rights. It runs in a process of its own, which receives the states
    slot by slot and does not hold the future.
    """
    from hindsched.bench.coupled import leaderboard as data

    if rebuild:
        data.rebuild(results, num_processes=jobs)
        click.echo(f"Written: {results / 'leaderboard.csv'}", err=as_json)
        return 0
    makespans: dict[str, list[int | None]] = {}
    refusals = Refusals()
    made = {}
    for policy in policies:
        with refusals.of(None):
            made[policy] = data.make(policy, time_limit_s=policy_time_limit_s)
    for name, policy in data.named(made).items():
        with refusals.of(None):
            makespans[name] = data.play(policy, time_limit_s=policy_time_limit_s)
    table = Table({name: name for name in data.COLUMNS}, as_json, title="Makespan / hindsight optimum, held-out seed")
    for row in data.board(makespans):
        shown = {key: _shown(value) for key, value in row.items()}
        table.add(
            {**shown, "policy": f"{row['policy']} *" if row["policy"] in makespans and not as_json else row["policy"]}
        )
    table.show()
    return refusals.code


def _shown(value: object) -> object:
    """Return a number rounded to three digits for tables and JSON; None for an infinite one."""
    if not isinstance(value, float):
        return value
    return round(value, 3) if isfinite(value) else None
