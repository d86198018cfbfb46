"""Largest bicliques by number of nodes, with sides of any size, by a matching in the bipartite complement."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["most_nodes"]


def most_nodes(matrix: npt.NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """Return a biclique with the largest number of nodes, as rows and columns; one side may be empty.

    Bicliques are the independent sets of the bipartite complement. By Koenig's theorem a maximum matching gives a
    largest one: the rows that alternating paths from unmatched rows reach, and the columns that they do not reach.

    Parameters
    ----------
    matrix
        Biadjacency matrix, shape (|V|, |W|).

    Notes
    -----
    Matching by augmenting paths: O(|V| |W|) operations on sets of columns, which are bits of integers.

    Examples
    --------
    >>> most_nodes(np.array([[1, 1, 1], [1, 1, 0], [0, 1, 0]], dtype=bool))
    ([0], [0, 1, 2])
    """
    num_v, num_w = matrix.shape
    missing = [int.from_bytes(np.packbits(~row, bitorder="little").tobytes(), "little") for row in matrix]
    missing = [bits & ((1 << num_w) - 1) for bits in missing]
    owner, partner = [-1] * num_w, [-1] * num_v  # the matching
    free = (1 << num_w) - 1
    unmatched = []
    for row in range(num_v):
        reached, parents = _reach(missing, owner, free, row)
        end = reached & free
        if not end:
            unmatched.append(row)
            continue
        column = (end & -end).bit_length() - 1
        free ^= end & -end
        while column >= 0:  # exchange along the path
            giver = parents[column]
            owner[column] = giver
            partner[giver], column = column, partner[giver]
    rows: set[int] = set()
    columns = 0
    for row in unmatched:
        reached, _ = _reach(missing, owner, 0, row)
        columns |= reached
        rows |= {row, *(owner[j] for j in _bits(reached))}
    return sorted(rows), [j for j in range(num_w) if not columns >> j & 1]


def _reach(missing: list[int], owner: list[int], free: int, start: int) -> tuple[int, dict[int, int]]:
    """Return the columns on alternating paths from a row, up to the first free one, and the row before each of them."""
    reached, parents = 0, {}
    todo = [start]
    while todo:
        row = todo.pop()
        new = missing[row] & ~reached
        if new & free:
            new &= free
            new &= -new
            todo.clear()
        reached |= new
        for column in _bits(new):
            parents[column] = row
            if not free >> column & 1:
                todo.append(owner[column])
    return reached, parents


def _bits(bits: int) -> list[int]:
    found = []
    while bits:
        found.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return found
