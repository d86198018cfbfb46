"""Steps of empirical distribution functions, and those of them that a picture can show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["ecdf", "thinned"]


Numbers = npt.NDArray[np.float64]


def ecdf(sample: Sequence[float], total: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the steps of the empirical distribution of a sample, as shares of ``total`` runs.

    Runs outside the sample stay in the denominator, so the curve ends below 1 where some run did not finish.

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


def thinned(x: Numbers, share: Numbers, *, left: float, right: float, points: int = 240) -> tuple[Numbers, Numbers]:
    """Return the visible steps of a curve on a logarithmic axis: at most ``points`` of them.

    Of several steps between two points of the axis only the last is kept. The result is exact at each of its steps,
    and nowhere above the true curve.

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
