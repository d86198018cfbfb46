"""Bounds of a stopped search from the two-sided core: an empty core excludes a solution.

The core is monotone: it does not shrink with more columns or a smaller goal. So bisection finds its best bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hindsched.offline.kmis.kernels.bit_matrix import pair_bound
from hindsched.offline.kmis.kernels.root_node import core_of
from hindsched.offline.kmis.matrix import Matrix

__all__ = ["earliest_bound", "widest_bound"]

_PAIRS = 1 << 26  # words of work up to which all pairs of rows are compared


def earliest_bound(matrix: Matrix, m: int, w: int, most: int) -> int:
    """Return a prefix, at most ``most`` + 1, such that no m rows share w columns in a shorter one."""
    return _first(lambda prefix: _has_core(matrix, m, w, prefix), w, most + 1)


def widest_bound(matrix: Matrix, m: int, known: int) -> int:
    """Return a number of columns, at least ``known``, such that no m rows share more."""
    most = matrix.n
    if matrix.p * matrix.p * matrix.n_words < _PAIRS:
        most = min(most, pair_bound(matrix.packed, m))
    return max(known, _first(lambda w: not _has_core(matrix, m, w + 1, matrix.n), known, most))


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first number from ``low`` on for which ``holds`` is True, ``high`` if there is none below it."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _has_core(matrix: Matrix, m: int, w: int, prefix: int) -> bool:
    order, counts = np.empty(matrix.p, np.int64), np.empty(matrix.p + 8, np.int64)
    mask, kept = np.empty(matrix.n_words, np.uint64), np.empty(64 * matrix.n_words + 8, np.int64)
    return core_of(matrix.by_row, matrix.by_column, matrix.p, prefix, m, w, order, counts, mask, kept) > 0
