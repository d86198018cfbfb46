"""The sides of the search: their choice, their split, and the search in slices."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from hindsched.instances.array_types import Reals
from hindsched.offline.kmis.kernels.root_node import make_root, order_items
from hindsched.offline.kmis.kernels.search_state import (
    ANY,
    FOUND,
    FRAME_FIELDS,
    FULL,
    KX,
    KY,
    LEVELS,
    MAX_SPLIT,
    MORE_BITS,
    MORE_ITEMS,
    PAUSED,
    ROOT_BITS,
    ROOT_DEPTH,
    ROOT_ITEMS,
    ROOT_SPLIT,
    ROOT_STRIDE,
    SCALARS,
    STATUS,
    STEPS,
    TOP,
)
from hindsched.offline.kmis.kernels.tree_search import search
from hindsched.offline.kmis.kernels.tree_size_estimate import split, visited_shares
from hindsched.offline.kmis.matrix import Matrix
from hindsched.offline.kmis.parameters import PARAMETERS
from hindsched.offline.limits import Stopwatch

__all__ = ["Side", "column_shares", "decide", "shares_of", "sides_for"]

SLICE = 4_000_000  # steps between two checks of the clock, some 10 ms


class Side:
    """One side of the search, ready to run: the root after the core reduction."""

    def __init__(self, matrix: Matrix, by_rows: bool, m: int, w: int, prefix: int) -> None:
        self.matrix, self.by_rows = matrix, by_rows
        if by_rows:
            self.items, self.bits = matrix.by_row, matrix.by_column
            self.kx, self.ky, n_items, n_bits = m, w, matrix.p, prefix
        else:
            self.items, self.bits = matrix.by_column, matrix.by_row
            self.kx, self.ky, n_items, n_bits = w, m, prefix, matrix.p
        self.numbers, self.root, self.names = make_root(self.items, self.bits, n_items, n_bits, self.kx, self.ky)
        self.n, self.depth, self.stride = self.numbers[[ROOT_ITEMS, ROOT_DEPTH, ROOT_STRIDE]].tolist()
        self.s, self.groups, self.cost = 1, 1, 0.0

    def estimate(self, dives: int) -> float:
        """Choose the split; return the expected nanoseconds of the search."""
        if self.n:
            shares = shares_of(self.kx)
            self.cost = split(self.root, self.numbers, self.kx, self.ky, self.bits.shape[0], dives, shares)
            self.s = int(self.numbers[ROOT_SPLIT])
        self.groups = (self.kx - 1) // (self.s - 1) if self.s > 1 else 1
        return self.cost

    def start(self, purpose: int) -> None:
        """Sort the items and reset the state of the search."""
        falling = 3 * self.kx > self.n
        order_items(self.root, self.stride, self.depth, self.n, self.groups, int(falling))
        self.purpose = purpose
        self.state = np.zeros(SCALARS, np.int64)
        self.state[TOP], self.state[KX], self.state[KY] = -1, self.kx, self.ky
        self.frames = np.empty((64, FRAME_FIELDS), np.int64)
        self.words = np.empty((3 * self.depth + 40) * (self.n + 64), np.uint64)
        self.solution = np.empty(64 * self.depth + 64, np.int64)

    def run(self, watch: Stopwatch, steps: float = np.inf) -> int:
        """Search until the end, the deadline, about ``steps`` steps, or the first solution (`ANY`)."""
        stop = self.state[STEPS] + steps
        while True:
            search(
                self.root, self.stride, self.depth, self.numbers[ROOT_BITS], self.bits,
                self.n, self.s, self.groups, self.purpose, self.state, self.frames, self.words,
                self.names, self.solution, SLICE,
            )  # fmt: skip
            status = int(self.state[STATUS])
            if status == FULL:
                self.words = np.concatenate((self.words, np.empty_like(self.words)))
                self.frames = np.concatenate((self.frames, np.empty_like(self.frames)))
                self.names = np.concatenate((self.names, np.empty_like(self.names)))
            elif status != PAUSED or self.state[STEPS] >= stop or watch.is_over():
                return status

    def improve_on(self, w: int) -> None:
        """Search only for more than w columns from now on."""
        place = KY if self.by_rows else KX
        self.state[place] = max(self.state[place], w + 1)

    def found(self, m: int) -> list[int] | None:
        """Return the rows of the latest solution."""
        number = int(self.state[FOUND])
        if number == 0:
            return None
        bits: list[int] = self.solution[:number].tolist()
        return self.matrix.rows_of(bits, m) if self.by_rows else bits[:m]


@lru_cache(maxsize=64)
def shares_of(kx: int) -> Reals:
    """Return the table of `visited_shares`."""
    shares = np.empty((MAX_SPLIT + 1, LEVELS + 2))
    visited_shares(kx, shares)
    return shares


@cache
def column_shares() -> Reals:
    """Return the tables of `visited_shares` for 0 to ``max_column_goal`` columns."""
    return np.stack([shares_of(max(1, kx)) for kx in range(PARAMETERS.max_column_goal + 1)])


def sides_for(matrix: Matrix, m: int, w: int, prefix: int, dives: int) -> list[Side]:
    """Return the sides worth searching for m rows that share w columns in the prefix, best first.

    The list is empty if the core is empty: there is no solution.
    """
    rows = Side(matrix, True, m, w, prefix)
    if rows.n == 0:
        return []
    rows.estimate(dives)
    if rows.cost < PARAMETERS.row_side_ns or w < 2 or w > PARAMETERS.max_column_goal:
        return [rows]
    columns = Side(matrix, False, m, w, prefix)
    if columns.n == 0:
        return []
    columns.estimate(dives)
    return sorted((rows, columns), key=lambda side: side.cost)


def decide(sides: list[Side], m: int, find_any: bool, watch: Stopwatch) -> tuple[int, list[int] | None]:
    """Run the search; return its status and the rows of the best solution, None without one.

    The better side runs first. If it takes far more steps than estimated, the sides take turns in doubling shares, so
    that a wrong estimate costs a factor, never the answer.
    """
    rows: list[int] | None = None
    best = -1
    steps = np.inf if len(sides) == 1 else max(10.0 * sides[0].cost, 2.0 * SLICE)
    for side in sides:
        side.start(ANY if find_any else MORE_BITS if side.by_rows else MORE_ITEMS)
    turn = 0
    while True:
        side = sides[turn]
        status = side.run(watch, steps)
        found = side.found(m)
        if found is not None:
            w = len(side.matrix.columns(found))
            if w > best:
                rows, best = found, w
        if status != PAUSED or watch.is_over():
            return status, rows
        turn = (turn + 1) % len(sides)
        if turn == 0:
            steps *= 2.0
        if not find_any and best >= 0:
            sides[turn].improve_on(best)
