"""What every kernel of the grid is compiled with, and the types they share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel

__all__ = ["Book", "below"]


_HALF: Any = np.uint64(32)
_LOW: Any = np.uint64(0xFFFFFFFF)


class Book(NamedTuple):
    """What every node has promised: a chain of runs per node, by start, in entries of common arrays.

    Parameters
    ----------
    head
        (M,) the first entry of each node, -1 if it has none.
    start, end, confirmed, after
        (E,) of each entry: slots start to end - 1, the slot in which it was confirmed, and the next entry of its node
        or -1.
    pool
        The first of the entries that are free again, chained by ``after``, or -1; and how many were ever used.
    """

    head: Ints
    start: Ints
    end: Ints
    confirmed: Ints
    after: Ints
    pool: Ints

    @classmethod
    def of(cls, nodes: int, entries: int) -> Book:
        """Return an empty book for so many nodes, and at most so many runs on nodes."""
        start, end, confirmed, after = (np.empty(entries, dtype=np.int64) for _ in range(4))
        head = np.full(nodes, -1, dtype=np.int64)
        return cls(head, start, end, confirmed, after, np.array([-1, 0], dtype=np.int64))


@kernel
def below(word: Any, n: int) -> int:
    """Return floor(word x n / 2^64) for n < 2^32."""
    many = np.uint64(n)
    high = (word >> _HALF) * many
    low = (word & _LOW) * many
    return int(np.int64((high + (low >> _HALF)) >> _HALF))
