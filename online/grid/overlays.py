"""Overlays: static lists of neighbours, and Cyclon, which shuffles them (docs/grid/model.md section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hindsched.instances.array_types import Flags
from hindsched.online.grid.draws import Draws, words

__all__ = ["Cyclon", "Entry", "static_lists"]


def static_lists(nodes: int, degree: int, seed: int) -> list[list[int]]:
    """Return each node's list of ``degree`` neighbours, or of all others if there are fewer.

    Examples
    --------
    >>> static_lists(4, 2, seed=0)
    [[3, 1], [3, 0], [1, 3], [1, 0]]
    """
    d = min(degree, nodes - 1)
    lists = []
    for k in range(nodes):
        draws = Draws(words(d, "grid", "overlay", seed, k).tolist())
        lists.append(draws.some(d, [*range(k), *range(k + 1, nodes)]))
    return lists


@dataclass(slots=True)
class Entry:
    """An entry of a cache: a neighbour, and its age in shuffles of the owner."""

    node: int
    age: int


class Cyclon:
    """Caches of neighbours that nodes shuffle pairwise, round by round.

    Parameters
    ----------
    nodes, degree, seed
        The lists begin as the static ones, all ages 0, with as many places in every cache.
    swap
        How many entries a message carries.
    up
        (M,) whether a node is available now, a view; None: all are, always.

    Attributes
    ----------
    caches
        Each node's places; None is an empty place.

    References
    ----------
    S. Voulgaris, D. Gavidia, M. van Steen, "CYCLON: Inexpensive Membership Management for Unstructured P2P
    Overlays", Journal of Network and Systems Management 13 (2005) 197-217.
    """

    def __init__(self, nodes: int, degree: int, seed: int, swap: int, up: Flags | None = None) -> None:
        self.up = up
        self.swap = swap
        self.seed = seed
        self.caches: list[list[Entry | None]] = [
            [Entry(node, 0) for node in row] for row in static_lists(nodes, degree, seed)
        ]

    def lists(self) -> list[list[int]]:
        """Return each node's list of neighbours: its filled places in order."""
        return [[entry.node for entry in cache if entry is not None] for cache in self.caches]

    def shuffle(self, number: int) -> None:
        """Simulate one round; rounds count from 1, and each has its own random words."""
        draws = Draws(words(len(self.caches) * (2 * self.swap - 1), "grid", "shuffle", self.seed, number).tolist())
        for p in range(len(self.caches)):
            self._act(p, draws)

    def join(self, k: int, introducer: int | None) -> None:
        """Replace the cache of a node by the introducer and copies of its entries; without one it is emptied."""
        self.caches[k] = [None] * len(self.caches[k])
        if introducer is not None:
            cache = self.caches[introducer]
            self._merge(k, [Entry(introducer, 0), *_copies(cache, _filled(cache))], ())

    def _act(self, p: int, draws: Draws) -> None:
        """Let node p exchange entries with its oldest neighbour, or drop that entry if the neighbour is down."""
        cache = self.caches[p]
        mine = _filled(cache)
        if not mine or not self._is_up(p):
            return
        for place in mine:
            _at(cache, place).age += 1
        oldest = max(mine, key=lambda place: _at(cache, place).age)  # the first of several
        q = _at(cache, oldest).node
        if not self._is_up(q):
            cache[oldest] = None
            return
        sent = draws.some(self.swap - 1, [place for place in mine if place != oldest])
        message = [Entry(p, 0), *_copies(cache, sent)]
        given = draws.some(self.swap, _filled(self.caches[q]))
        reply = _copies(self.caches[q], given)
        cache[oldest] = None
        self._merge(p, reply, sent)
        self._merge(q, message, given)

    def _is_up(self, k: int) -> bool:
        return self.up is None or bool(self.up[k])

    def _merge(self, k: int, entries: Sequence[Entry], places: Sequence[int]) -> None:
        """Add entries: in empty places first, then in those of entries that were sent; drop the rest."""
        cache = self.caches[k]
        over = iter(places)
        for entry in entries:
            known = {held.node for held in cache if held is not None}
            if entry.node == k or entry.node in known:
                continue
            place = cache.index(None) if None in cache else next(over, None)
            if place is not None:
                cache[place] = entry


def _filled(cache: Sequence[Entry | None]) -> list[int]:
    return [place for place, entry in enumerate(cache) if entry is not None]


def _at(cache: Sequence[Entry | None], place: int) -> Entry:
    entry = cache[place]
    assert entry is not None
    return entry


def _copies(cache: Sequence[Entry | None], places: Sequence[int]) -> list[Entry]:
    return [Entry(_at(cache, place).node, _at(cache, place).age) for place in places]
