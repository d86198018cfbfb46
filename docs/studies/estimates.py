"""Means with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hindsched.bench.grid.experiment_tables import confidence_interval

__all__ = ["Estimate", "estimate", "percent"]


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
