"""The tables of a report, from frames of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, isnan, log
from typing import TYPE_CHECKING

from hindsched.bench.family import AnyFamily
from hindsched.bench.report.formatting import NOTHING, count, interval, number, parameter, share
from hindsched.bench.report.html import Cell, PageTable
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.ratio_statistics import ends
from hindsched.bench.results.records import records
from hindsched.bench.shared_types import Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["by_parameter", "ratio_table", "unfinished_table"]

_QUARTILES = ("quartile_1", "median", "quartile_3")


def ratio_table(table: pd.DataFrame, *, caption: str, file: str, note: str = "", is_folded: bool = False) -> PageTable:
    """Return the table of `bench.results.ratio_statistics.distribution`: one row per policy and point."""
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
    """Return the table of medians of each policy at each value of each parameter.

    Parameters
    ----------
    tables
        Distributions by one parameter, by its name.
    order
        The order of the policies.
    caption, note
        Texts above the table.
    """
    headings = ["policy"]
    columns: list[dict[str, Row]] = []
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


def unfinished_table(runs: pd.DataFrame, family: AnyFamily, *, file: str, most: int = 20) -> PageTable:
    """Return the table of instances with unfinished runs, in decreasing number of them."""
    columns = ["fingerprint", "instance", "policy", "limit", "optimum", "optimum_status"]
    missing = runs.loc[runs["value"].isna(), columns]
    is_hopeless = missing["optimum_status"] == "infeasible"
    possible = missing[~is_hopeless].groupby("fingerprint", sort=False)  # an instance has one line for all options
    sizes, names = possible.size(), possible["instance"].first()
    rows = []
    for fingerprint in sorted(sizes.index, key=lambda each: (-sizes[each], str(names[each]), str(each)))[:most]:
        group = possible.get_group(fingerprint)
        first = group.iloc[0]
        policies = in_order(group["policy"].unique(), family.name)
        limit = NOTHING if isnan(first["limit"]) else family.shown(first["limit"])
        optimum = NOTHING if isnan(first["optimum"]) else family.shown(first["optimum"])
        shown = ", ".join(policies) if len(policies) < runs["policy"].nunique() else "all"
        cells = [Cell(str(first["instance"])), Cell(count(len(group))), Cell(limit), Cell(optimum)]
        rows.append([*cells, Cell(shown, is_text=True)])
    caption = "No run on an instance that may be feasible"
    if rows:
        caption = f"{count((~is_hopeless).sum())} on {count(len(sizes))} instances that may be feasible"
    if len(sizes) > most:
        caption += f"; the {most} instances with the most unfinished runs"
    note = f"A run is unfinished if it reaches its limit ({family.unit or 'of its instance'}) before its work is done."
    if is_hopeless.any():
        instances = missing.loc[is_hopeless, "fingerprint"].nunique()
        note += f" {count(is_hopeless.sum())} more are on {count(instances)} infeasible instances."
    headings = ["instance", "unfinished", "limit", "optimum", "policies"]
    return PageTable(caption, headings, rows, file, note)
