"""The root of a search: the two-sided core, its words, and the order of its items."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.kmis.kernels.candidate_vectors import count8, fits8
from hindsched.offline.kmis.kernels.compaction import compact
from hindsched.offline.kmis.kernels.search_state import (
    ROOT_BITS,
    ROOT_DEPTH,
    ROOT_ITEMS,
    ROOT_NUMBERS,
    ROOT_SPLIT,
    ROOT_STRIDE,
)
from hindsched.offline.kmis.kernels.vectors import lowest, popcount
from hindsched.offline.kmis.kernels.word_constants import ALL, NONE, WORD

__all__ = ["core_of", "make_root", "order_items", "write_root"]

_NO_LIMIT = 1 << 60  # more ones than a set has


@kernel("int64(uint64[:,::1], int64, uint64[::1], int64, uint64[::1])", allocates=True)
def drop_small(words: Words, depth: int, common: Words, need: int, alive: Words) -> int:
    """Remove from ``alive`` the sets that share fewer than ``need`` ones with ``common``; return how many remain.

    ``words[w, i]`` is word w of number i; the first ``depth`` words count.
    """
    flat, stride = words.reshape(words.size), words.shape[1]
    left = 0
    for k in range(alive.size):
        if alive[k] == NONE:
            continue
        fit = NONE
        for j in range(0, 64, 8):
            fit |= fits8(flat, 64 * k + j, stride, depth, common, 8, need, _NO_LIMIT) << WORD(j)
        alive[k] &= fit
        left += popcount(alive[k])
    return left


@kernel(
    "int64(uint64[:,::1], uint64[:,::1], int64, int64, int64, int64, int64[::1], int64[::1], uint64[::1], int64[::1])",
    allocates=True,
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
    """Drop items with fewer than ky bits and bits with fewer than kx items until nothing changes.

    Only the first ``n_items`` items and ``n_bits`` bits count. Writes the remaining items to ``order``, by rising
    number of bits, the mask of the remaining bits to ``mask`` and their indices to ``kept_bits``. Returns the number of
    items and leaves that of bits in ``counts[0]``; ``counts`` has 8 more cells than there are items.
    """
    depth = (n_bits + 63) >> 6
    item_words = (n_items + 63) >> 6
    alive = np.full(item_words, ALL, np.uint64)
    if n_items & 63:
        alive[item_words - 1] = (WORD(1) << WORD(n_items & 63)) - WORD(1)
    mask[:depth] = ALL
    mask[depth:] = NONE
    if n_bits & 63:
        mask[depth - 1] = (WORD(1) << WORD(n_bits & 63)) - WORD(1)
    bits_left = n_bits
    while True:
        if drop_small(items, depth, mask, ky, alive) < kx:
            counts[0] = 0
            return 0
        before = bits_left
        bits_left = drop_small(bits, item_words, alive, kx, mask)
        if bits_left < ky:
            counts[0] = 0
            return 0
        if bits_left == before:
            break
    left = 0
    for w in range(depth):
        word = mask[w]
        while word != NONE:
            kept_bits[left] = 64 * w + lowest(word)
            word &= word - WORD(1)
            left += 1
    flat, stride = items.reshape(items.size), items.shape[1]
    for i in range(0, n_items, 8):
        count8(flat, i, stride, depth, mask, n_items - i, counts, i)
    number = 0
    for i in range(n_items):
        if (alive[i >> 6] >> WORD(i & 63)) & WORD(1):
            order[number] = i
            counts[number] = counts[i]
            number += 1
    places = np.zeros(bits_left + 2, np.int64)  # sort by counting
    for i in range(number):
        places[counts[i] + 1] += 1
    for x in range(bits_left):
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
    " uint64[::1], int64[::1], int64, uint64[::1])",
    allocates=True,
)
def write_root(
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
    """Write the words of the root in the given order, restricted to the kept bits, and the names of the bits.

    ``names`` holds the kept bits on entry. Returns the number of names.
    """
    if depth < (n_bits + 63) >> 6:
        alive = np.zeros(bits.shape[0], np.uint64)
        scratch = np.empty(64 * bits.shape[0], np.uint64)
        block = np.empty(64, np.uint64)
        ids_at = (depth + 1) * stride
        for i in range(n):
            alive[order[i] >> 6] |= WORD(1) << WORD(order[i] & 63)
            root[ids_at + i] = WORD(order[i])
        compact(bits, alive, names, 0, kept, ids_at, root, n, 0, scratch, block)
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


@kernel("void(uint64[::1], int64, int64, int64, int64, int64)", allocates=True)
def order_items(root: Words, stride: int, depth: int, n: int, groups: int, falling: int) -> None:
    """Distribute the items, sorted by rising size, over the groups in turn, or reverse them.

    Equal neighbours stay together, so that (twin) applies to them.
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


@kernel(
    "Tuple((int64[::1], uint64[::1], int64[::1]))(uint64[:,::1], uint64[:,::1], int64, int64, int64, int64)",
    allocates=True,
)
def make_root(items: Words, bits: Words, n_items: int, n_bits: int, kx: int, ky: int) -> tuple[Ints, Words, Ints]:
    """Return the root of a side: its numbers, its words and the names of its bits.

    The core is empty if ``numbers[ROOT_ITEMS]`` is 0.
    """
    numbers = np.zeros(ROOT_NUMBERS, np.int64)
    numbers[ROOT_SPLIT] = 1
    order = np.empty(n_items, np.int64)
    counts = np.empty(n_items + 8, np.int64)
    mask = np.empty(items.shape[0], np.uint64)
    names = np.empty(256 * items.shape[0] + 512, np.int64)
    n = core_of(items, bits, n_items, n_bits, kx, ky, order, counts, mask, names)
    if n == 0:
        return numbers, np.empty(0, np.uint64), names
    depth, stride = (counts[0] + 63) >> 6, (n + 23) & ~7
    root = np.empty((depth + 2) * stride + 64, np.uint64)
    numbers[ROOT_BITS] = write_root(items, bits, n_bits, order, n, counts[0], stride, mask, names, depth, root)
    numbers[ROOT_ITEMS], numbers[ROOT_DEPTH], numbers[ROOT_STRIDE] = n, depth, stride
    return numbers, root, names
