"""Rows of the studies on batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docs.studies.batches.theorem import Tally
from docs.studies.estimates import estimate
from docs.studies.rows import ROWS
from hindsched.bench.batches.experiment_rows import DECILES
from hindsched.bench.results.records import records_or_none

__all__ = ["Evidence", "Rows", "duration", "nearest_to", "read_table", "select"]

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows of the studies beside the experiment.

    Parameters
    ----------
    arrivals, crowd, copies
        Rows of ``batches-arrivals``, ``batches-crowd`` and ``batches-copies``.
    theorem
        Counts for Theorem 1.
    hosts
        Rows of ``batches-hosts``.
    """

    arrivals: Rows
    crowd: Rows
    copies: Rows
    theorem: Tally
    hosts: Rows = ()

    @classmethod
    def stored(cls) -> Evidence:
        """Return the rows that are kept with the studies."""
        tally = Tally(**{name: int(value) for name, value in read_table("theorem")[0].items()})
        return cls(read_table("arrivals"), read_table("crowd"), read_table("copies"), tally, read_table("hosts"))


def read_table(name: str, folder: Path = ROWS) -> list[dict[str, Any]]:
    """Return the rows of ``batches_NAME.csv`` in a folder, with lists of deciles, and None for missing values."""
    import pandas as pd

    rows = records_or_none(pd.read_csv(folder / f"batches_{name}.csv"))
    for row in rows:
        for column in (*DECILES, "requests_by_batch"):
            if isinstance(row.get(column), str):
                row[column] = [float(number) for number in row[column].split()]
        for column in ("copies_lambda", "deadline_s", "c", "states"):
            if row.get(column) is not None:
                row[column] = int(row[column])
    return rows


def select(rows: Rows, **wanted: Any) -> list[Mapping[str, Any]]:
    """Return the rows with these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def duration(seconds: int) -> str:
    """Return seconds as hours or minutes.

    Examples
    --------
    >>> duration(1800), duration(14400)
    ('30 min', '4 h')
    """
    return f"{seconds // 60} min" if seconds < 3600 else f"{seconds // 3600} h"


def nearest_to(rows: Rows, copies: float) -> list[Mapping[str, Any]]:
    """Return the runs of a policy, a run per crowd, with the requests whose mean copies per task are nearest.

    Examples
    --------
    >>> runs = [{"copies_lambda": 1, "copies": 1.1}, {"copies_lambda": 2, "copies": 2.4}]
    >>> nearest_to(runs, 2.0)
    [{'copies_lambda': 2, 'copies': 2.4}]
    """
    by_requests = [select(rows, copies_lambda=requests) for requests in sorted({row["copies_lambda"] for row in rows})]
    return min(by_requests, key=lambda mine: abs(estimate(row["copies"] for row in mine).mean - copies))
