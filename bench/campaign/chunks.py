"""Groups of items, handed out in chunks of about the same duration."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Generic, TypeVar

__all__ = ["Chunks"]

T = TypeVar("T")

#: Seconds that a chunk of several groups should take: long against a round trip, short against a campaign.
_CHUNK_S = 0.25


class Chunks(Generic[T]):
    """Items that wait for workers, in order: a chunk is a group, or several short groups.

    Parameters
    ----------
    items
        The items.
    group_of
        Consecutive items of one group share data that is costly to load. By default each item is a group.
    """

    def __init__(self, items: Iterable[T], group_of: Callable[[T], object] = id) -> None:
        self._group_of = group_of
        self._groups: deque[list[T]] = deque()
        self._most_items = 1
        self.put_back(items)

    def __bool__(self) -> bool:
        return bool(self._groups)

    def take(self) -> list[T]:
        """Remove the next chunk and return it."""
        chunk = self._groups.popleft()
        while self._groups and len(chunk) + len(self._groups[0]) <= self._most_items:
            chunk += self._groups.popleft()
        return chunk

    def put_back(self, items: Iterable[T], *, num_idle: int = 1) -> None:
        """Let items be next; if nothing else waits, a single group is cut for several idle workers."""
        groups = [list(group) for _, group in groupby(items, self._group_of)]
        if num_idle > 1 and len(groups) == 1 and not self._groups:
            size = -(-len(groups[0]) // num_idle)
            groups = [groups[0][first : first + size] for first in range(0, len(groups[0]), size)]
        self._groups.extendleft(reversed(groups))

    def finished(self, num_items: int, seconds: float) -> None:
        """Take in how long a chunk took; the next one is at most twice as large."""
        self._most_items = int(num_items * min(2.0, _CHUNK_S / max(seconds, 1e-9)))
