"""Small instances in one call."""

from __future__ import annotations

import numpy as np

from offline.coupled.common_slots.core.kernels.beam import beam
from offline.coupled.common_slots.core.kernels.compiling import ALL, NONE, WORD, Ints, Table, Words, kernel
from offline.coupled.common_slots.core.kernels.estimate import cost_of, dive
from offline.coupled.common_slots.core.kernels.layout import (
    DONE,
    FOUND,
    FRAME_FIELDS,
    KX,
    KY,
    LEVELS,
    MORE_BITS,
    MOST_STEPS,
    PAUSED,
    SCALARS,
    STATUS,
    TOP,
)
from offline.coupled.common_slots.core.kernels.roots import arrange, core_of, plant
from offline.coupled.common_slots.core.kernels.search import search
from offline.coupled.common_slots.core.kernels.vectors import lowest
from offline.coupled.common_slots.core.kernels.words import orient

__all__ = ["attempt"]


@kernel("int64(uint64[:,::1], int64, int64, int64, int64, float64[:,::1], int64[::1], int64[::1])")
def attempt(packed: Words, n: int, m: int, width: int, limit: int, shares: Table, rows: Ints, columns: Ints) -> int:
    """Beam and row side in one call, for instances where calls from Python would dominate.

    Writes the best rows found to ``rows`` and their common columns to ``columns[1:]``, with their
    number in ``columns[0]``.  Returns ``DONE`` if they are optimal, ``PAUSED`` if not known
    to be: the search is not begun if it may take more than ``limit`` ns.
    """
    p, n_words = packed.shape
    by_row = np.zeros((n_words, (p + 63) & ~63), np.uint64)
    by_column = np.zeros(((p + 63) >> 6, 64 * n_words), np.uint64)
    orient(packed, by_row, by_column)
    best = beam(by_row, p, n, m, width, rows)
    status = PAUSED
    order = np.empty(p + 1, np.int64)
    counts = np.empty(p + 1, np.int64)
    mask = np.empty(n_words, np.uint64)
    names = np.empty(256 * n_words + 512, np.int64)
    left = core_of(by_row, by_column, p, n, m, best + 1, order, counts, mask, names)
    if left == 0:
        status = DONE
    else:
        kept = counts[0]
        depth = (kept + 63) >> 6
        stride = (left + 23) & ~7
        root = np.empty((depth + 2) * stride + 64, np.uint64)
        size = plant(by_row, by_column, n, order, left, kept, stride, mask, names, depth, root)
        sets = np.empty(LEVELS + 1)
        sizes = np.empty(LEVELS + 1)
        dive(root, stride, depth, left, m, best + 1, 6, sets, sizes)
        s = 1
        cost = cost_of(sets, sizes, shares, left, m, depth, by_column.shape[0], 1)
        for other in range(2, MOST_STEPS + 1):
            other_cost = cost_of(sets, sizes, shares, left, m, depth, by_column.shape[0], other)
            if other_cost < cost:
                s, cost = other, other_cost
        if cost <= limit:
            groups = (m - 1) // (s - 1) if s > 1 else 1
            arrange(root, stride, depth, left, groups, 1 if 3 * m > left else 0)
            state = np.zeros(SCALARS, np.int64)
            state[TOP] = -1
            state[KX] = m
            state[KY] = best + 1
            frames = np.empty((64, FRAME_FIELDS), np.int64)
            words = np.empty((3 * depth + 20) * (left + 64), np.uint64)
            solution = np.empty(64 * depth + 64, np.int64)
            search(
                root, stride, depth, size, by_column, left, s, groups, MORE_BITS,
                state, frames, words, names, solution, limit,
            )  # fmt: skip
            status = DONE if state[STATUS] == DONE else PAUSED
            if state[FOUND] > 0:
                number = 0
                for k in range(by_column.shape[0]):
                    word = ALL
                    for j in range(state[FOUND]):
                        word &= by_column[k, solution[j]]
                    while word != NONE and number < m:
                        rows[number] = 64 * k + lowest(word)
                        word &= word - WORD(1)
                        number += 1
    number = 0
    for w in range(n_words):
        word = packed[rows[0], w]
        for i in range(1, m):
            word &= packed[rows[i], w]
        while word != NONE:
            number += 1
            columns[number] = 64 * w + lowest(word)
            word &= word - WORD(1)
    columns[0] = number
    return status
