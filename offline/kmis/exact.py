"""The best rows of a boolean array: easy cases, first solution, choice of side, proof.

All three functions return `SharedSlots`, or None if it is proven that there is no solution.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hindsched.offline.kmis.core_bounds import earliest_bound, widest_bound
from hindsched.offline.kmis.kernels.search_state import DONE, PAUSED
from hindsched.offline.kmis.kernels.single_call import solve_in_one_call
from hindsched.offline.kmis.matrix import Matrix, octets_of
from hindsched.offline.kmis.parameters import PARAMETERS
from hindsched.offline.kmis.shared_slots import SharedSlots
from hindsched.offline.kmis.sides import column_shares, decide, shares_of, sides_for
from hindsched.offline.limits import Limits, Stopwatch

__all__ = ["earliest", "exists", "widest"]

Booleans = npt.NDArray[np.bool_]


def widest(up: Booleans, m: int, watch: Stopwatch, floor: int = 0, *, is_relaxed: bool = False) -> SharedSlots | None:
    """Return m <= p rows with most common columns, and all of those columns.

    None if no rows have more than ``floor`` columns; with floor 0 any rows count, so there is always an answer. If the
    time is too short for the search, a quarter of it goes to bounds (see `_relaxed_widest`), unless ``is_relaxed``.
    """
    n = up.shape[1]
    if n <= floor:
        return None if floor else SharedSlots.of(range(m), [], 0, n)
    if m == 1:
        sizes = np.count_nonzero(up, axis=1)
        row = int(np.argmax(sizes))
        most = int(sizes[row])
        return (
            SharedSlots.of([row], np.flatnonzero(up[row]).tolist(), most, most) if most > floor or not floor else None
        )
    if up.size <= PARAMETERS.small_array:
        status, best, rows, columns = _solve_in_one_call(up, m, floor, is_earliest=False)
        if status == DONE and (best > 0 or floor > 0):
            return SharedSlots.of(rows, columns, best, best) if best > floor else None
        matrix = Matrix(octets_of(up), n)
    else:
        matrix = Matrix(octets_of(up), n)
        best, rows = matrix.beam(m, PARAMETERS.wide_beam, n)
    if best <= floor:
        best, rows = floor, []
    if best == 0:
        degrees = np.count_nonzero(up, axis=0)
        column = int(np.argmax(degrees))
        if degrees[column] < m:
            return SharedSlots.of(range(m), [], 0, 0)
        best, rows = 1, matrix.rows_of([column], m)
    sides = sides_for(matrix, m, best + 1, n, PARAMETERS.dives)
    if sides and sides[0].cost > PARAMETERS.long_search_ns:
        better, better_rows = matrix.beam(m, PARAMETERS.widest_beam, n)
        if better > best:
            best, rows = better, better_rows
        per_dive = 0.25 * m * up.size / 64.0  # ns, roughly
        dives = int(min(100.0 + 0.01 * sides[0].cost / per_dive, 5000.0, 1.0 + 1e8 / per_dive))
        sides = sides_for(matrix, m, best + 1, n, dives)
    status = DONE
    if sides:
        status, found = decide(sides, m, False, watch if is_relaxed else _reserve_time_for_bounds(watch, sides[0].cost))
        rows = found or rows
    columns = matrix.columns(rows) if rows else []
    bound = best = max(best, len(columns))
    if status != DONE:
        bound = widest_bound(matrix, m, best)
        if not is_relaxed:
            bound = max(best, min(bound, _relaxed_widest(up, m, watch, bound)))
    if rows:
        return SharedSlots.of(rows, columns, len(columns), bound)
    return SharedSlots.of([], [], None, bound) if bound > floor else None


def earliest(up: Booleans, m: int, w: int, watch: Stopwatch, *, is_relaxed: bool = False) -> SharedSlots | None:
    """Return m rows with w common columns in the shortest prefix, and their first w columns; None without such rows."""
    p, n = up.shape
    if m > p or w > n:
        return None
    if w == 0:
        return SharedSlots.of(range(m), [], 0, 0)
    if m == 1 or w == 1:
        return _earliest_simple(up, m, w)
    if up.size <= PARAMETERS.small_array:
        status, _, rows, columns = _solve_in_one_call(up, m, w, is_earliest=True)
        if status == DONE:
            return _proven_earliest(rows, columns[:w])
        matrix = Matrix(octets_of(up), n)
    else:
        matrix = Matrix(octets_of(up), n)
        rows = matrix.shrink(m, w, PARAMETERS.wide_beam)
        columns = matrix.columns(rows) if rows else []
    columns = columns[:w]
    prefix = columns[-1] if columns else n
    rows = rows if columns else []
    while prefix >= w:
        sides = sides_for(matrix, m, w, prefix, PARAMETERS.dives)
        if not sides:
            break
        status, found = decide(sides, m, True, watch if is_relaxed else _reserve_time_for_bounds(watch, sides[0].cost))
        if status == PAUSED:
            bound = earliest_bound(matrix, m, w, prefix)
            if not is_relaxed:
                bound = min(prefix + 1, max(bound, _relaxed_earliest(up[:, :prefix], m, w, watch, bound)))
            if rows:
                return SharedSlots.of(rows, columns, columns[-1] + 1, bound)
            return SharedSlots.of([], [], None, bound) if bound <= n else None
        if status == DONE or found is None:
            break
        rows = found
        columns = matrix.columns(rows)[:w]
        prefix = columns[-1]
    return _proven_earliest(rows, columns)


def _proven_earliest(rows: list[int], columns: list[int]) -> SharedSlots | None:
    return SharedSlots.of(rows, columns, columns[-1] + 1, columns[-1] + 1) if columns else None


def _solve_in_one_call(up: Booleans, m: int, goal: int, *, is_earliest: bool) -> tuple[int, int, list[int], list[int]]:
    """Return status, number of columns, rows and columns of a search in one compiled call."""
    if not up.flags.c_contiguous or not up.flags.writeable:
        up = up.copy()
    rows, columns = np.empty(up.shape[0], np.int64), np.empty(up.shape[1] + 1, np.int64)
    status = solve_in_one_call(up, m, goal, int(is_earliest), shares_of(m), column_shares(), rows, columns)
    number = int(columns[0])
    return status, number, rows[:m].tolist(), columns[1 : number + 1].tolist()


def _reserve_time_for_bounds(watch: Stopwatch, cost: float) -> Stopwatch:
    """Return a watch that leaves a part of the time to bounds if a search of ``cost`` ns cannot end in time."""
    left = watch.left_s()
    if not left or cost < 1e9 * left:
        return watch
    return Stopwatch(Limits(time_limit_s=PARAMETERS.search_time_share * left))


def _relaxed_widest(up: Booleans, m: int, watch: Stopwatch, bound: int) -> int:
    """Return a bound on the columns that m rows share, from bounds for 3, 4, ... < m rows while there is time."""
    for k in range(3, m):
        left = watch.left_s()
        if not left:
            break
        found = widest(up, k, Stopwatch(Limits(time_limit_s=left)), is_relaxed=True)
        bound = bound if found is None else min(bound, found.bound)
    return bound


def _relaxed_earliest(up: Booleans, m: int, w: int, watch: Stopwatch, bound: int) -> int:
    """Return a bound on the prefix of m rows, from bounds for 3, 4, ... < m rows while there is time."""
    for k in range(3, m):
        left = watch.left_s()
        if not left:
            break
        found = earliest(up, k, w, Stopwatch(Limits(time_limit_s=left)), is_relaxed=True)
        bound = up.shape[1] + 1 if found is None else max(bound, found.bound)
    return bound


def exists(up: Booleans, m: int, w: int, watch: Stopwatch) -> SharedSlots | None:
    """Return any m rows with w >= 1 common columns, and all of their common columns; None without such rows.

    The bound is the number of columns of the array.
    """
    p, n = up.shape
    if m > p or w > n:
        return None
    matrix = Matrix(octets_of(up), n)
    count, rows = matrix.beam(m, PARAMETERS.wide_beam, n)
    if count < w and (m == 1 or w == 1):
        found = _earliest_simple(up, m, w)
        if found is None:
            return None
        rows = list(found.workers)
    elif count < w:
        sides = sides_for(matrix, m, w, n, PARAMETERS.dives)
        if not sides:
            return None
        status, better = decide(sides, m, True, watch)
        if better is None:
            return None if status == DONE else SharedSlots.of([], [], None, n)
        rows = better
    columns = matrix.columns(rows)
    return SharedSlots.of(rows, columns, len(columns), n)


def _earliest_simple(up: Booleans, m: int, w: int) -> SharedSlots | None:
    """Return the answer of `earliest` for one row or one column."""
    if m == 1:
        reached = np.cumsum(up, axis=1) >= w
        ends = np.where(reached.any(axis=1), reached.argmax(axis=1), up.shape[1])
        row = int(ends.argmin())
        if ends[row] == up.shape[1]:
            return None
        return _proven_earliest([row], np.flatnonzero(up[row])[:w].tolist())
    wide = np.flatnonzero(np.count_nonzero(up, axis=0) >= m)
    if wide.size == 0:
        return None
    return _proven_earliest(np.flatnonzero(up[:, wide[0]])[:m].tolist(), [int(wide[0])])
