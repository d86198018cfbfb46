"""Bootstrap intervals for windows that overlap: zones are drawn, and in each zone blocks of time.

A window is a part of the same months as its neighbours, so windows are not independent. A resample draws as many zones
as there are, with replacement, and for each of them as many blocks of its starts. A block is as long as the longest
window, so that windows of two blocks overlap only if the blocks are neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hindsched.bench.results.bootstrap import resample_nested

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BLOCK", "Resamples"]

#: Samples of a block: N for D = 92 h.
BLOCK = 1_698
_RESAMPLES = 1_000

Reals = npt.NDArray[np.float64]


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
