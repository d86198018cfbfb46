"""Write the rows of the experiment as a flat table."""

from __future__ import annotations

from collections.abc import Iterable

from hindsched.bench.shared_types import Given, Row

__all__ = ["DECILES", "RUN_COLUMNS", "flat_row", "times_of"]

_SHARES = (
    "fed",
    "satisfied_tasks",
    "satisfied_batches",
    "copies_per_task",
    "latency",
    *(f"{rung}_{name}" for rung in ("free", "traffic", "stream") for name in ("tasks", "batches", "latency")),
)
#: Eleven deciles over the batches: requests over N, and satisfied tasks over N.
DECILES = ("requests", "fractions")
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
    *DECILES,
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
        if name in DECILES:
            value = " ".join(f"{number}" for number in value)
        elif name in _SHARES and value is not None:
            value = round(value, 5)
        found[name] = value
    return found


def times_of(rows: Iterable[Given]) -> list[tuple[int, int]]:
    """Return the pairs of deadline and C, from the shortest tasks in proportion to the longest."""
    found = {(row["deadline_s"], row["c"]) for row in rows}
    return sorted(found, key=lambda times: (times[1] / times[0], -times[0]))
