"""From a boolean array to the best rows: easy cases, the first solution, the choice of side, the proof."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from offline.kmis.core_bounds import earliest_bound, widest_bound
from offline.kmis.kernels.attempt import at_once
from offline.kmis.kernels.search_layout import DONE, PAUSED
from offline.kmis.matrix import Matrix, octets_of
from offline.kmis.sides import column_shares, decide, shares_visited, sides_for
from offline.limits import Limits, Stopwatch

__all__ = ["Block", "earliest", "exists", "widest"]

Booleans = npt.NDArray[np.bool_]

_SMALL = 1 << 17  # entries up to which an answer in one call is attempted
_LONG = 5e6  # ns from which a better incumbent and a better estimate are worth their price


class Block(NamedTuple):
    """Rows, columns in which they are all True, and a proven bound on the value asked for; no rows: none found."""

    rows: list[int]
    columns: list[int]
    bound: int


def widest(up: Booleans, m: int, watch: Stopwatch, floor: int = 0, is_relaxed: bool = False) -> Block:
    """Return m <= p rows with most common columns, all of those, and a bound on their number.

    Rows with no more than ``floor`` columns are of no interest, unless it is 0: then the bound is at most the floor,
    and there are none. Where the time will not do, a quarter of it goes to bounds (see `_relaxed_widest`), unless this
    is one of them.
    """
    n = up.shape[1]
    if n <= floor:
        return Block([] if floor else list(range(m)), [], n)
    if m == 1:
        sizes = np.count_nonzero(up, axis=1)
        row = int(np.argmax(sizes))
        most = int(sizes[row])
        return (
            Block([row], np.flatnonzero(up[row]).tolist(), most) if most > floor or not floor else Block([], [], most)
        )
    if up.size <= _SMALL:
        status, best, rows, columns = _at_once(up, m, floor, is_earliest=False)
        if status == DONE and (best > 0 or floor > 0):
            return Block(rows, columns, best) if best > floor else Block([], [], floor)
        matrix = Matrix(octets_of(up), n)
    else:
        matrix = Matrix(octets_of(up), n)
        best, rows = matrix.beam(m, 8, n)
    if best <= floor:
        best, rows = floor, []
    if best == 0:
        degrees = np.count_nonzero(up, axis=0)
        column = int(np.argmax(degrees))
        if degrees[column] < m:
            return Block(list(range(m)), [], 0)
        best, rows = 1, matrix.rows_of([column], m)
    sides = sides_for(matrix, m, best + 1, n, 12)
    if sides and sides[0].cost > _LONG:
        better, better_rows = matrix.beam(m, 64, n)
        if better > best:
            best, rows = better, better_rows
        per_dive = 0.25 * m * up.size / 64.0  # ns, roughly
        dives = int(min(100.0 + 0.01 * sides[0].cost / per_dive, 5000.0, 1.0 + 1e8 / per_dive))
        sides = sides_for(matrix, m, best + 1, n, dives)
    status = DONE
    if sides:
        status, found = decide(sides, m, False, watch if is_relaxed else _most_of(watch, sides[0].cost))
        rows = found or rows
    columns = matrix.columns(rows) if rows else []
    best = max(best, len(columns))
    if status == DONE:
        return Block(rows, columns, best)
    bound = widest_bound(matrix, m, best)
    return Block(rows, columns, bound if is_relaxed else max(best, min(bound, _relaxed_widest(up, m, watch, bound))))


def earliest(up: Booleans, m: int, w: int, watch: Stopwatch, is_relaxed: bool = False) -> Block | None:
    """Return m rows with w common columns in the shortest prefix, their first w, and a bound on its length.

    None if there are no such rows; a block without rows if the time was over before any were found.
    """
    p, n = up.shape
    if m > p or w > n:
        return None
    if w == 0:
        return Block(list(range(m)), [], 0)
    if m == 1 or w == 1:
        return _earliest_simple(up, m, w)
    if up.size <= _SMALL:
        status, _, rows, columns = _at_once(up, m, w, is_earliest=True)
        if status == DONE:
            return Block(rows, columns[:w], columns[w - 1] + 1) if columns else None
        matrix = Matrix(octets_of(up), n)
    else:
        matrix = Matrix(octets_of(up), n)
        rows = matrix.shrink(m, w, 8)
        columns = matrix.columns(rows) if rows else []
    columns = columns[:w]
    prefix = columns[-1] if columns else n
    rows = rows if columns else []
    while prefix >= w:
        sides = sides_for(matrix, m, w, prefix, 12)
        if not sides:
            break
        status, found = decide(sides, m, True, watch if is_relaxed else _most_of(watch, sides[0].cost))
        if status == PAUSED:
            bound = earliest_bound(matrix, m, w, prefix)
            if not is_relaxed:
                bound = min(prefix + 1, max(bound, _relaxed_earliest(up[:, :prefix], m, w, watch, bound)))
            return Block(rows, columns, bound) if rows or bound <= n else None
        if status == DONE or found is None:
            break
        rows = found
        columns = matrix.columns(rows)[:w]
        prefix = columns[-1]
    return Block(rows, columns, columns[-1] + 1) if rows else None


def _at_once(up: Booleans, m: int, goal: int, *, is_earliest: bool) -> tuple[int, int, list[int], list[int]]:
    """Return status, number of columns, rows and columns of a search in one call."""
    if not up.flags.c_contiguous or not up.flags.writeable:
        up = up.copy()
    rows, columns = np.empty(up.shape[0], np.int64), np.empty(up.shape[1] + 1, np.int64)
    status = at_once(up, m, goal, int(is_earliest), shares_visited(m), column_shares(), rows, columns)
    number = int(columns[0])
    return status, number, rows[:m].tolist(), columns[1 : number + 1].tolist()


def _most_of(watch: Stopwatch, cost: float) -> Stopwatch:
    """Return a watch that leaves a quarter of the time to bounds, if a search of so many ns will not end in time."""
    left = watch.left_s()
    if not left or cost < 1e9 * left:
        return watch
    return Stopwatch(Limits(time_limit_s=0.75 * left))


def _relaxed_widest(up: Booleans, m: int, watch: Stopwatch, bound: int) -> int:
    """Improve a bound on the columns m rows share by those that 3, 4, ... < m rows share, while there is time."""
    for k in range(3, m):
        left = watch.left_s()
        if not left:
            break
        block = widest(up, k, Stopwatch(Limits(time_limit_s=left)), is_relaxed=True)
        bound = min(bound, block.bound)
    return bound


def _relaxed_earliest(up: Booleans, m: int, w: int, watch: Stopwatch, bound: int) -> int:
    """Improve a bound on the prefix of m rows by those of 3, 4, ... < m rows, while there is time."""
    for k in range(3, m):
        left = watch.left_s()
        if not left:
            break
        block = earliest(up, k, w, Stopwatch(Limits(time_limit_s=left)), is_relaxed=True)
        bound = up.shape[1] + 1 if block is None else max(bound, block.bound)
    return bound


def exists(up: Booleans, m: int, w: int, watch: Stopwatch) -> Block | None:
    """Return any m rows with w >= 1 common columns, and all of those; None if there are none.

    A block without rows if the time was over before any were found.
    """
    p, n = up.shape
    if m > p or w > n:
        return None
    matrix = Matrix(octets_of(up), n)
    count, rows = matrix.beam(m, 8, n)
    if count < w and (m == 1 or w == 1):
        found = _earliest_simple(up, m, w)
        if found is None:
            return None
        rows = found.rows
    elif count < w:
        sides = sides_for(matrix, m, w, n, 12)
        if not sides:
            return None
        status, better = decide(sides, m, True, watch)
        if better is None:
            return None if status == DONE else Block([], [], n)
        rows = better
    columns = matrix.columns(rows)
    return Block(rows, columns, len(columns))


def _earliest_simple(up: Booleans, m: int, w: int) -> Block | None:
    """`earliest` for one row or one column."""
    if m == 1:
        reached = np.cumsum(up, axis=1) >= w
        ends = np.where(reached.any(axis=1), reached.argmax(axis=1), up.shape[1])
        row = int(ends.argmin())
        if ends[row] == up.shape[1]:
            return None
        columns = np.flatnonzero(up[row])[:w].tolist()
        return Block([row], columns, columns[-1] + 1)
    wide = np.flatnonzero(np.count_nonzero(up, axis=0) >= m)
    if wide.size == 0:
        return None
    column = int(wide[0])
    return Block(np.flatnonzero(up[:, column])[:m].tolist(), [column], column + 1)
