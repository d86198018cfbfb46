"""Study ``kmis``: the search for k-subset intersections, general solvers, a miner and C searches."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.report.markdown import markdown_table
from hindsched.instances.text_files import write_text

_GROUPS = ("small", "hard", "markov", "growth")


@click.command("kmis", short_help="Time the search for k-subset intersections and other programs.")
@click.option(
    "--cells",
    "groups",
    multiple=True,
    type=click.Choice([*_GROUPS, "all"]),
    default=("all",),
    show_default=True,
    help="A group of arrays. May be given several times.",
)
@click.option(
    "--sides",
    metavar="NAME,...",
    help="Some of core, c-plain, c-tuned, eclat, cpsat, highs, cbc.  [default: all available]",
)
@click.option(
    "--reference",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE.py",
    help="Python file with largest_w, largest_w_plain and earliest_prefix, the sides c-tuned and c-plain. It is run.",
)
@click.option("--seeds", type=options.POSITIVE, default=5, show_default=True, help="Arrays of every cell.")
@click.option(
    "--few-seeds",
    type=options.POSITIVE,
    default=2,
    show_default=True,
    help="Arrays for general solvers (cpsat, highs, cbc; small cells only), and for eclat in growth cells.",
)
@click.option(
    "--results", type=options.FOLDER, default=Path("results/kmis"), show_default=True, help="Where the results go."
)
@options.time_limit(10.0)
@options.as_json
def kmis(
    groups: tuple[str, ...],
    sides: str | None,
    reference: Path | None,
    seeds: int,
    few_seeds: int,
    results: Path,
    time_limit_s: float,
    as_json: bool,
) -> None:
    """Time the search for k-subset intersections on one core, and CP-SAT, HiGHS, CBC, Eclat and C searches.

    Task A: the most common slots of m workers. Task B: the shortest prefix in which m workers have 20 common slots.
    Times are processor time without imports and compilation, medians over the seeds. Proven answers must agree. A
    stopped solve counts with its time. A side that is stopped on the first two seeds of a cell skips the others.

    Writes table.csv, tables.md, targets.md and kmis.svg. An interrupted study resumes.
    """
    from docs.studies.coupled.kmis_race import duels, report
    from docs.studies.coupled.kmis_race.cells import cells_of
    from docs.studies.coupled.kmis_race.sides import SIDES, make_sides
    from docs.studies.machine import machine

    if sides is not None:
        names = tuple(sides.split(","))
    else:
        names = tuple(name for name in SIDES if reference is not None or not name.startswith("c-"))
        if find_spec("fim") is None:
            click.echo("hindsched: eclat is left out: it needs the package pyfim (extra studies)", err=True)
            names = tuple(name for name in names if name != "eclat")
    cells = cells_of(_GROUPS if "all" in groups else groups)
    made = make_sides(names, reference)
    rows = duels.duel(cells, made, results, seeds=seeds, few_seeds=few_seeds, limit_s=time_limit_s)
    compared = duels.compare(rows)
    _write(compared, results)
    report.draw(compared, results / "kmis.svg")
    loading = duels.loading_times(results) if "core" in names else None
    facts = [f"Machine: {machine()}; one core."]
    if loading is not None:
        facts.append(
            f"Before the first answer of the search, not included above: import {loading['import_s']:.2f} s, "
            f"and compilation {loading['compile_s']:.1f} s once, after installation."
        )
    write_text(results / "tables.md", report.report(compared) + "\n" + "\n".join(facts) + "\n")
    verdicts = report.targets(compared)
    if verdicts:
        write_text(results / "targets.md", markdown_table(verdicts, list(verdicts[0])))
    columns = ("group", "p", "N", "density", "m", "task", "side", "tried", "stopped", "median_ms", "ratio")
    table = Table({name: name for name in columns}, as_json, title="Median processor time, and its ratio over core")
    table.add_all(compared)
    table.show()
    for fact in facts:
        click.echo(fact, err=True)


def _write(compared: list[dict[str, object]], results: Path) -> None:
    import pandas as pd

    write_text(results / "table.csv", pd.DataFrame(compared).to_csv(index=False))
