"""dgs without the vow never to overtake: jobs wait at their searchers, and are promised a start only after a while.

docs/grid/model.md section 3.7. Overlay, draws, reach and promises are those of dgs, so the cost of the no-overtaking
rule can be separated from the cost of decentralisation. This module decides when a node looks at which waiting jobs.
`Books` answers which nodes are free: here with the plain simulator, in
`hindsched.online.grid.kernels.compiled_run` with kernels.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, Protocol

from hindsched.instances.grid import Instance
from hindsched.online.grid.dgs import Booking, Grid, Offer, Search
from hindsched.online.grid.draws import WORDS_PER_JOB, Draws, words
from hindsched.online.grid.options import Dgs, Late
from hindsched.online.grid.runs import LateCounters, Run

__all__ = ["Books", "Waiting", "simulate_late"]


class Books(Protocol):
    """Who knows whom, and what every node has promised."""

    @property
    def lists(self) -> Sequence[Sequence[int]]:
        """Each node's neighbours."""

    def best(self, searchers: Sequence[int], now: int, width: int, length: int) -> Offer | None:
        """Return the best of what these searchers of dgs would offer in a slot."""

    def kept(self, nodes: list[int]) -> Any:
        """Return nodes in the form in which `free` is asked about them, again and again."""

    def free(self, nodes: Any, now: int, width: int, length: int) -> tuple[int, ...] | None:
        """Return the first of these nodes, as many as a job is wide, that are free for its length; None if too few."""

    def book(self, offer: Offer, end: int, now: int) -> None:
        """Write an offer into the schedules of its nodes."""


def simulate_late(instance: Instance, options: Late) -> Run:
    """Run late on an instance.

    Parameters
    ----------
    instance
        The instance.
    options
        See `hindsched.online.grid.options.Late`.

    Notes
    -----
    Each time something ends, a job that waits where it is heard of costs a look at the schedules within reach.

    Examples
    --------
    >>> trio = Instance(nodes=3, slot_s=60, submit=[0, 1, 1], width=[3, 3, 1], length=[4, 9, 1])
    >>> simulate_late(trio, Late(degree=2, patience=0)).starts.tolist()
    [0, 4, 13]
    >>> simulate_late(trio, Late(degree=2)).starts.tolist()  # the short one overtakes
    [0, 5, 4]
    """
    return Waiting(instance, options, _PlainBooks(instance, options)).run()


class _PlainBooks:
    """The books of the plain simulator of dgs."""

    def __init__(self, instance: Instance, options: Late) -> None:
        self.grid = Grid(
            instance, Dgs(fwd=options.fwd, degree=options.degree, explore=options.explore, seed=options.seed)
        )
        self.lists = self.grid.lists

    def best(self, searchers: Sequence[int], now: int, width: int, length: int) -> Offer | None:
        found = [Search(self.grid, (now, width, length), i).run(b) for i, b in enumerate(searchers)]
        return min((offer for offer in found if offer), key=lambda offer: (offer.start, offer.drawn), default=None)

    def kept(self, nodes: list[int]) -> list[int]:
        return nodes

    def free(self, nodes: list[int], now: int, width: int, length: int) -> tuple[int, ...] | None:
        free = [node for node in nodes if self.grid.schedules.is_free(node, now, now + length)]
        return tuple(free[:width]) if len(free) >= width else None

    def book(self, offer: Offer, end: int, now: int) -> None:
        for node in offer.nodes:
            self.grid.schedules.book(node, Booking(offer.start, end, now))


