"""Small searches in one compiled call, since calls from Python would take longer than the search."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Flags, Ints, Reals, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.kmis.kernels.bit_matrix import orient, pack
from hindsched.offline.kmis.kernels.incumbent import beam, shrink
from hindsched.offline.kmis.kernels.root_node import make_root, order_items
from hindsched.offline.kmis.kernels.search_state import (
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
from hindsched.offline.kmis.kernels.tree_size_estimate import split
from hindsched.offline.kmis.kernels.vectors import lowest, popcount
from hindsched.offline.kmis.kernels.word_constants import ALL, NONE, WORD
from hindsched.offline.kmis.parameters import PARAMETERS

__all__ = ["solve_in_one_call"]


@kernel("boolean(uint64[::1], int64[::1])", allocates=True)
def is_uneven(root: Words, numbers: Ints) -> bool:
    """Return whether items at the third quartile of size have at least 1.5 times the bits of those at the first."""
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
    """Choose a side, and its split, to find m rows that share w columns in the prefix.

    Returns the expected nanoseconds of the search, and the root as `make_root` does; an empty root excludes a solution.
    The column side is considered only ``with_columns``. ``shares`` is the table of `visited_shares` for m, and
    ``column_shares`` has those for all numbers of columns up to ``max_column_goal``.
    """
    numbers, root, names = make_root(by_row, by_column, p, prefix, m, w)
    numbers[ROOT_BY_ROWS] = 1
    if numbers[ROOT_ITEMS] == 0:
        return 0.0, numbers, root, names
    cost = split(root, numbers, m, w, by_column.shape[0], PARAMETERS.first_dives, shares)
    if cost < PARAMETERS.uneven_ns and is_uneven(root, numbers):
        numbers[ROOT_SPLIT] = 1
    elif cost > PARAMETERS.row_side_ns:
        cost = split(root, numbers, m, w, by_column.shape[0], PARAMETERS.more_dives, shares)
    if not with_columns or cost < PARAMETERS.row_side_ns or w < 2 or w > PARAMETERS.max_column_goal:
        return cost, numbers, root, names
    other_numbers, other_root, other_names = make_root(by_column, by_row, prefix, p, w, m)
    if other_numbers[ROOT_ITEMS] == 0:
        return 0.0, other_numbers, other_root, other_names
    other_cost = split(other_root, other_numbers, w, m, by_row.shape[0], PARAMETERS.more_dives, column_shares[w])
    if other_cost < cost:
        return other_cost, other_numbers, other_root, other_names
    return cost, numbers, root, names


@kernel(
    "Tuple((int64, int64[::1]))(uint64[:,::1], uint64[:,::1], int64, int64, int64, int64, int64[::1], uint64[::1],"
    " int64[::1])",
    allocates=True,
)
def run_plan(
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
    """Search as planned for some ``steps``; return ``DONE`` or ``PAUSED``, and the rows of the last solution.

    There are no rows without a solution. After a solution the search continues for more than w columns, unless
    ``find_any``.
    """
    by_rows = numbers[ROOT_BY_ROWS] == 1
    kx, ky, bits = (m, w, by_column) if by_rows else (w, m, by_row)
    purpose = ANY if find_any else MORE_BITS if by_rows else MORE_ITEMS
    n, depth, stride = numbers[ROOT_ITEMS], numbers[ROOT_DEPTH], numbers[ROOT_STRIDE]
    s = numbers[ROOT_SPLIT]
    groups = (kx - 1) // (s - 1) if s > 1 else 1
    order_items(root, stride, depth, n, groups, 1 if 3 * kx > n else 0)
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
    """Write the columns that the first m of ``rows`` share; return their number."""
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
def solve_in_one_call(
    up: Flags, m: int, goal: int, is_earliest: int, shares: Reals, column_shares: Reals, rows: Ints, columns: Ints
) -> int:
    """Solve a small problem on a boolean array.

    With ``is_earliest`` find m rows that share ``goal`` >= 1 columns in the shortest prefix; otherwise m rows that
    share most columns, if more than ``goal``. Writes the best rows to ``rows`` and their common columns to
    ``columns[1:]``, with their number in ``columns[0]``; with fewer columns than the goal the rows have no meaning.
    Returns ``DONE`` if the rows are optimal, ``PAUSED`` if that is not proven.
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
        prefix = shrink(by_row, by_column, p, n, m, w, PARAMETERS.wide_beam, rows) - 1
        if prefix < n:
            columns[0] = shared(packed, rows, m, columns[1:])
    else:
        w = max(beam(by_row, p, n, m, PARAMETERS.narrow_beam, rows), goal) + 1
        columns[0] = shared(packed, rows, m, columns[1:])
    has_wide_beam = is_earliest == 1
    status = DONE
    while prefix >= w:
        cost, numbers, root, names = plan(
            by_row, by_column, p, prefix, m, w, 1 if has_wide_beam else 0, shares, column_shares
        )
        if numbers[ROOT_ITEMS] == 0:
            break
        if cost > PARAMETERS.better_incumbent_ns and not has_wide_beam:
            has_wide_beam = True
            others = np.empty(p, np.int64)
            reached = beam(by_row, p, n, m, PARAMETERS.wide_beam, others)
            if reached >= w:
                rows[:m] = others[:m]
                columns[0] = shared(packed, rows, m, columns[1:])
            if reached >= w or w <= PARAMETERS.max_column_goal:
                w = max(w, reached + 1)
                continue
        status = PAUSED
        if cost >= PARAMETERS.single_call_ns:
            break
        steps = int(PARAMETERS.single_call_steps + 2.0 * cost)
        status, better = run_plan(by_row, by_column, m, w, is_earliest, steps, numbers, root, names)
        if better.size > 0:
            rows[:m] = better
            columns[0] = shared(packed, rows, m, columns[1:])
        if better.size == 0 or not is_earliest:
            break
        prefix = columns[w]
    return status
