"""Print the ratio table on a terminal, or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite, isnan
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING

import click

from hindsched.bench.family import family_of_runs
from hindsched.bench.output import Table
from hindsched.bench.results.bootstrap import cluster_words
from hindsched.bench.results.columns import GROUP, Results
from hindsched.bench.results.ratio_statistics import ends, in_median_order
from hindsched.bench.results.ratios import with_ratios
from hindsched.bench.results.records import records
from hindsched.bench.results.summary import NOTE_INTERVAL, NOTE_UNFINISHED, NOTE_UNPROVEN, plain, ratios_of_runs
from hindsched.bench.shared_types import Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["HEADINGS", "between", "readable", "show_table"]

#: Headings of the ratio table on a terminal, by column.
HEADINGS = {
    "policy": "policy",
    "runs": "runs",
    "unfinished": "unfinished",
    "median": "median",
    "half": "middle half",
    "mean": "mean",
    "interval": "95% interval",
    "optimal": "optimal",
}


#: Largest number of runs that are listed one by one on a terminal; a file has all of them.
_MOST_LISTED_RUNS = 60


def between(low: float, high: float) -> str | None:
    """Return a statistic as a text: a number, both ends, or the lower end; None if it is unknown.

    Examples
    --------
    >>> between(1.5, 1.5), between(1.5, 2.0), between(4.2, float("inf")), between(float("inf"), float("inf"))
    ('1.500', '1.500..2.000', '>= 4.200', None)
    """
    if isnan(low) or not isfinite(low):
        return None
    if not isfinite(high):
        return f">= {low:.3f}"
    low_text, high_text = f"{low:.3f}", f"{high:.3f}"
    return low_text if low_text == high_text else f"{low_text}..{high_text}"


def show_table(results: Results, table: pd.DataFrame, as_json: bool) -> None:
    """Print the ratio table: one JSON object a row, or a table for each family, population and options.

    Parameters
    ----------
    results
        The results that the table summarises.
    table
        As returned by `hindsched.bench.results.summary.summary`.
    as_json
        Whether to print JSON.
    """
    if as_json:
        lines = Table(None, as_json=True)
        lines.add_all(plain(table))
        return
    runs = results.runs
    notes: dict[str, None] = {}
    first = 0 if len(set(runs["family"])) > 1 else 1  # titles name the family if there are several
    for point, group in runs.groupby(list(GROUP), sort=True):
        family = family_of_runs(group)
        rows = records(in_median_order(table[(table[list(GROUP)] == [str(part) for part in point]).all(axis=1)]))
        title = ", ".join(str(part) for part in point[first:] if part)
        states = Counter(group.drop_duplicates("fingerprint")["optimum_status"].fillna("not solved"))
        title += "; hindsight optima: " + _counted(states, group["time_limit_s"].max())
        headings, same = _headings(rows, family.averages)
        spare = (*family.averages, "mean", "interval", "half")
        shown = Table(headings, as_json=False, title=f"{title}{same}", spare=spare)
        shown.add_all(readable(row, family.averages) for row in rows)
        shown.show()
        _show_instances(group)
        if states["infeasible"] == states.total():
            click.echo(f"{title}: no schedule finishes, so there is no ratio.")
        is_unproven = bool(set(states) - {"optimal", "infeasible"})
        needed = {
            NOTE_UNFINISHED: "unfinished" in headings,
            NOTE_UNPROVEN: is_unproven,
            NOTE_INTERVAL.format(clusters=cluster_words(runs)): "interval" in headings,
            family.legend: bool(rows),
        }
        notes |= dict.fromkeys(note for note, is_needed in needed.items() if is_needed and note)
    for note in notes:
        click.echo(fill(note, min(100, get_terminal_size((80, 24)).columns), break_on_hyphens=False))


def _counted(states: Counter[str], time_limit_s: float) -> str:
    """Return how many optima have each status, with the time limit if some are not proven."""
    text = ", ".join(f"{count} {name}" for name, count in sorted(states.items()))
    is_proven = states.keys() <= {"optimal", "infeasible"}
    return text if is_proven or isnan(time_limit_s) else f"{text} (time limit {time_limit_s:g} s)"


def _headings(rows: Sequence[Row], averages: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the columns that say something, and a text on the number of runs if it is the same for all."""
    headings = HEADINGS | {name: f"mean {name}" for name in averages}
    runs = {row["runs"] for row in rows}
    idle = {"unfinished"} if not any(row["unfinished"] for row in rows) else set()
    if all(isnan(row["ci_low"]) for row in rows):
        idle.add("interval")
    if runs == {1}:
        idle |= {"half", "mean"}
    if len(runs) == 1:
        idle.add("runs")
    same = f"; runs of each policy: {runs.pop()}" if "runs" in idle else ""
    return {name: text for name, text in headings.items() if name not in idle}, same


def _show_instances(runs: pd.DataFrame) -> None:
    """Print the ratio of every run, if the runs are on a few single instances."""
    if "scenario" in runs and runs["scenario"].notna().any():
        return
    ratios = with_ratios(runs)
    if ratios["instance"].nunique() < 2 or len(ratios) > _MOST_LISTED_RUNS:
        return
    family = family_of_runs(runs)
    headings = {
        "instance": "instance",
        "policy": "policy",
        "value": family.heading,
        "optimum": "optimum",
        "ratio": "ratio",
    }
    shown = Table(headings, as_json=False, title="Instance by instance")
    for row in records(ratios_of_runs(ratios)):
        cells = {name: None if isnan(row[name]) else family.shown(row[name]) for name in ("value", "optimum")}
        shown.add({**row, **cells, "ratio": between(row["low"], row["high"])})
    shown.show()


def readable(row: Row, averages: Sequence[str]) -> Row:
    """Return a row of the ratio table as texts, by the keys of `HEADINGS`."""
    cells = {key: row[key] for key in ("policy", "runs", "unfinished")}
    cells["median"] = between(*ends(row, "median"))
    first, third = (between(*ends(row, name)) for name in ("quartile_1", "quartile_3"))
    cells["half"] = None if first is None else f"{first} - {third or '?'}"
    cells["mean"] = between(*ends(row, "mean"))
    low, high = row["ci_low"], row["ci_high"]
    cells["interval"] = None if isnan(low) else f"{low:.3f} - {'?' if not isfinite(high) else f'{high:.3f}'}"
    least, most = f"{row['optimal']:.0%}", f"{row['optimal_high']:.0%}"
    cells["optimal"] = least if least == most else f"{least}..{most}"
    for name in averages:
        cells[name] = None if isnan(row[name]) else f"{row[name]:.3f}"
    return cells
