"""The root of a search: the two-sided core, its words, and the order of its items."""

from __future__ import annotations

import numpy as np

from offline.coupled.common_slots.core.kernels.compiling import ALL, NONE, WORD, Ints, Words, kernel
from offline.coupled.common_slots.core.kernels.squeeze import squeeze
from offline.coupled.common_slots.core.kernels.vectors import popcount

__all__ = ["arrange", "core_of", "plant"]


@kernel(
    "int64(uint64[:,::1], uint64[:,::1], int64, int64, int64, int64, int64[::1], int64[::1], uint64[::1], int64[::1])"
)
def core_of(
    items: Words,
    bits: Words,
    n_items: int,
    n_bits: int,
    kx: int,
    ky: int,
    order: Ints,
    counts: Ints,
    mask: Words,
    kept_bits: Ints,
) -> int:
    """Drop items with fewer than ky bits and bits with fewer than kx items until none is left.

    Only the first ``n_items`` items and ``n_bits`` bits take part.  Writes the items that remain
    to ``order``, by rising number of bits, the mask of the remaining bits to ``mask`` and their
    names to ``kept_bits``; returns the number of items and leaves that of bits in ``counts[0]``.
    """
    depth = (n_bits + 63) >> 6
    item_words = (n_items + 63) >> 6
    alive = np.zeros(item_words, np.uint64)
    for k in range(item_words):
        alive[k] = ALL
    if n_items & 63:
        alive[item_words - 1] = (WORD(1) << WORD(n_items & 63)) - WORD(1)
    mask[:] = NONE
    for w in range(depth):
        mask[w] = ALL
    if n_bits & 63:
        mask[depth - 1] = (WORD(1) << WORD(n_bits & 63)) - WORD(1)
    remaining = n_items
    bits_left = n_bits
    while True:
        counts[:] = 0
        for w in range(depth):
            word = mask[w]
            if word != NONE:
                column = items[w]
                for i in range(n_items):
                    counts[i] += popcount(column[i] & word)
        remaining = 0
        for i in range(n_items):
            if counts[i] >= ky:
                remaining += 1
            else:
                alive[i >> 6] &= ~(WORD(1) << WORD(i & 63))
        if remaining < kx:
            counts[0] = 0
            return 0
        bits_left = 0
        dropped = 0
        for b in range(n_bits):
            if (mask[b >> 6] >> WORD(b & 63)) & WORD(1):
                degree = 0
                for k in range(item_words):
                    degree += popcount(bits[k, b] & alive[k])
                if degree < kx:
                    mask[b >> 6] &= ~(WORD(1) << WORD(b & 63))
                    dropped += 1
                else:
                    kept_bits[bits_left] = b
                    bits_left += 1
        if bits_left < ky:
            counts[0] = 0
            return 0
        if dropped == 0:
            break
    number = 0
    for i in range(n_items):
        if (alive[i >> 6] >> WORD(i & 63)) & WORD(1):
            order[number] = i
            counts[number] = counts[i]
            number += 1
    places = np.zeros(n_bits + 2, np.int64)  # sort by counting
    for i in range(number):
        places[counts[i] + 1] += 1
    for x in range(n_bits):
        places[x + 1] += places[x]
    unsorted = np.empty(number, np.int64)
    for i in range(number):
        unsorted[i] = order[i]
    for i in range(number):
        order[places[counts[i]]] = unsorted[i]
        places[counts[i]] += 1
    counts[0] = bits_left
    return number


@kernel(
    "int64(uint64[:,::1], uint64[:,::1], int64, int64[::1], int64, int64, int64,"
    " uint64[::1], int64[::1], int64, uint64[::1])"
)
def plant(
    items: Words,
    bits: Words,
    n_bits: int,
    order: Ints,
    n: int,
    kept: int,
    stride: int,
    mask: Words,
    names: Ints,
    depth: int,
    root: Words,
) -> int:
    """Write the root's words (in the order given), restricted to the bits kept; name the bits.

    ``names`` holds the kept bits on entry.  Returns the number of names.
    """
    if depth < (n_bits + 63) >> 6:
        alive = np.zeros(bits.shape[0], np.uint64)
        scratch = np.empty(64 * bits.shape[0], np.uint64)
        block = np.empty(64, np.uint64)
        ids_at = (depth + 1) * stride
        for i in range(n):
            alive[order[i] >> 6] |= WORD(1) << WORD(order[i] & 63)
            root[ids_at + i] = WORD(order[i])
        squeeze(bits, alive, names, 0, kept, ids_at, root, n, 0, scratch, block)
        return kept
    for w in range(depth):
        source = items[w]
        word = mask[w]
        for i in range(n):
            root[w * stride + i] = source[order[i]] & word
    for i in range(n):
        root[depth * stride + i] = WORD(order[i])
    for b in range(64 * depth):
        names[b] = b
    return 64 * depth


@kernel("void(uint64[::1], int64, int64, int64, int64, int64)")
def arrange(root: Words, stride: int, depth: int, n: int, groups: int, falling: int) -> None:
    """Deal the items, sorted by rising size, out to the groups in turn, or reverse them.

    Equal items that stand together stay together, so that (twin) applies to them.
    """
    place = np.empty(n, np.int64)
    run = np.zeros(n, np.int64)
    for i in range(1, n):
        is_twin = True
        for w in range(depth):
            is_twin = is_twin and root[w * stride + i] == root[w * stride + i - 1]
        run[i] = run[i - 1] + (0 if is_twin else 1)
    q = 0
    for g in range(groups):
        for i in range(n):
            if run[i] % groups == g:
                place[q] = i
                q += 1
    if falling:
        for i in range(n):
            place[i] = n - 1 - i
    line = np.empty(n, np.uint64)
    for w in range(depth + 1):
        for i in range(n):
            line[i] = root[w * stride + place[i]]
        root[w * stride : w * stride + n] = line
