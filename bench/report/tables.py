"""Tables of a report: frames of numbers as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, isnan, log
from typing import TYPE_CHECKING, Any

from bench.coupled import versus
from bench.report.html import Cell, PageTable
from bench.results.ratios import records

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["by_parameter", "count", "interval", "number", "ratio_table", "share", "unfinished_table", "versus_table"]

_QUARTILES = ("quartile_1", "median", "quartile_3")
#: What stands where there is no number.
NOTHING, MINUS = "–", "−"  # noqa: RUF001


def number(value: float) -> str:
    """Return a number to three digits or so.

    Examples
    --------
    >>> number(1.9349), number(12.345), number(2345.6), number(float("nan"))
    ('1.93', '12.3', '2,346', '–')
    """  # noqa: RUF002
    if isnan(value) or not isfinite(value):
        return NOTHING
    size = abs(value)
    return f"{value:.2f}" if size < 10 else f"{value:.1f}" if size < 100 else f"{value:,.0f}"


def interval(low: float, high: float) -> str:
    """Return what is known of a number between two ends.

    Examples
    --------
    >>> interval(1.5, 1.5), interval(1.5, 2.0), interval(1.5, float("inf"))
    ('1.50', '1.50–2.00', '≥ 1.50')
    """  # noqa: RUF002
    if isnan(low) or not isfinite(low):
        return NOTHING
    if not isfinite(high):
        return f"≥ {number(low)}"
    ends = number(low), number(high)
    return ends[0] if ends[0] == ends[1] else f"{ends[0]}–{ends[1]}"  # noqa: RUF001


def share(value: float) -> str:
    """Return a share in percent; not 0% where there is something, nor 100% where something is missing.

    Examples
    --------
    >>> share(0.25), share(0.0123), share(0.0001), share(0.9999), share(0.0)
    ('25%', '1.2%', '<0.1%', '>99%', '0%')
    """
    if isnan(value):
        return NOTHING
    if 0 < value < 0.0995:
        return f"{value:.1%}" if value >= 0.001 else "<0.1%"
    return ">99%" if 0.99 < value < 1 else f"{value:.0%}"


def count(value: float) -> str:
    """Return a whole number."""
    return f"{int(value):,}"


def ratio_table(table: pd.DataFrame, *, caption: str, file: str, note: str = "", is_folded: bool = False) -> PageTable:
    """Return distributions of ratios (see `figures.distributions.distribution`), one row per policy and point."""
    point = [name for name in ("m", "n_com", "wmin") if name in table]
    headings = ["heuristic", *point, "median", "middle half", "mean", "95% interval"]
    headings += ["optimal", "≤ 1.1", "≤ 1.3", "≤ 2", "unfinished", "runs"]
    rows = []
    for row in records(table):
        first, middle, third = (interval(row[name], row[f"{name}_high"]) for name in _QUARTILES)
        mean = interval(row["mean"], row["mean_high"])
        ends = "–".join(number(row[name]) for name in ("ci_low", "ci_high"))  # noqa: RUF001
        cells = [Cell(str(row["policy"])), *(Cell(parameter(row[name])) for name in point)]
        cells += [Cell(middle), Cell(f"{first} … {third}"), Cell(mean), Cell(NOTHING if isnan(row["ci_low"]) else ends)]
        shares = (row[name] for name in ("optimal", "within10", "within30", "within100"))
        cells += [Cell(share(value), heat=0.0 if isnan(value) else value) for value in shares]
        small = share(row["unfinished"] / row["runs"]) if row["unfinished"] else ""
        rows.append([*cells, Cell(count(row["unfinished"]), small), Cell(count(row["runs"]))])
    return PageTable(caption, headings, rows, file, note, is_folded)


def by_parameter(tables: Mapping[str, pd.DataFrame], order: list[str], *, caption: str, note: str) -> PageTable:
    """Return the medians of each policy at each value of each parameter; shaded where far from the optimum.

    Parameters
    ----------
    tables
        Distributions by one parameter, by its name.
    order
        Of the policies.
    caption, note
        Above the table.
    """
    headings = ["heuristic"]
    columns: list[dict[str, dict[str, Any]]] = []
    for name, table in tables.items():
        for value, group in table.groupby(name, dropna=False, sort=True):
            headings.append(f"{name}={parameter(value)}")
            columns.append({row["policy"]: row for row in records(group)})
    known = [row["median"] for column in columns for row in column.values() if isfinite(row["median"])]
    most = log(max(known, default=1.0)) or 1.0
    rows = []
    for policy in order:
        cells = [Cell(policy)]
        for column in columns:
            row = column.get(policy)
            if row is None:
                cells.append(Cell(NOTHING))
                continue
            small = f"{share(row['unfinished'] / row['runs'])} unf." if row["unfinished"] else ""
            heat = log(row["median"]) / most if isfinite(row["median"]) else 1.0
            cells.append(Cell(interval(row["median"], row["median_high"]), small, heat))
        rows.append(cells)
    return PageTable(caption, headings, rows, note=note, is_dense=True)


def versus_table(table: pd.DataFrame, *, caption: str, file: str, note: str = "", is_narrow: bool = False) -> PageTable:
    """Return the metrics against a reference (see `bench.coupled.versus.versus`), the fastest first."""
    rows = []
    for row in records(table.sort_values("diff", kind="stable")):
        diff = NOTHING if isnan(row["diff"]) else f"{row['diff']:+.1f}".replace("-", MINUS)
        cells = [Cell(row["policy"]), Cell(count(row["fails"])), Cell("0" if row["diff"] == 0 else diff)]
        cells += [Cell(NOTHING if isnan(row[name]) else f"{row[name]:.1f}") for name in ("wins", "wins30", "stdv")]
        rows.append([*cells, Cell(f"{row['compared']:,} of {row['scenarios']:,}"), Cell(count(row["runs"]))])
    headings = [
        versus.COLUMNS[name] for name in ("policy", "fails", "diff", "wins", "wins30", "stdv", "scenarios", "runs")
    ]
    return PageTable(caption, headings, rows, file, note, is_narrow=is_narrow, is_dense=is_narrow)


def unfinished_table(runs: pd.DataFrame, *, file: str, most: int = 20) -> PageTable:
    """Return the instances with unfinished runs, those with most of them first."""
    missing = runs[runs["makespan"].isna()]
    is_hopeless = missing["optimum_status"] == "infeasible"
    rows = []
    # an instance that was run with several options stands on one line
    for fingerprint, group in missing[~is_hopeless].groupby("fingerprint", sort=False):
        first = group.iloc[0]
        policies = versus.in_order(group["policy"].unique())
        limit = NOTHING if isnan(first["slot_limit"]) else count(first["slot_limit"])
        optimum = NOTHING if isnan(first["optimum"]) else count(first["optimum"])
        shown = ", ".join(policies) if len(policies) < runs["policy"].nunique() else "all"
        cells = [Cell(str(first["instance"])), Cell(count(len(group))), Cell(limit), Cell(optimum)]
        rows.append(((-len(group), str(first["instance"]), str(fingerprint)), [*cells, Cell(shown, is_text=True)]))
    rows.sort(key=lambda row: row[0])
    caption = "None on an instance that some schedule may finish"
    if rows:
        caption = f"{count((~is_hopeless).sum())} on {count(len(rows))} instances that some schedule may finish"
    if len(rows) > most:
        caption += f"; the {most} instances with most of them"
    note = "A run is unfinished when it reaches its slot limit before its last iteration ends."
    if is_hopeless.any():
        instances = missing.loc[is_hopeless, "fingerprint"].nunique()
        note += f" {count(is_hopeless.sum())} more are on {count(instances)} instances that no schedule finishes."
    headings = ["instance", "unfinished", "slot limit", "optimum", "heuristics"]
    return PageTable(caption, headings, [cells for _, cells in rows[:most]], file, note)


def parameter(value: Any) -> str:
    """Return a parameter of the experiment; a missing one is unbounded."""
    import pandas as pd

    return "none" if pd.isna(value) else f"{value:g}"
