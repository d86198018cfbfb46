"""The scheduler late: dgs with overtaking; jobs wait at their searchers and get a promised start only after a time.

docs/grid/model.md section 3.7. Overlay, draws, reach and promises are those of dgs, so the cost of the no-overtaking
rule can be separated from the cost of decentralisation. This module decides when a node looks at which waiting jobs.
`NodeQueries` answers which nodes are free: here with the plain simulator, in
`hindsched.online.grid.kernels.compiled_run` with kernels.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, Protocol

from hindsched.instances.grid import Instance
from hindsched.online.grid.dgs import Grid, Offer, Reservation, Search
from hindsched.online.grid.draws import WORDS_PER_JOB, Draws, words
from hindsched.online.grid.options import Dgs, Late
from hindsched.online.grid.runs import LateCounters, Run

__all__ = ["LateScheduler", "NodeQueries", "simulate_late"]


class NodeQueries(Protocol):
    """Queries on overlay and schedules."""

    @property
    def lists(self) -> Sequence[Sequence[int]]:
        """Each node's neighbours."""

    def best_offer(self, searchers: Sequence[int], now: int, width: int, length: int) -> Offer | None:
        """Return the best offer that these searchers of dgs would make in a slot."""

    def prepare(self, nodes: list[int]) -> Any:
        """Return nodes in the form that `free_nodes` takes."""

    def free_nodes(self, nodes: Any, now: int, width: int, length: int) -> tuple[int, ...] | None:
        """Return the first ``width`` of these nodes that are free for ``length`` slots; None if there are fewer."""

    def reserve(self, offer: Offer, end: int, now: int) -> None:
        """Reserve the nodes of an offer."""


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
    When a run ends, each job that waits within reach costs a query of the schedules within reach.

    Examples
    --------
    >>> trio = Instance(nodes=3, slot_s=60, submit=[0, 1, 1], width=[3, 3, 1], length=[4, 9, 1])
    >>> simulate_late(trio, Late(degree=2, patience=0)).starts.tolist()
    [0, 4, 13]
    >>> simulate_late(trio, Late(degree=2)).starts.tolist()  # the short job overtakes
    [0, 5, 4]
    """
    return LateScheduler(instance, options, _PlainQueries(instance, options)).run()


class _PlainQueries:
    """Queries on the plain simulator of dgs."""

    def __init__(self, instance: Instance, options: Late) -> None:
        self.grid = Grid(
            instance, Dgs(fwd=options.fwd, degree=options.degree, explore=options.explore, seed=options.seed)
        )
        self.lists = self.grid.lists

    def best_offer(self, searchers: Sequence[int], now: int, width: int, length: int) -> Offer | None:
        found = [Search(self.grid, (now, width, length), i).run(b) for i, b in enumerate(searchers)]
        return min((offer for offer in found if offer), key=lambda offer: (offer.start, offer.drawn), default=None)

    def prepare(self, nodes: list[int]) -> list[int]:
        return nodes

    def free_nodes(self, nodes: list[int], now: int, width: int, length: int) -> tuple[int, ...] | None:
        free = [node for node in nodes if self.grid.schedules.is_free(node, now, now + length)]
        return tuple(free[:width]) if len(free) >= width else None

    def reserve(self, offer: Offer, end: int, now: int) -> None:
        for node in offer.nodes:
            self.grid.schedules.reserve(node, Reservation(offer.start, end, now))


class LateScheduler:
    """A run of late: waiting jobs by node.

    Parameters
    ----------
    instance, options
        The instance and the options of late.
    queries
        Queries on nodes without reservations.
    """

    def __init__(self, instance: Instance, options: Late, queries: NodeQueries) -> None:
        self.instance = instance
        self.options = options
        self.queries = queries
        self.rows = list(instance.rows())
        self.searchers: dict[int, list[int]] = {}  # of each waiting job, in the order drawn
        self.queues: dict[int, list[tuple[tuple[int, ...], int]]] = {}  # of each node with waiting jobs
        self.reach: dict[int, Any] = {}  # of these nodes, in order of discovery
        self.listeners: dict[int, list[int]] = {}  # for each node, the nodes within whose reach it is
        self.offers: dict[int, Offer] = {}
        self.ends: list[tuple[int, int]] = []
        self.timeouts: list[tuple[int, int]] = []  # when the patience of a job ends
        self.count: Counter[str] = Counter()

    def run(self) -> Run:
        """Simulate the slots in which a job ends, arrives or runs out of patience; return the run."""
        drawn = words(WORDS_PER_JOB * len(self.rows), "grid", "job", self.options.seed)
        coming = 0
        while coming < len(self.rows) or self.searchers:
            slots = [first[0] for first in (*self.ends[:1], *self.timeouts[:1], *self.rows[coming : coming + 1])]
            now = min(slots)
            touched = self._end(now)
            while coming < len(self.rows) and self.rows[coming][0] <= now:
                self._submit(coming, Draws(drawn[WORDS_PER_JOB * coming : WORDS_PER_JOB * (coming + 1)].tolist()))
                coming += 1
            for b in sorted(touched):
                self._look(b, now)
            while self.timeouts and self.timeouts[0][0] <= now:
                j = heappop(self.timeouts)[1]
                if j in self.searchers:
                    self._settle(j, self._promise(j, now), now)
        starts = [self.offers[j].start if j in self.offers else None for j in range(len(self.rows))]
        nodes = [self.offers[j].nodes if j in self.offers else () for j in range(len(self.rows))]
        return Run.of(self.options.name, self.instance, starts, nodes, LateCounters(**self.count))

    def _submit(self, j: int, draws: Draws) -> None:
        """Start a job at once, queue it, or let it fail."""
        submit, width, length = self.rows[j]
        searchers = draws.some(self.options.fwd, self.queries.lists[draws.below(self.instance.nodes)])
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
            heappush(self.timeouts, (submit + self.options.patience, j))

    def _listen(self, b: int) -> None:
        """Set up the queue of a node, its reach, and notices from the nodes within it."""
        if b not in self.reach:
            known = dict.fromkeys(self.queries.lists[b])
            for neighbour in self.queries.lists[b]:
                known.update(dict.fromkeys(self.queries.lists[neighbour]))
            self.reach[b] = self.queries.prepare(list(known))
            self.queues[b] = []
            for node in known:
                self.listeners.setdefault(node, []).append(b)

    def _promise(self, j: int, now: int) -> Offer | None:
        """Return the best offer that the searchers of dgs would make in this slot."""
        return self.queries.best_offer(self.searchers[j], now, *self.rows[j][1:])

    def _end(self, now: int) -> set[int]:
        """End runs, and return the nodes whose waiting jobs may now find nodes."""
        touched: set[int] = set()
        while self.ends and self.ends[0][0] <= now:
            touched |= self._notify(self.offers[heappop(self.ends)[1]].nodes)
        return touched

    def _notify(self, nodes: tuple[int, ...]) -> set[int]:
        notified = [b for node in nodes for b in self.listeners.get(node, ()) if self.queues[b]]
        self.count["notices"] += len(notified)
        return set(notified)

    def _look(self, b: int, now: int) -> None:
        """Start the jobs that fit, in one pass through the queue of a node."""
        for _, j in list(self.queues[b]):
            nodes = self.queries.free_nodes(self.reach[b], now, *self.rows[j][1:])
            if nodes is not None:
                self._settle(j, Offer(now, 0, nodes), now)

    def _settle(self, j: int, offer: Offer | None, now: int) -> None:
        """Allocate a waiting job."""
        assert offer is not None  # it had one at submission, and the reach of its searchers has not changed
        for b in self.searchers[j]:
            self.queues[b] = [entry for entry in self.queues[b] if entry[1] != j]
        self.count["withdrawals"] += len(self.searchers.pop(j)) - 1
        self._book(j, offer, now)

    def _book(self, j: int, offer: Offer, now: int) -> None:
        end = offer.start + self.rows[j][2]
        self.queries.reserve(offer, end, now)
        self.count["promises"] += offer.start > now
        self.offers[j] = offer
        heappush(self.ends, (end, j))
        self._notify(offer.nodes)
