"""The first solution: a beam search over sets of rows."""

from __future__ import annotations

import numpy as np

from offline.coupled.common_slots.core.kernels.compiling import ALL, NONE, WORD, Ints, Words, kernel
from offline.coupled.common_slots.core.kernels.vectors import popcount

__all__ = ["beam"]


@kernel("int64(uint64[:,::1], int64, int64, int64, int64, int64[::1])")
def beam(by_row: Words, p: int, prefix: int, m: int, width: int, chosen: Ints) -> int:
    """Build row sets of size m one row at a time, keeping the ``width`` best of each size.

    Only the first ``prefix`` columns count.  Writes the best set to ``chosen`` and returns the
    number of columns it shares.
    """
    n_words = (prefix + 63) >> 6
    set_words = (p + 63) >> 6
    padded = by_row.shape[1]
    common = np.zeros((width, n_words), np.uint64)
    common_next = np.zeros((width, n_words), np.uint64)
    members = np.zeros((width, set_words), np.uint64)
    members_next = np.zeros((width, set_words), np.uint64)
    counts = np.zeros((width, padded), np.int64)
    histogram = np.zeros(prefix + 1, np.int64)
    for w in range(n_words):
        common[0, w] = ALL
    if prefix & 63:
        common[0, n_words - 1] = (WORD(1) << WORD(prefix & 63)) - WORD(1)
    alive = 1
    best = 0
    for _ in range(m):
        best = 0
        for b in range(alive):
            row_counts = counts[b]
            row_counts[:] = 0
            for w in range(n_words):
                word = common[b, w]
                if word != NONE:
                    column = by_row[w]
                    for i in range(padded):
                        row_counts[i] += popcount(column[i] & word)
            for i in range(p):
                if (members[b, i >> 6] >> WORD(i & 63)) & WORD(1):
                    row_counts[i] = -1
                else:
                    histogram[row_counts[i]] += 1
                    best = max(best, row_counts[i])
        least = best
        seen = histogram[best]
        while least > 0 and seen < 3 * width:
            least -= 1
            seen += histogram[least]
        found = 0
        value = best
        while value >= least and found < width:
            for b in range(alive if histogram[value] else 0):
                if found == width:
                    break
                row_counts = counts[b]
                for i in range(p):
                    if row_counts[i] != value:
                        continue
                    for x in range(set_words):
                        members_next[found, x] = members[b, x]
                    members_next[found, i >> 6] |= WORD(1) << WORD(i & 63)
                    known = False
                    for other in range(found):
                        same = True
                        for x in range(set_words):
                            if members_next[other, x] != members_next[found, x]:
                                same = False
                        known = known or same
                    if known:
                        continue
                    for w in range(n_words):
                        common_next[found, w] = common[b, w] & by_row[w, i]
                    found += 1
                    if found == width:
                        break
            value -= 1
        histogram[: best + 1] = 0
        common, common_next = common_next, common
        members, members_next = members_next, members
        alive = found
    number = 0
    for i in range(p):
        if (members[0, i >> 6] >> WORD(i & 63)) & WORD(1):
            chosen[number] = i
            number += 1
    return best
