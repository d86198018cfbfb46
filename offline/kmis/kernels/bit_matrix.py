"""The words of a boolean array from both sides, and a bound from the pairs of its rows."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Flags, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.kmis.kernels.transpose import transpose64
from hindsched.offline.kmis.kernels.vectors import gather64, popcount
from hindsched.offline.kmis.kernels.word_constants import NONE, WORD

__all__ = ["orient", "pack", "pair_bound"]


@kernel("void(b1[:,::1], uint64[:,::1])", allocates=True)
def pack(up: Flags, packed: Words) -> None:
    """Write the rows as words; bits after the last column are 0."""
    p, n = up.shape
    flags = up.reshape(p * n)
    for i in range(p):
        for w in range(n >> 6):
            packed[i, w] = gather64(flags, i * n + 64 * w)
        if n & 63:
            word = NONE
            if n >= 64:
                word = gather64(flags, i * n + n - 64) >> WORD(64 - (n & 63))
            else:
                for j in range(n):
                    word |= WORD(up[i, j]) << WORD(j)
            packed[i, n >> 6] = word


@kernel("void(uint64[:,::1], uint64[:,::1], uint64[:,::1])", allocates=True)
def orient(packed: Words, by_row: Words, by_column: Words) -> None:
    """Fill both structures of arrays from the packed rows.

    ``by_row[w, i]`` is word w of row i; ``by_column[k, j]`` is word k of column j.
    """
    p, n_words = packed.shape
    block = np.empty(64, np.uint64)
    for i in range(p):
        for w in range(n_words):
            by_row[w, i] = packed[i, w]
    for k in range((p + 63) // 64):
        high = min(64, p - 64 * k)
        block[:] = NONE
        for w in range(n_words):
            for i in range(high):
                block[i] = packed[64 * k + i, w]
            transpose64(block, by_column[k], 64 * w)


@kernel("int64(uint64[:,::1], int64)", allocates=True)
def pair_bound(packed: Words, m: int) -> int:
    """Return a bound on the columns that m rows share: each of m rows shares them with m - 1 others.

    O(p^2 N / 64).
    """
    p, n_words = packed.shape
    best = np.empty(p, np.int64)
    shared = np.empty(p, np.int64)
    for i in range(p):
        for j in range(p):
            ones = 0
            for w in range(n_words):
                ones += popcount(packed[i, w] & packed[j, w])
            shared[j] = ones
        best[i] = np.sort(shared)[p - m]
    least: int = np.sort(best)[p - m]
    return least
