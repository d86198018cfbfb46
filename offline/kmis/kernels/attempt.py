"""Small searches in one call, since calls from Python would take longer than they do."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Flags, Ints, Reals, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.kmis.kernels.estimate import split
from hindsched.offline.kmis.kernels.incumbent import beam, shrink
from hindsched.offline.kmis.kernels.packing import orient, pack
from hindsched.offline.kmis.kernels.roots import arrange, rooted
from hindsched.offline.kmis.kernels.search_layout import (
    ANY,
    DONE,
    FOUND,
    FRAME_FIELDS,
    HIT,
    KX,
    KY,
    MORE_BITS,
    MORE_ITEMS,
    PAUSED,
    ROOT_BITS,
    ROOT_BY_ROWS,
    ROOT_DEPTH,
    ROOT_ITEMS,
    ROOT_SPLIT,
    ROOT_STRIDE,
    SCALARS,
    STATUS,
    TOP,
)
from hindsched.offline.kmis.kernels.tree_search import search
from hindsched.offline.kmis.kernels.vectors import lowest, popcount
from hindsched.offline.kmis.kernels.words import ALL, NONE, WORD

__all__ = ["SHORT", "WIDEST", "at_once"]

WIDEST = 40  # columns wanted beyond which the column side is not considered
SHORT = 80_000.0  # ns below which the row side is taken at once
_AT_ONCE = 2_000_000.0  # ns beyond which a search is not begun here
_CLEAR = 120_000.0  # ns below which a better incumbent costs more than it saves
_NARROW, _WIDE = 3, 8  # widths of the beam
_DIVES, _MORE_DIVES = 6, 16  # of the estimate, for short searches and for others
_UNEVEN = 1_000_000.0  # ns below which an uneven root is not split: its order by size does as much
_STEPS = 500_000  # made at least before a search is given up


@kernel("boolean(uint64[::1], int64[::1])", allocates=True)
def is_uneven(root: Words, numbers: Ints) -> bool:
    """Whether a quarter of the items has at least half as many bits again as another quarter."""
    n, stride = numbers[ROOT_ITEMS], numbers[ROOT_STRIDE]
    low, high = 0, 0
    for w in range(numbers[ROOT_DEPTH]):
        low += popcount(root[w * stride + n // 4])
        high += popcount(root[w * stride + n - 1 - n // 4])
    return 2 * high >= 3 * low


@kernel(
    "Tuple((float64, int64[::1], uint64[::1], int64[::1]))(uint64[:,::1], uint64[:,::1], int64, int64, int64, int64,"
    " int64, float64[:,::1], float64[:,:,::1])",
    allocates=True,
)
def plan(
    by_row: Words,
    by_column: Words,
    p: int,
    prefix: int,
    m: int,
    w: int,
    with_columns: int,
    shares: Reals,
    column_shares: Reals,
) -> tuple[float, Ints, Words, Ints]:
    """Choose a side for the question whether m rows share w columns in the prefix, and its split.

    Returns the nanoseconds the search may take, and the root as `rooted` does; an empty one means no.  The column side
    is only considered ``with_columns``.  ``shares`` is the table of `visited` for m, ``column_shares`` are those for
    all numbers of columns up to ``WIDEST``.
    """
    numbers, root, names = rooted(by_row, by_column, p, prefix, m, w)
    numbers[ROOT_BY_ROWS] = 1
    if numbers[ROOT_ITEMS] == 0:
        return 0.0, numbers, root, names
    cost = split(root, numbers, m, w, by_column.shape[0], _DIVES, shares)
    if cost < _UNEVEN and is_uneven(root, numbers):
        numbers[ROOT_SPLIT] = 1
    elif cost > SHORT:
        cost = split(root, numbers, m, w, by_column.shape[0], _MORE_DIVES, shares)
    if not with_columns or cost < SHORT or w < 2 or w > WIDEST:
        return cost, numbers, root, names
    other_numbers, other_root, other_names = rooted(by_column, by_row, prefix, p, w, m)
    if other_numbers[ROOT_ITEMS] == 0:
        return 0.0, other_numbers, other_root, other_names
    other_cost = split(other_root, other_numbers, w, m, by_row.shape[0], _MORE_DIVES, column_shares[w])
    if other_cost < cost:
        return other_cost, other_numbers, other_root, other_names
    return cost, numbers, root, names


@kernel(
    "Tuple((int64, int64[::1]))(uint64[:,::1], uint64[:,::1], int64, int64, int64, int64, int64[::1], uint64[::1],"
    " int64[::1])",
    allocates=True,
)
def follow(
    by_row: Words,
    by_column: Words,
    m: int,
    w: int,
    find_any: int,
    steps: int,
    numbers: Ints,
    root: Words,
    names: Ints,
) -> tuple[int, Ints]:
    """Search as planned, for some ``steps``; return ``DONE`` or ``PAUSED``, and rows of the last solution.

    There are no rows if there is no solution.  After one the search goes on for more than w columns, unless
    ``find_any``.
    """
    by_rows = numbers[ROOT_BY_ROWS] == 1
    kx, ky, bits = (m, w, by_column) if by_rows else (w, m, by_row)
    purpose = ANY if find_any else MORE_BITS if by_rows else MORE_ITEMS
    n, depth, stride = numbers[ROOT_ITEMS], numbers[ROOT_DEPTH], numbers[ROOT_STRIDE]
    s = numbers[ROOT_SPLIT]
    groups = (kx - 1) // (s - 1) if s > 1 else 1
    arrange(root, stride, depth, n, groups, 1 if 3 * kx > n else 0)
    state = np.zeros(SCALARS, np.int64)
    state[TOP] = -1
    state[KX] = kx
    state[KY] = ky
    frames = np.empty((64, FRAME_FIELDS), np.int64)
    words = np.empty((3 * depth + 20) * (n + 64), np.uint64)
    solution = np.empty(64 * depth + 64, np.int64)
    search(
        root, stride, depth, numbers[ROOT_BITS], bits, n, s, groups, purpose,
        state, frames, words, names, solution, steps,
    )  # fmt: skip
    status = DONE if state[STATUS] == DONE or state[STATUS] == HIT else PAUSED
    found = solution[: state[FOUND]]
    if found.size == 0 or not by_rows:
        return status, found[: min(m, found.size)]
    rows = np.empty(m, np.int64)
    number = 0
    for k in range(by_column.shape[0]):
        word = ALL
        for j in range(found.size):
            word &= by_column[k, found[j]]
        while word != NONE and number < m:
            rows[number] = 64 * k + lowest(word)
            word &= word - WORD(1)
            number += 1
    return status, rows


@kernel("int64(uint64[:,::1], int64[::1], int64, int64[::1])", allocates=True)
def shared(packed: Words, rows: Ints, m: int, columns: Ints) -> int:
    """Write the columns that the first m rows named share; return how many."""
    number = 0
    for k in range(packed.shape[1]):
        word = packed[rows[0], k]
        for i in range(1, m):
            word &= packed[rows[i], k]
        while word != NONE:
            columns[number] = 64 * k + lowest(word)
            word &= word - WORD(1)
            number += 1
    return number


@kernel(
    "int64(b1[:,::1], int64, int64, int64, float64[:,::1], float64[:,:,::1], int64[::1], int64[::1])", allocates=True
)
def at_once(
    up: Flags, m: int, goal: int, is_earliest: int, shares: Reals, column_shares: Reals, rows: Ints, columns: Ints
) -> int:
    """Answer a question about a boolean array in one call.

    Either, with ``is_earliest``, which m rows share ``goal`` >= 1 columns in the shortest prefix; or which m rows share
    most columns, if more than ``goal``.  Writes the best rows found to ``rows`` and their common columns to
    ``columns[1:]``, with their number in ``columns[0]``; with fewer columns than asked for the rows mean nothing.
    Returns ``DONE`` if nothing is better, ``PAUSED`` if that is not known.
    """
    p, n = up.shape
    n_words = (n + 63) >> 6
    packed = np.zeros((p, n_words), np.uint64)
    pack(up, packed)
    by_row = np.zeros((n_words, (p + 63) & ~63), np.uint64)
    by_column = np.zeros(((p + 63) >> 6, 64 * n_words), np.uint64)
    orient(packed, by_row, by_column)
    columns[0] = 0
    prefix, w = n, goal
    if is_earliest:
        prefix = shrink(by_row, by_column, p, n, m, w, _WIDE, rows) - 1
        if prefix < n:
            columns[0] = shared(packed, rows, m, columns[1:])
    else:
        w = max(beam(by_row, p, n, m, _NARROW, rows), goal) + 1
        columns[0] = shared(packed, rows, m, columns[1:])
    is_clear = is_earliest == 1
    status = DONE
    while prefix >= w:
        cost, numbers, root, names = plan(
            by_row, by_column, p, prefix, m, w, 1 if is_clear else 0, shares, column_shares
        )
        if numbers[ROOT_ITEMS] == 0:
            break
        if cost > _CLEAR and not is_clear:
            is_clear = True
            others = np.empty(p, np.int64)
            reached = beam(by_row, p, n, m, _WIDE, others)
            if reached >= w:
                rows[:m] = others[:m]
                columns[0] = shared(packed, rows, m, columns[1:])
            if reached >= w or w <= WIDEST:
                w = max(w, reached + 1)
                continue
        status = PAUSED
        if cost >= _AT_ONCE:
            break
        steps = int(_STEPS + 2.0 * cost)
        status, better = follow(by_row, by_column, m, w, is_earliest, steps, numbers, root, names)
        if better.size > 0:
            rows[:m] = better
            columns[0] = shared(packed, rows, m, columns[1:])
        if better.size == 0 or not is_earliest:
            break
        prefix = columns[w]
    return status
