"""Numbers for tables and curves, apart from drawing them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = [
    "ecdf",
    "percentiles",
    "quantile",
    "resample",
    "resampled_means",
    "resampled_medians",
    "thinned",
]

Numbers = npt.NDArray[np.float64]


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


def quantile(sample: npt.ArrayLike, share: float) -> float:
    """Return a quantile, linear between neighbours; infinite numbers may be among them. NaN of nothing.

    Examples
    --------
    >>> quantile([1.0, 2.0, np.inf], 0.5), quantile([1.0, 2.0, np.inf], 0.75)
    (2.0, inf)
    """
    ordered = np.sort(np.asarray(sample, dtype=np.float64))
    if len(ordered) == 0:
        return float("nan")
    place = share * (len(ordered) - 1)
    low, high = ordered[int(np.floor(place))], ordered[int(np.ceil(place))]
    if low == high or np.isinf(low):
        return float(low)
    return float(high if np.isinf(high) else low + (high - low) * (place % 1))


def resample(num_clusters: int, *, resamples: int = 2000, seed: int = 0) -> Numbers:
    """Return how often each cluster is drawn in each resample of a bootstrap; of shape (resamples, num_clusters).

    The same weights serve every policy, so that policies are compared on the same resamples.
    """
    rng = np.random.default_rng(seed)
    return rng.multinomial(num_clusters, np.full(num_clusters, 1 / num_clusters), size=resamples).astype(np.float64)


def resampled_means(sample: Numbers, clusters: npt.NDArray[np.intp], weights: Numbers) -> Numbers:
    """Return the mean of a sample in each resample (see `resample`); NaN where none of it was drawn.

    Parameters
    ----------
    sample, clusters
        Each number and its cluster.
    weights
        Of shape (resamples, num_clusters).

    Examples
    --------
    >>> resampled_means(np.array([1.0, 3.0, 8.0]), np.array([0, 0, 1]), np.array([[1.0, 1.0], [0.0, 2.0]])).tolist()
    [4.0, 8.0]
    """
    num_clusters = weights.shape[1]
    sums = np.bincount(clusters, weights=sample, minlength=num_clusters)
    counts = np.bincount(clusters, minlength=num_clusters).astype(np.float64)
    with np.errstate(invalid="ignore"):
        means: Numbers = (weights @ sums) / (weights @ counts)
    return means


def resampled_medians(sample: Numbers, clusters: npt.NDArray[np.intp], weights: Numbers) -> Numbers:
    """Return the median of a sample, which may hold infinite numbers, in each resample; NaN where none was drawn.

    Parameters
    ----------
    sample, clusters, weights
        As for `resampled_means`; the weights are whole numbers.

    Examples
    --------
    >>> resampled_medians(np.array([1.0, 3.0, 8.0]), np.array([0, 0, 1]), np.array([[1.0, 1.0], [1.0, 0.0]])).tolist()
    [3.0, 2.0]
    """
    order = np.argsort(sample, kind="stable")
    ordered, of_cluster = sample[order], clusters[order]
    medians = np.full(len(weights), np.nan)
    for place, drawn in enumerate(weights):
        counts = drawn[of_cluster].cumsum()
        total = counts[-1] if len(counts) else 0
        if total > 0:
            low = ordered[np.searchsorted(counts, (total - 1) // 2, side="right")]
            high = ordered[np.searchsorted(counts, total // 2, side="right")]
            medians[place] = (low + high) / 2
    return medians


def percentiles(resampled: Numbers, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the ends of the percentile bootstrap interval; NaN where there is nothing."""
    known = resampled[~np.isnan(resampled)]
    tail = (1 - confidence) / 2
    return quantile(known, tail), quantile(known, 1 - tail)


def thinned(x: Numbers, share: Numbers, *, left: float, right: float, points: int = 240) -> tuple[Numbers, Numbers]:
    """Return those steps of a curve on a logarithmic axis that can be seen: at most ``points`` of them.

    Where several steps fall between two points of the axis only the last is kept, so the curve is right at each of
    its steps, and nowhere later than the true one.

    Examples
    --------
    >>> x, share = thinned(np.array([1.0, 1.001, 5.0]), np.array([0.2, 0.4, 1.0]), left=1.0, right=10.0, points=5)
    >>> x.tolist(), share.tolist()
    ([1.001, 5.0], [0.4, 1.0])
    """
    if len(x) <= 1:
        return x, share
    cell = np.floor(np.log(x / left) / np.log(right / left) * (points - 1)).astype(np.intp)
    is_last = np.append(cell[1:] != cell[:-1], True)
    return x[is_last], share[is_last]
