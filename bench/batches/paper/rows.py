"""The rows of the experiment as flat tables: what is published with the toolkit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindsched.bench.results.published import published_table
from hindsched.bench.results.records import records_or_none

__all__ = ["RUN_COLUMNS", "flat", "published"]

_SHARES = (
    "fed",
    "satisfied_tasks",
    "satisfied_batches",
    "copies_per_task",
    "latency",
    *(f"{rung}_{name}" for rung in ("free", "traffic", "stream") for name in ("tasks", "batches", "latency")),
)
#: Eleven deciles each: requests over N and satisfied tasks over N, by batch.
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


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the experiment with texts and numbers only.

    Examples
    --------
    >>> flat({"fed": 0.123456, "requests": [0.5, 1.0], "seed": 0})
    {'seed': 0, 'fed': 0.12346, 'requests': '0.5 1.0'}
    """
    found: dict[str, Any] = {}
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


def published(name: str) -> list[dict[str, Any]]:
    """Return the rows of ``bench/data/batches_NAME.csv``, with None where nothing is, and lists of deciles."""
    rows = records_or_none(published_table(f"batches_{name}"))
    for row in rows:
        for column in _DECILES:
            if isinstance(row.get(column), str):
                row[column] = [float(number) for number in row[column].split()]
        for column in ("copies_lambda", "deadline_s", "c"):
            if row.get(column) is not None:
                row[column] = int(row[column])
    return rows
