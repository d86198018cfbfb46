"""Tables of a report: frames of numbers as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, isnan, log
from typing import TYPE_CHECKING, Any

from hindsched.bench.family import Family
from hindsched.bench.report.html import Cell, PageTable
from hindsched.bench.results.frames import in_order, records
from hindsched.bench.results.ratios import ends

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["by_parameter", "count", "interval", "number", "ratio_table", "share", "unfinished_table"]

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
    """Return distributions of ratios (see `bench.results.ratios.distribution`), one row per policy and point."""
    point = list(table.columns[: table.columns.get_loc("policy")])
    headings = ["policy", *point, "median", "middle half", "mean", "95% interval"]
    headings += ["optimal", "≤ 1.1", "≤ 1.3", "≤ 2", "unfinished", "runs"]
    rows = []
    for row in records(table):
        first, middle, third = (interval(*ends(row, name)) for name in _QUARTILES)
        mean = interval(*ends(row, "mean"))
        between = "–".join(number(row[name]) for name in ("ci_low", "ci_high"))  # noqa: RUF001
        cells = [Cell(str(row["policy"])), *(Cell(parameter(row[name])) for name in point)]
        cells += [
            Cell(middle),
            Cell(f"{first} … {third}"),
            Cell(mean),
            Cell(NOTHING if isnan(row["ci_low"]) else between),
        ]
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
    headings = ["policy"]
    columns: list[dict[str, dict[str, Any]]] = []
    for name, table in tables.items():
        for value, group in table.groupby(name, dropna=False, sort=True):
            headings.append(f"{name}={parameter(value)}")
            columns.append({row["policy"]: row for row in records(group)})
    known = [row["median_low"] for column in columns for row in column.values() if isfinite(row["median_low"])]
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
            heat = log(row["median_low"]) / most if isfinite(row["median_low"]) else 1.0
            cells.append(Cell(interval(*ends(row, "median")), small, heat))
        rows.append(cells)
    return PageTable(caption, headings, rows, note=note, is_dense=True)


def unfinished_table(runs: pd.DataFrame, family: Family, *, file: str, most: int = 20) -> PageTable:
    """Return the instances with unfinished runs, those with most of them first."""
    missing = runs[runs["value"].isna()]
    is_hopeless = missing["optimum_status"] == "infeasible"
    rows = []
    # an instance that was run with several options stands on one line
    for fingerprint, group in missing[~is_hopeless].groupby("fingerprint", sort=False):
        first = group.iloc[0]
        policies = in_order(group["policy"].unique(), family.name)
        limit = NOTHING if isnan(first["limit"]) else count(first["limit"])
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
    note = (
        f"A run is unfinished when it reaches its limit ({family.unit or 'of its instance'}) before its work is done."
    )
    if is_hopeless.any():
        instances = missing.loc[is_hopeless, "fingerprint"].nunique()
        note += f" {count(is_hopeless.sum())} more are on {count(instances)} instances that no schedule finishes."
    headings = ["instance", "unfinished", "limit", "optimum", "policies"]
    return PageTable(caption, headings, [cells for _, cells in rows[:most]], file, note)


def parameter(value: Any) -> str:
    """Return a parameter of the experiment; a missing one is unbounded."""
    import pandas as pd

    return "none" if pd.isna(value) else f"{value:g}"
