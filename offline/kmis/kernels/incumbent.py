"""The first solution: a beam search over sets of rows, and exchanges of one row for another."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.kmis.kernels.candidate_vectors import count8
from hindsched.offline.kmis.kernels.root_node import make_root
from hindsched.offline.kmis.kernels.search_state import ROOT_ITEMS
from hindsched.offline.kmis.kernels.vectors import lowest, popcount
from hindsched.offline.kmis.kernels.word_constants import ALL, WORD

__all__ = ["beam", "shrink"]


@kernel("int64(uint64[:,::1], int64, int64, int64, uint64[::1], int64[::1])", allocates=True)
def exchange(by_row: Words, p: int, prefix: int, best: int, members: Words, chosen: Ints) -> int:
    """Exchange single rows while that leaves more than ``best`` common columns; return their number.

    ``members`` are the chosen rows as bits; only the first ``prefix`` columns count.
    """
    n_words = (prefix + 63) >> 6
    padded, m = by_row.shape[1], chosen.size
    items = by_row.reshape(by_row.size)
    common = np.empty(n_words, np.uint64)
    counts = np.empty(8, np.int64)
    since = 0  # members tried since the last exchange
    d = 0
    while since < m:
        for w in range(n_words):
            word = ALL
            for x in range(m):
                if x != d:
                    word &= by_row[w, chosen[x]]
            common[w] = word
        if prefix & 63:
            common[n_words - 1] &= (WORD(1) << WORD(prefix & 63)) - WORD(1)
        since += 1
        for i in range(0, p, 8):
            if count8(items, i, padded, n_words, common, p - i, counts, 0) <= best:
                continue
            for x in range(i, min(i + 8, p)):
                if counts[x - i] > best and not (members[x >> 6] >> WORD(x & 63)) & WORD(1):
                    best = counts[x - i]
                    members[chosen[d] >> 6] ^= WORD(1) << WORD(chosen[d] & 63)
                    members[x >> 6] |= WORD(1) << WORD(x & 63)
                    chosen[d] = x
                    since = 0
        d = d + 1 if d + 1 < m else 0
    number = 0
    for i in range(p):
        if (members[i >> 6] >> WORD(i & 63)) & WORD(1):
            chosen[number] = i
            number += 1
    return best


@kernel("int64(uint64[:,::1], int64, int64, int64, int64, int64[::1])", allocates=True)
def beam(by_row: Words, p: int, prefix: int, m: int, width: int, chosen: Ints) -> int:
    """Build row sets of size m one row at a time, keeping the ``width`` best of each size; then improve the best.

    Only the first ``prefix`` columns count.  Writes the best set to ``chosen`` and returns the
    number of columns it shares.
    """
    n_words = (prefix + 63) >> 6
    set_words = (p + 63) >> 6
    padded = by_row.shape[1]
    items = by_row.reshape(by_row.size)
    common = np.zeros((width, n_words), np.uint64)
    common_next = np.zeros((width, n_words), np.uint64)
    members = np.zeros((width, set_words), np.uint64)
    members_next = np.zeros((width, set_words), np.uint64)
    counts = np.zeros(8, np.int64)
    histogram = np.zeros(prefix + 2, np.int64)
    values = np.empty(width * p, np.int64)  # extensions that may be kept: value, set and row
    places = np.empty(width * p, np.int64)
    order = np.empty(width * p, np.int64)
    for w in range(n_words):
        common[0, w] = ALL
    if prefix & 63:
        common[0, n_words - 1] = (WORD(1) << WORD(prefix & 63)) - WORD(1)
    alive = 1
    best = 0
    for _ in range(m):
        best = 0
        least = 0  # at least 3 * width extensions reach it
        above = 0
        number = 0
        for b in range(alive):
            here = common[b]
            for i in range(0, p, 8):
                if count8(items, i, padded, n_words, here, p - i, counts, 0) < least:
                    continue
                for x in range(i, min(i + 8, p)):
                    value = counts[x - i]
                    if value >= least and not (members[b, x >> 6] >> WORD(x & 63)) & WORD(1):
                        values[number] = value
                        places[number] = b * p + x
                        number += 1
                        above += 1
                        histogram[value] += 1
                        best = max(best, value)
            while above - histogram[least] >= 3 * width:
                above -= histogram[least]
                least += 1
        before = 0
        for value in range(best, least - 1, -1):  # sort by falling value
            here_now = histogram[value]
            histogram[value] = before
            before += here_now
        for x in range(number):
            if values[x] >= least:
                order[histogram[values[x]]] = places[x]
                histogram[values[x]] += 1
        histogram[: best + 1] = 0
        found = 0
        for x in range(before):
            b = order[x] // p
            i = order[x] - b * p
            for k in range(set_words):
                members_next[found, k] = members[b, k]
            members_next[found, i >> 6] |= WORD(1) << WORD(i & 63)
            known = False
            for other in range(found):
                same = True
                for k in range(set_words):
                    same = same and members_next[other, k] == members_next[found, k]
                known = known or same
            if known:
                continue
            for w in range(n_words):
                common_next[found, w] = common[b, w] & by_row[w, i]
            found += 1
            if found == width:
                break
        common, common_next = common_next, common
        members, members_next = members_next, members
        alive = found
    number = 0
    for i in range(p):
        if (members[0, i >> 6] >> WORD(i & 63)) & WORD(1):
            chosen[number] = i
            number += 1
    return exchange(by_row, p, prefix, best, members[0], chosen[:m])


@kernel("int64(uint64[:,::1], uint64[:,::1], int64, int64, int64, int64, int64, int64[::1])", allocates=True)
def shrink(by_row: Words, by_column: Words, p: int, n: int, m: int, w: int, width: int, chosen: Ints) -> int:
    """Look for m rows with w >= 1 columns in a short prefix; return its length, n + 1 if none are found.

    Prefixes are made longer until the beam succeeds, and shorter until it fails; it is not tried again where
    the core of all columns is empty.  Writes the best set to ``chosen``.
    """
    rows = np.empty(p, np.int64)
    size = max(64, w)
    prefix = n + 1
    is_growing = True
    while True:
        size = min(size, n)
        if size < w:
            break
        if beam(by_row, p, size, m, width, rows) < w:
            if not is_growing or size == n:
                break
            if size <= max(64, w) and make_root(by_row, by_column, p, n, m, w)[0][ROOT_ITEMS] == 0:
                break
            size *= 4
            continue
        is_growing = False
        chosen[:m] = rows[:m]
        left = w
        for k in range((size + 63) >> 6):
            word = by_row[k, rows[0]]
            for i in range(1, m):
                word &= by_row[k, rows[i]]
            ones = popcount(word)
            if ones >= left:
                for _ in range(left - 1):
                    word &= word - WORD(1)
                prefix = 64 * k + lowest(word) + 1
                break
            left -= ones
        size = prefix - 1
    return prefix
