"""Rows of the studies on batches, and means with intervals over crowds or start dates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from docs.studies.batches.theorem import Tally
from docs.studies.rows import ROWS
from hindsched.bench.batches.experiment_rows import DECILES
from hindsched.bench.grid.experiment_tables import confidence_interval
from hindsched.bench.results.records import records_or_none

__all__ = ["Estimate", "Evidence", "Rows", "estimate", "nearest_to", "percent", "read_table", "select"]

Rows = Sequence[Mapping[str, Any]]


class Estimate(NamedTuple):
    """A mean with its 95 % interval (Student's t) and the number of independent values."""

    mean: float
    low: float
    high: float
    num: int

    def text(self, form: str = ".2f") -> str:
        """Return the mean and the interval as text.

        Examples
        --------
        >>> estimate([0.1, 0.2, 0.3]).text(".1f"), estimate([0.5]).text(".1f")
        ('0.2 (-0.0 to 0.4)', '0.5')
        """
        if self.num < 2:
            return f"{self.mean:{form}}"
        return f"{self.mean:{form}} ({self.low:{form}} to {self.high:{form}})"


def estimate(values: Iterable[float | None]) -> Estimate:
    """Return the mean of the values that are known, with its interval."""
    known = [value for value in values if value is not None]
    mean, half = confidence_interval(known)
    return Estimate(mean, mean - half, mean + half, len(known))


def percent(found: Estimate, form: str = ".1f") -> str:
    """Return an estimate of a share in percent; ends of the interval beyond 0 and 1 are cut.

    Examples
    --------
    >>> percent(estimate([0.9, 1.0]))
    '95.0 % (31.5 to 100.0)'
    """
    if found.num < 2:
        return f"{100 * found.mean:{form}} %"
    return f"{100 * found.mean:{form}} % ({100 * max(0, found.low):{form}} to {100 * min(1, found.high):{form}})"


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
