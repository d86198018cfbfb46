"""Quantiles of numbers that may be infinite."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["quantile"]


def quantile(sample: npt.ArrayLike, share: float) -> float:
    """Return a quantile, linear between neighbours, of a sample that may hold infinite numbers; NaN if it is empty.

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
