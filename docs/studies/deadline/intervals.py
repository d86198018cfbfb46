"""Bootstrap intervals for windows that overlap: zones are drawn, and in each zone blocks of time.

A window is a part of the same months as its neighbours, so windows are not independent. A resample draws as many zones
as there are, with replacement, and for each of them as many blocks of its starts. A block is as long as the longest
window, so that windows of two blocks overlap only if the blocks are neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from hindsched.bench.results.bootstrap import percentiles, resample_nested

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BLOCK", "PERCENTILE", "Estimate", "Resamples", "difference", "quantile", "ratio"]

#: Samples of a block: N for D = 92 h.
BLOCK = 1_698
_RESAMPLES = 1_000
#: The share of windows that a 95th percentile is not below.
PERCENTILE = 0.95

Reals = npt.NDArray[np.float64]


class Estimate(NamedTuple):
    """A number with a 95 % interval."""

    value: float
    low: float
    high: float

    def text(self, form: str = ".1f") -> str:
        """Return the number and its interval.

        Examples
        --------
        >>> Estimate(1.91, 1.67, 2.15).text()
        '1.9 (1.7 to 2.1)'
        """
        return f"{self.value:{form}} ({self.low:{form}} to {self.high:{form}})"


class Resamples:
    """How often each window counts in each resample.

    Parameters
    ----------
    windows
        With the columns ``zone`` and ``start``.
    seed
        Seed of the draws.
    """

    def __init__(self, windows: pd.DataFrame, *, seed: int = 0) -> None:
        blocks = (windows["start"] // BLOCK).rename("block")
        cluster = windows.groupby(["zone", blocks], sort=True).ngroup().to_numpy()
        parents = np.zeros(cluster.max() + 1, dtype=np.intp)
        parents[cluster] = windows["zone"].factorize(sort=True)[0]
        #: Shape (resamples, windows).
        self.weights: Reals = resample_nested(parents, resamples=_RESAMPLES, seed=seed)[:, cluster]

    def mean(self, values: npt.ArrayLike) -> Reals:
        """Return the mean in each resample."""
        means: Reals = self.weights @ np.asarray(values, dtype=np.float64) / self.weights.sum(axis=1)
        return means

    def quantile(self, values: npt.ArrayLike, share: float) -> Reals:
        """Return in each resample the least value that at least a share of the windows does not exceed."""
        sample = np.asarray(values, dtype=np.float64)
        order = np.argsort(sample, kind="stable")
        counts = self.weights[:, order].cumsum(axis=1)
        first = (counts >= share * counts[:, -1:]).argmax(axis=1)
        found: Reals = sample[order][first]
        return found

    def statistic(self, values: npt.ArrayLike, share: float | None) -> Reals:
        """Return the mean in each resample, or the quantile if there is a share."""
        return self.mean(values) if share is None else self.quantile(values, share)


def quantile(values: npt.ArrayLike, share: float) -> float:
    """Return the least value that at least a share of the values does not exceed, as `Resamples.quantile` does.

    Examples
    --------
    >>> quantile([3, 1, 2, 4], 0.5)
    2.0
    """
    return float(np.quantile(np.asarray(values), share, method="inverted_cdf"))


def ratio(drawn: Resamples, first: npt.ArrayLike, second: npt.ArrayLike, share: float | None = None) -> Estimate:
    """Return the mean of the first sample over that of the second; with a share, quantile over quantile."""
    values = [_statistic(sample, share) for sample in (first, second)]
    resampled = drawn.statistic(first, share) / drawn.statistic(second, share)
    return Estimate(values[0] / values[1], *percentiles(resampled))


def difference(drawn: Resamples, first: npt.ArrayLike, second: npt.ArrayLike, share: float | None = None) -> Estimate:
    """Return the mean of the first sample less that of the second; with a share, quantile less quantile."""
    values = [_statistic(sample, share) for sample in (first, second)]
    resampled = drawn.statistic(first, share) - drawn.statistic(second, share)
    return Estimate(values[0] - values[1], *percentiles(resampled))


def _statistic(values: npt.ArrayLike, share: float | None) -> float:
    return float(np.asarray(values).mean()) if share is None else quantile(values, share)
