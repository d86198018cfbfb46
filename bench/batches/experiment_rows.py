"""Write and read the rows of the experiment as a flat table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsched.bench.results.records import records_or_none
from hindsched.bench.shared_types import Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RUN_COLUMNS", "flat_row", "rows_of_table"]

_SHARES = (
    "fed",
    "satisfied_tasks",
    "satisfied_batches",
    "copies_per_task",
    "latency",
    *(f"{rung}_{name}" for rung in ("free", "traffic", "stream") for name in ("tasks", "batches", "latency")),
)
#: Eleven deciles over the batches: requests over N, and satisfied tasks over N.
_DECILES = ("requests", "fractions")
RUN_COLUMNS = (
    "part",
    "day",
    "deadline_s",
    "c",
    "tasks",
    "workers",
    "batches",
    "seed",
    "homogeneous",
    "policy",
    "first",
    "copies_lambda",
    *_SHARES,
    *_DECILES,
    "all_contacts",
    "shortest_period",
    "longest_period",
)


def flat_row(row: Row) -> Row:
    """Return a row of the experiment as texts and numbers.

    Examples
    --------
    >>> flat_row({"fed": 0.123456, "requests": [0.5, 1.0], "seed": 0})
    {'seed': 0, 'fed': 0.12346, 'requests': '0.5 1.0'}
    """
    found: Row = {}
    for name in RUN_COLUMNS:
        if name not in row:
            continue
        value = row[name]
        if name in _DECILES:
            value = " ".join(f"{number}" for number in value)
        elif name in _SHARES and value is not None:
            value = round(value, 5)
        found[name] = value
    return found


def rows_of_table(table: pd.DataFrame) -> list[Row]:
    """Return the rows of a table, with lists of deciles, and None for missing values."""
    rows = records_or_none(table)
    for row in rows:
        for column in _DECILES:
            if isinstance(row.get(column), str):
                row[column] = [float(number) for number in row[column].split()]
        for column in ("copies_lambda", "deadline_s", "c"):
            if row.get(column) is not None:
                row[column] = int(row[column])
    return rows
