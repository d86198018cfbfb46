"""Study ``online-optima``: on-line optima of small instances, hindsight and policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import click

from docs.studies.commands.gathered import gather
from hindsched.bench.commands import options
from hindsched.bench.output import Table


@dataclass(frozen=True, slots=True)
class _Draws:
    """Options of the instances."""

    ps: Sequence[int]
    m: int
    n_com: int
    iterations: int
    scenarios: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Measured:
    """Options of the measurement."""

    paths: int
    policies: tuple[str, ...]
    most_charged: int


@click.command("online-optima", short_help="Find on-line optima of small instances (coupled).")
@click.option("--p", "ps", type=options.NUMBERS, default="2-5", show_default=True, help="Workers.")
@click.option("--m", type=options.POSITIVE, default=2, show_default=True, help="Tasks per iteration.")
@click.option("--n-com", type=options.POSITIVE, default=2, show_default=True, help="Workers served at once.")
@click.option("--iterations", type=options.POSITIVE, default=1, show_default=True, help="K.")
@click.option("--scenarios", type=options.NUMBERS, default="0-2", show_default=True, help="Draws of the workers.")
@click.option("--paths", type=options.SEVERAL, default=300, show_default=True, help="Sampled futures of each instance.")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="A policy.  [default: E-IE, hot and auto]")
@click.option("--bound", "most_charged", type=options.COUNT, default=4, show_default=True, metavar="P",
              help="Largest p for which the charged bound is computed.")  # fmt: skip
@click.option("--relaxed", is_flag=True, help="Measure the free-prefetch bound on the paper's instances instead.")
@options.kept_in("online-optima")
@options.as_json
@gather("draws", _Draws)
@gather("measured", _Measured)
def online_optima(draws: _Draws, measured: _Measured, relaxed: bool, results: Path, as_json: bool) -> None:
    """Find on-line optima for draws of the paper's workers with T_prog = 2, T_data = 1 and w from 1 to 10.

    The rows are those of hindsched online-optimum. They are kept in the results folder, so an interrupted study
    resumes. Writes online_optimum.csv, or free_prefetch.csv with --relaxed.
    """
    from docs.studies.coupled import online_optima as study

    if relaxed:
        table = Table({name: name.replace("_", " ") for name in study.RELAXED}, as_json, title="Free prefetch, p = 20")
        table.add_all(study.relaxed(results))
        table.show()
        return
    policies = measured.policies or ("E-IE", "hot", "auto")
    table = Table({name: name.replace("_", " ") for name in study.STUDY}, as_json, title="Expected makespans, in slots")
    for p, scenario in product(draws.ps, draws.scenarios):
        is_charged = p <= measured.most_charged
        cell = study.Cell(p, draws.m, draws.n_com, draws.iterations, scenario, measured.paths, policies, is_charged)
        table.add_all(study.measured(cell, results))
    study.collect(results)
    table.show()
