"""Types and functions that all kernels of the grid share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compiling import kernel

__all__ = ["Candidates", "NodeSchedules", "below"]


_HALF: Any = np.uint64(32)
_LOW: Any = np.uint64(0xFFFFFFFF)


class NodeSchedules(NamedTuple):
    """The schedules of all nodes: for each node a linked list of runs by start, in common arrays.

    Parameters
    ----------
    head
        (M,) the first entry of each node, or -1.
    start, end, confirmed, after
        (E,) for each entry: slots start to end - 1, the slot of its confirmation, and the next entry of its node or -1.
    pool
        The first released entry, linked by ``after``, or -1; and the number of entries used so far.
    """

    head: Ints
    start: Ints
    end: Ints
    confirmed: Ints
    after: Ints
    pool: Ints

    @classmethod
    def of(cls, nodes: int, entries: int) -> NodeSchedules:
        """Return empty schedules for ``nodes`` nodes, with room for ``entries`` runs."""
        start, end, confirmed, after = (np.empty(entries, dtype=np.int64) for _ in range(4))
        head = np.full(nodes, -1, dtype=np.int64)
        return cls(head, start, end, confirmed, after, np.array([-1, 0], dtype=np.int64))


class Candidates(NamedTuple):
    """Nodes among which a common start is sought.

    Parameters
    ----------
    nodes, known
        The nodes, and for each the slot before which confirmed runs count.
    free_at, scratch
        Work arrays: the next free slot of each node, and a copy.
    """

    nodes: Int32s
    known: Ints
    free_at: Ints
    scratch: Ints


@kernel
def below(word: Any, n: int) -> int:
    """Return floor(word x n / 2^64) for n < 2^32."""
    many = np.uint64(n)
    high = (word >> _HALF) * many
    low = (word & _LOW) * many
    return int(np.int64((high + (low >> _HALF)) >> _HALF))
