"""Bootstrap intervals over clusters: the scenarios of an experiment, or single instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hindsched.bench.results.quantile import quantile

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cluster_words", "clusters", "percentiles", "resample", "resampled_means", "resampled_medians"]

Numbers = npt.NDArray[np.float64]


def clusters(runs: pd.DataFrame) -> npt.NDArray[np.intp]:
    """Return the number of each run's cluster, the unit of the bootstrap: trials of a scenario share their machines.

    A run without a scenario belongs to the cluster of its instance.
    """
    return np.asarray(runs.groupby("cluster", sort=True).ngroup(), dtype=np.intp)


def cluster_words(runs: pd.DataFrame) -> str:
    """Return the name of the units of a bootstrap over these runs: scenarios, instances, or both."""
    drawn = set() if "scenario" not in runs else set(runs["scenario"].notna().tolist())
    return {frozenset({True}): "scenarios", frozenset({True, False}): "scenarios and single instances"}.get(
        frozenset(drawn), "instances"
    )


def resample(num_clusters: int, *, resamples: int = 2000, seed: int = 0) -> Numbers:
    """Return how often a bootstrap draws each cluster, of shape (resamples, num_clusters).

    The same weights serve every policy, so that policies are compared on the same resamples.
    """
    rng = np.random.default_rng(seed)
    return rng.multinomial(num_clusters, np.full(num_clusters, 1 / num_clusters), size=resamples).astype(np.float64)


def resampled_means(sample: Numbers, clusters: npt.NDArray[np.intp], weights: Numbers) -> Numbers:
    """Return the mean of a sample in each resample (see `resample`); NaN where none of the sample was drawn.

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
    """Return the ends of the percentile bootstrap interval; NaN for an empty sample."""
    known = resampled[~np.isnan(resampled)]
    tail = (1 - confidence) / 2
    return quantile(known, tail), quantile(known, 1 - tail)
