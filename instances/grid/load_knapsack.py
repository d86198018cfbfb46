"""Whether jobs that fit together can load a resource beyond its limit (docs/grid/model.md section 6)."""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.instances.errors import InputError

__all__ = ["LARGEST_INT64_SUM", "Numbers", "largest_load"]

#: Integers of numpy hold all sums up to here; beyond it Python's own are used.
LARGEST_INT64_SUM = 2**62
#: Most cells of a table.
_MOST_CELLS = 10**8

Numbers = npt.NDArray[Any]


def largest_load(items: list[tuple[int, int]], nodes: int, limit: int, *, repeated: bool) -> int:
    """Return the largest sum of loads of items whose widths sum to at most M, or any number above the limit.

    Parameters
    ----------
    items
        (load >= 1, width from 1 to M) each.
    nodes
        M.
    limit
        The limit in question.
    repeated
        Whether an item may be taken more than once.

    Raises
    ------
    InputError
        Where limit and M are both too large for a table.

    Notes
    -----
    Dynamic programming over nodes, or over loads where the limit is smaller: O(items x min(M, limit)).

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
    # fewest[x]: fewest nodes for a load of exactly x. Of items that load more than the limit some can be left out
    # until what is left exceeds it by less than one load, so loads up to twice the limit are enough.
    fewest = np.full(2 * limit + 1, nodes + 1, dtype=np.int64)
    fewest[0] = 0
    for load, width in items:
        _take(fewest, load, width, np.minimum, repeated)
    return int(np.flatnonzero(fewest <= nodes)[-1])


def _take(table: Numbers, step: int, gain: int, better: np.ufunc, repeated: bool) -> None:
    """Let an item be taken: ``table[x]`` becomes the better of itself and ``table[x - step] + gain``.

    Repeated, that is along each residue of step the running best of ``table - gain x position``.
    """
    if step >= len(table):
        return
    if not repeated:
        table[step:] = better(table[step:], table[:-step] + gain)
        return
    count = -(-len(table) // step)
    padded = np.zeros(count * step, dtype=table.dtype)  # what is padded lies behind the table and is cut off again
    padded[: len(table)] = table
    rise = (np.arange(count).astype(table.dtype) * gain)[:, None]
    table[:] = (better.accumulate(padded.reshape(count, step) - rise, axis=0) + rise).reshape(-1)[: len(table)]
