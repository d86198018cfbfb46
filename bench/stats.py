"""Numbers for tables and curves, apart from drawing them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["bootstrap_mean", "ecdf"]


def bootstrap_mean(
    sample: Sequence[float], *, confidence: float = 0.95, resamples: int = 2000, seed: int = 0
) -> tuple[float, float] | None:
    """Return the percentile bootstrap interval of the mean; None with fewer than two numbers.

    Examples
    --------
    >>> bootstrap_mean([1.0, 1.0, 1.0])
    (1.0, 1.0)
    >>> bootstrap_mean([1.5]) is None
    True
    """
    if len(sample) < 2:
        return None
    from scipy.stats import bootstrap

    interval = bootstrap(
        (np.asarray(sample),),
        np.mean,
        confidence_level=confidence,
        n_resamples=resamples,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def ecdf(sample: Sequence[float], total: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the steps of the share of ``total`` runs whose number is at most x.

    Runs without a number stay in the denominator, so the curve ends below 1 where some run did not finish.

    Returns
    -------
    x, share
        Both of shape (number of distinct values,), increasing.

    Examples
    --------
    >>> x, share = ecdf([2.0, 1.0, 1.0], total=4)
    >>> x.tolist(), share.tolist()
    ([1.0, 2.0], [0.5, 0.75])
    """
    x, counts = np.unique(np.asarray(sample, dtype=np.float64), return_counts=True)
    return x, np.cumsum(counts) / total