class Waiting:
    """The jobs that wait, and where.

    Parameters
    ----------
    instance, options
        What is run.
    books
        Of the nodes; nothing is promised yet.
    """

    def __init__(self, instance: Instance, options: Late, books: Books) -> None:
        self.instance = instance
        self.options = options
        self.books = books
        self.rows = list(instance.rows())
        self.searchers: dict[int, list[int]] = {}  # of each waiting job, in the order drawn
        self.queues: dict[int, list[tuple[tuple[int, ...], int]]] = {}  # of each node that jobs wait at
        self.reach: dict[int, Any] = {}  # of these nodes, in order of discovery
        self.heard_by: dict[int, list[int]] = {}  # of each node: whose reach it is in
        self.offers: dict[int, Offer] = {}
        self.ends: list[tuple[int, int]] = []
        self.over: list[tuple[int, int]] = []  # when the patience of a job ends
        self.count: Counter[str] = Counter()

    def run(self) -> Run:
        """Go through the slots in which something ends or comes, or a patience is over."""
        drawn = words(WORDS_PER_JOB * len(self.rows), "grid", "job", self.options.seed)
        coming = 0
        while coming < len(self.rows) or self.searchers:
            slots = [first[0] for first in (*self.ends[:1], *self.over[:1], *self.rows[coming : coming + 1])]
            now = min(slots)
            touched = self._end(now)
            while coming < len(self.rows) and self.rows[coming][0] <= now:
                self._submit(coming, Draws(drawn[WORDS_PER_JOB * coming : WORDS_PER_JOB * (coming + 1)].tolist()))
                coming += 1
            for b in sorted(touched):
                self._look(b, now)
            while self.over and self.over[0][0] <= now:
                j = heappop(self.over)[1]
                if j in self.searchers:
                    self._settle(j, self._promise(j, now), now)
        starts = [self.offers[j].start if j in self.offers else None for j in range(len(self.rows))]
        nodes = [self.offers[j].nodes if j in self.offers else () for j in range(len(self.rows))]
        return Run.of(self.options.name, self.instance, starts, nodes, LateCounters(**self.count))

    def _submit(self, j: int, draws: Draws) -> None:
        """Start a job at once, or let it wait, or fail."""
        submit, width, length = self.rows[j]
        searchers = draws.some(self.options.fwd, self.books.lists[draws.below(self.instance.nodes)])
        self.count["forwards"] += len(searchers)
        self.searchers[j] = searchers
        offer = self._promise(j, submit)
        if offer is None:
            del self.searchers[j]
            self.count["failed_reach"] += 1
        elif offer.start == submit or self.options.patience == 0:
            del self.searchers[j]
            self._book(j, offer, submit)
        else:
            keys = {"length": (length, j), "area": (width * length, j), "width": (width, j), "file": (j,)}
            for b in searchers:
                self._listen(b)
                insort(self.queues[b], (keys[self.options.rule], j))
            heappush(self.over, (submit + self.options.patience, j))

    def _listen(self, b: int) -> None:
        """Let a node know its reach, and be told of what happens there."""
        if b not in self.reach:
            known = dict.fromkeys(self.books.lists[b])
            for neighbour in self.books.lists[b]:
                known.update(dict.fromkeys(self.books.lists[neighbour]))
            self.reach[b] = self.books.kept(list(known))
            self.queues[b] = []
            for node in known:
                self.heard_by.setdefault(node, []).append(b)

    def _promise(self, j: int, now: int) -> Offer | None:
        """Return the best of what the searchers of dgs would offer in this slot."""
        return self.books.best(self.searchers[j], now, *self.rows[j][1:])

    def _end(self, now: int) -> set[int]:
        """Let runs end, and return where jobs wait that may now find nodes."""
        touched: set[int] = set()
        while self.ends and self.ends[0][0] <= now:
            touched |= self._notify(self.offers[heappop(self.ends)[1]].nodes)
        return touched

    def _notify(self, nodes: tuple[int, ...]) -> set[int]:
        told = [b for node in nodes for b in self.heard_by.get(node, ()) if self.queues[b]]
        self.count["notices"] += len(told)
        return set(told)

    def _look(self, b: int, now: int) -> None:
        """Start what fits, in one pass through the jobs that wait at a node."""
        for _, j in list(self.queues[b]):
            nodes = self.books.free(self.reach[b], now, *self.rows[j][1:])
            if nodes is not None:
                self._settle(j, Offer(now, 0, nodes), now)

    def _settle(self, j: int, offer: Offer | None, now: int) -> None:
        """End the waiting of a job."""
        assert offer is not None  # it had one when it was submitted, and whom its searchers know has not changed
        for b in self.searchers[j]:
            self.queues[b] = [entry for entry in self.queues[b] if entry[1] != j]
        self.count["withdrawals"] += len(self.searchers.pop(j)) - 1
        self._book(j, offer, now)

    def _book(self, j: int, offer: Offer, now: int) -> None:
        end = offer.start + self.rows[j][2]
        self.books.book(offer, end, now)
        self.count["promises"] += offer.start > now
        self.offers[j] = offer
        heappush(self.ends, (end, j))
        self._notify(offer.nodes)
