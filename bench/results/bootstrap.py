"""Bootstrap intervals over clusters: scenarios of an experiment, blocks of windows, or single instances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from hindsched.bench.family import family_named
from hindsched.bench.results.quantile import quantile

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Weights",
    "cluster_words",
    "clusters",
    "percentiles",
    "resample",
    "resample_nested",
    "resampled_means",
    "resampled_medians",
    "weights_of",
]

Numbers = npt.NDArray[np.float64]
#: Most clusters whose weights are an array of floats.
_MOST_CLUSTERS = 4096
#: Most weights of a bootstrap over more clusters, and fewest resamples.
_MOST_WEIGHTS, _FEWEST_RESAMPLES = 1 << 27, 200
#: Resamples over many clusters that are weighed at a time.
_BLOCK = 16


def clusters(runs: pd.DataFrame) -> npt.NDArray[np.intp]:
    """Return the number of each run's cluster, the unit of the bootstrap: trials of a scenario share their machines.

    A run without a scenario belongs to the cluster of its instance.
    """
    return np.asarray(runs.groupby("cluster", sort=True).ngroup(), dtype=np.intp)


def cluster_words(runs: pd.DataFrame) -> str:
    """Return the name of the units of a bootstrap over these runs: those of the families, instances, or both."""
    is_alone = runs["cluster"] == runs["fingerprint"]
    drawn = [family_named(str(name)).clusters_name for name in runs.loc[~is_alone, "family"].unique()]
    if not is_alone.any():
        return " and ".join(drawn)
    alone = {family_named(str(name)).instances_name for name in runs.loc[is_alone, "family"].unique()}
    return " and ".join([*drawn, *(f"single {name}" if drawn else name for name in sorted(alone))])


class _ManyWeights:
    """The weights of many clusters in one byte each, with the few operations of an array that a bootstrap needs."""

    def __init__(self, blocks: list[npt.NDArray[np.uint8]]) -> None:
        self._blocks = blocks
        self.shape = sum(len(block) for block in blocks), blocks[0].shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[npt.NDArray[np.uint8]]:
        return (row for block in self._blocks for row in block)

    def __matmul__(self, of_clusters: Numbers) -> Numbers:
        return np.concatenate([block.astype(np.float64) @ of_clusters for block in self._blocks])


#: How often each resample draws each cluster, of shape (resamples, clusters).
Weights: TypeAlias = Numbers | _ManyWeights


def resample(num_clusters: int, *, resamples: int = 2000, seed: int = 0) -> Weights:
    """Return how often a bootstrap draws each cluster, of shape (resamples, num_clusters).

    The same weights serve every policy, so that policies are compared on the same resamples. With more than 67,000
    clusters there are fewer resamples, at least 200: their weights then take at most as much memory.
    """
    rng = np.random.default_rng(seed)
    shares = np.full(num_clusters, 1 / num_clusters)
    if num_clusters <= _MOST_CLUSTERS:
        return rng.multinomial(num_clusters, shares, size=resamples).astype(np.float64)
    most = min(resamples, max(_FEWEST_RESAMPLES, _MOST_WEIGHTS // num_clusters))
    sizes = (min(_BLOCK, most - first) for first in range(0, most, _BLOCK))
    return _ManyWeights([rng.multinomial(num_clusters, shares, size=size).astype(np.uint8) for size in sizes])


def resample_nested(parents: npt.NDArray[np.intp], *, resamples: int = 2000, seed: int = 0) -> Numbers:
    """Return how often a bootstrap in two steps draws each cluster: it draws parents, and in each its clusters.

    Parameters
    ----------
    parents
        The number of each cluster's parent. A parent that is drawn brings as many clusters as it has.
    resamples, seed
        As for `resample`.

    Examples
    --------
    >>> resample_nested(np.array([0, 0, 1]), resamples=3).tolist()
    [[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [0.0, 0.0, 2.0]]
    """
    rng = np.random.default_rng(seed)
    number = int(parents.max()) + 1
    times = rng.multinomial(number, [1 / number] * number, size=resamples)
    weights = np.zeros((resamples, len(parents)))
    for parent in range(number):
        own = np.flatnonzero(parents == parent)
        weights[:, own] = rng.multinomial(times[:, parent] * len(own), [1 / len(own)] * len(own))
    return weights


def weights_of(runs: pd.DataFrame) -> tuple[npt.NDArray[np.intp], Weights]:
    """Return the number of each run's cluster, and how often each resample draws each cluster.

    If the clusters have several parents (the column ``parent``), a resample draws parents, and clusters in them.
    """
    cluster = clusters(runs)
    number = int(cluster.max(initial=-1)) + 1
    if "parent" in runs:
        codes, names = runs["parent"].factorize(sort=True)
        if len(names) > 1:
            parents = np.zeros(number, dtype=np.intp)
            parents[cluster] = codes
            return cluster, resample_nested(parents)
    return cluster, resample(number)


def resampled_means(sample: Numbers, clusters: npt.NDArray[np.intp], weights: Weights) -> Numbers:
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
    sums = np.bincount(clusters, weights=sample, minlength=weights.shape[1]).astype(np.float64)
    with np.errstate(invalid="ignore"):
        means: Numbers = (weights @ sums) / (weights @ _per_cluster(clusters, weights))
    return means


def resampled_medians(sample: Numbers, clusters: npt.NDArray[np.intp], weights: Weights) -> Numbers:
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
    totals = weights @ _per_cluster(of_cluster, weights)
    first, last, before = _middle(of_cluster, totals, weights)
    ordered, of_cluster = ordered[first:last], of_cluster[first:last]
    for place, drawn in enumerate(weights):
        total = totals[place]
        if total > 0:
            counts = drawn[of_cluster].cumsum(dtype=np.float64) + before[place]
            low = ordered[np.searchsorted(counts, (total - 1) // 2, side="right")]
            high = ordered[np.searchsorted(counts, total // 2, side="right")]
            medians[place] = (low + high) / 2
    return medians


def _middle(of_cluster: npt.NDArray[np.intp], totals: Numbers, weights: Weights) -> tuple[int, int, Numbers]:
    """Return first and last place of the middle of an ordered sample, and how much each resample draws before it.

    The middle holds the median of every resample, so the rest of a large sample need not be counted place by place.
    """
    size = len(of_cluster)
    width = max(size // 16, 64)
    while 2 * width < size:
        first, last = size // 2 - width, size // 2 + width
        before = weights @ _per_cluster(of_cluster[:first], weights)
        within = weights @ _per_cluster(of_cluster[first:last], weights)
        if ((before <= (totals - 1) // 2) & (totals // 2 < before + within) | (totals == 0)).all():
            return first, last, before
        width *= 2
    return 0, size, np.zeros(len(weights))


def _per_cluster(clusters: npt.NDArray[np.intp], weights: Weights) -> Numbers:
    """Return the number of times that each cluster occurs."""
    return np.bincount(clusters, minlength=weights.shape[1]).astype(np.float64)


def percentiles(resampled: Numbers, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the ends of the percentile bootstrap interval; NaN for an empty sample."""
    known = resampled[~np.isnan(resampled)]
    tail = (1 - confidence) / 2
    return quantile(known, tail), quantile(known, 1 - tail)
