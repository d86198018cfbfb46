"""A knapsack: whether jobs that fit together can load a resource beyond its limit (docs/grid/model.md section 6)."""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.instances.errors import InputError

__all__ = ["LARGEST_INT64_SUM", "Numbers", "largest_load"]

#: Sums up to this number are computed with 64-bit integers, larger ones with Python integers.
LARGEST_INT64_SUM = 2**62
#: The largest number of cells of a table.
_MOST_CELLS = 10**8

Numbers = npt.NDArray[Any]


def largest_load(items: list[tuple[int, int]], nodes: int, limit: int, *, repeated: bool) -> int:
    """Return the largest sum of loads of items whose widths sum to at most M.

    If it is above the limit, any number above the limit may be returned.

    Parameters
    ----------
    items
        Pairs of a load >= 1 and a width from 1 to M.
    nodes
        M.
    limit
        The limit to compare with.
    repeated
        Whether an item may be taken more than once.

    Raises
    ------
    InputError
        If limit and M are both too large for a table.

    Notes
    -----
    Dynamic programming over nodes, or over loads if the limit is smaller: O(items x min(M, limit)).

    Examples
    --------
    >>> largest_load([(3, 2), (2, 1)], nodes=5, limit=9, repeated=False)
    5
    >>> largest_load([(3, 2), (2, 1)], nodes=5, limit=9, repeated=True)
    10
    """
    if not repeated and sum(width for _, width in items) <= nodes:
        return sum(load for load, _ in items)
    if all(load * nodes <= limit * width for load, width in items):  # then sum of load <= limit / M x sum of width
        return limit
    if any(load > limit for load, _ in items):
        return limit + 1
    unit = reduce(gcd, (width for _, width in items))
    if min(nodes // unit, limit) > _MOST_CELLS:
        raise InputError(f"limit {limit} on {nodes} nodes cannot be checked: one of them must be <= {_MOST_CELLS}")
    if nodes // unit <= limit:
        kind: type = np.int64 if nodes * (limit + 1) < LARGEST_INT64_SUM else object
        most: Numbers = np.zeros(nodes // unit + 1, dtype=kind)  # most[x]: largest load within x units of nodes
        for load, width in items:
            _take(most, width // unit, load, np.maximum, repeated)
        return int(most[-1])
    # fewest[x]: fewest nodes for a load of exactly x. From a set that exceeds the limit, items can be removed until the
    # rest exceeds it by less than one load. So loads up to twice the limit are enough.
    fewest = np.full(2 * limit + 1, nodes + 1, dtype=np.int64)
    fewest[0] = 0
    for load, width in items:
        _take(fewest, load, width, np.minimum, repeated)
    return int(np.flatnonzero(fewest <= nodes)[-1])


def _take(table: Numbers, step: int, gain: int, better: np.ufunc, repeated: bool) -> None:
    """Add an item: ``table[x]`` becomes the better of itself and ``table[x - step] + gain``.

    If the item may be repeated, this is the running best of ``table - gain x position`` for each residue of ``step``.
    """
    if step >= len(table):
        return
    if not repeated:
        table[step:] = better(table[step:], table[:-step] + gain)
        return
    count = -(-len(table) // step)
    padded = np.zeros(count * step, dtype=table.dtype)
    padded[: len(table)] = table
    rise = (np.arange(count).astype(table.dtype) * gain)[:, None]
    table[:] = (better.accumulate(padded.reshape(count, step) - rise, axis=0) + rise).reshape(-1)[: len(table)]
