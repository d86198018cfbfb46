"""dgs without the vow never to overtake: jobs wait at their searchers, and are promised a start only after a while.

docs/grid/model.md section 3.7. Overlay, draws, reach and promises are those of dgs, so that what the vow costs can be
told from what decentralisation costs.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from dataclasses import dataclass
from heapq import heappop, heappush

from instances.errors import InputError
from instances.grid import Instance
from online.grid.dgs import Booking, Grid, Offer, Search
from online.grid.draws import WORDS_PER_JOB, Draws, words
from online.grid.options import CHOICES, Dgs
from online.grid.runs import Run

__all__ = ["LateCounters", "LateRun", "simulate_late"]


@dataclass(frozen=True, slots=True)
class LateCounters:
    """What a run cost in messages.

    Parameters
    ----------
    forwards
        Jobs sent to searchers.
    withdrawals
        Searchers told that a job that waits with them has been settled elsewhere.
    notices
        A node that is booked or free again tells every searcher that jobs wait at and that reaches it within two steps
        of the overlay.
    promises
        Jobs that did not start in time and were promised a start.
    failed_reach
        Jobs that no searcher knows enough nodes for.
    """

    forwards: int = 0
    withdrawals: int = 0
    notices: int = 0
    promises: int = 0
    failed_reach: int = 0


@dataclass(frozen=True, slots=True)
class LateRun:
    """A run and its messages."""

    run: Run
    counters: LateCounters


def simulate_late(instance: Instance, options: Dgs, *, patience: int = 60, rule: str = CHOICES["rule"][0]) -> LateRun:
    """Run the scheduler on an instance.

    Parameters
    ----------
    instance
        The instance.
    options
        Of dgs; the overlay must be static, and schedules known exactly (push or pull).
    patience
        Slots that a job waits before it is promised a start as dgs would promise it. 0: dgs itself.
    rule
        ``length``, ``area`` or ``width``, smallest first, or ``file``: in which order a searcher looks through the jobs
        that wait with it.

    Raises
    ------
    InputError
        For options that it does not have.

    Notes
    -----
    Each time something ends, a job that waits where it is heard of costs a look at the schedules within reach.

    Examples
    --------
    >>> trio = Instance(nodes=3, slot_s=60, submit=[0, 1, 1], width=[3, 3, 1], length=[4, 9, 1])
    >>> simulate_late(trio, Dgs(degree=2), patience=0).run.starts.tolist()
    [0, 4, 13]
    >>> simulate_late(trio, Dgs(degree=2)).run.starts.tolist()  # the short one overtakes
    [0, 5, 4]
    """
    if rule not in CHOICES["rule"]:
        raise InputError(f"{rule!r}, expected one of {', '.join(CHOICES['rule'])}", place="rule")
    if patience < 0:
        raise InputError(f"{patience}, expected an integer >= 0", place="patience")
    if options.overlay != "static" or options.messaging == "poll":
        raise InputError("expected a static overlay, and push or pull", place="overlay, messaging")
    return _Waiting(instance, options, patience, rule).run()


class _Waiting:
    """The grid of dgs, and the jobs that wait at searchers."""

    def __init__(self, instance: Instance, options: Dgs, patience: int, rule: str) -> None:
        self.instance = instance
        self.rows = list(instance.rows())
        self.grid = Grid(instance, options)
        self.patience = patience
        self.rule = rule
        self.searchers: dict[int, list[int]] = {}  # of each waiting job, in the order drawn
        self.queues: dict[int, list[tuple[tuple[int, ...], int]]] = {}  # of each node that jobs wait at
        self.reach: dict[int, dict[int, None]] = {}  # in order of discovery
        self.offers: dict[int, Offer] = {}
        self.ends: list[tuple[int, int]] = []
        self.over: list[tuple[int, int]] = []  # when the patience of a job ends
        self.count: Counter[str] = Counter()

    def run(self) -> LateRun:
        """Go through the slots in which something ends or comes, or a patience is over."""
        drawn = words(WORDS_PER_JOB * len(self.rows), "grid", "job", self.grid.options.seed)
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
        return LateRun(Run.of("late", self.instance, starts, nodes), LateCounters(**self.count))

    def _submit(self, j: int, draws: Draws) -> None:
        """Start a job at once, or let it wait, or fail."""
        submit, width, length = self.rows[j]
        searchers = draws.some(self.grid.options.fwd, self.grid.lists[draws.below(self.instance.nodes)])
        self.count["forwards"] += len(searchers)
        self.searchers[j] = searchers
        offer = self._promise(j, submit)
        if offer is None:
            del self.searchers[j]
            self.count["failed_reach"] += 1
        elif offer.start == submit or self.patience == 0:
            del self.searchers[j]
            self._book(j, offer, submit)
        else:
            key = {"length": (length, j), "area": (width * length, j), "width": (width, j), "file": (j,)}[self.rule]
            for b in searchers:
                if b not in self.reach:
                    self.reach[b] = self._known(b)
                insort(self.queues.setdefault(b, []), (key, j))
            heappush(self.over, (submit + self.patience, j))

    def _known(self, b: int) -> dict[int, None]:
        known = dict.fromkeys(self.grid.lists[b])
        for neighbour in self.grid.lists[b]:
            known.update(dict.fromkeys(self.grid.lists[neighbour]))
        return known

    def _promise(self, j: int, now: int) -> Offer | None:
        """Return the best of what the searchers of dgs would offer in this slot."""
        _, width, length = self.rows[j]
        found = [Search(self.grid, (now, width, length), i).run(b) for i, b in enumerate(self.searchers[j])]
        return min((offer for offer in found if offer), key=lambda offer: (offer.start, offer.drawn), default=None)

    def _end(self, now: int) -> set[int]:
        """Let runs end, and return where jobs wait that may now find nodes."""
        touched: set[int] = set()
        while self.ends and self.ends[0][0] <= now:
            touched |= self._notify(self.offers[heappop(self.ends)[1]].nodes)
        return touched

    def _notify(self, nodes: tuple[int, ...]) -> set[int]:
        told = set()
        for b, queue in self.queues.items():
            heard = sum(node in self.reach[b] for node in nodes) if queue else 0
            self.count["notices"] += heard
            if heard:
                told.add(b)
        return told

    def _look(self, b: int, now: int) -> None:
        """Start what fits, in one pass through the jobs that wait at a node."""
        for _, j in list(self.queues[b]):
            _, width, length = self.rows[j]
            free = [node for node in self.reach[b] if self.grid.schedules.is_free(node, now, now + length)]
            if len(free) >= width:
                self._settle(j, Offer(now, 0, tuple(free[:width])), now)

    def _settle(self, j: int, offer: Offer | None, now: int) -> None:
        """End the waiting of a job."""
        assert offer is not None  # it had one when it was submitted, and whom its searchers know has not changed
        for b in self.searchers[j]:
            self.queues[b] = [entry for entry in self.queues[b] if entry[1] != j]
        self.count["withdrawals"] += len(self.searchers.pop(j)) - 1
        self._book(j, offer, now)

    def _book(self, j: int, offer: Offer, now: int) -> None:
        end = offer.start + self.rows[j][2]
        for node in offer.nodes:
            self.grid.schedules.book(node, Booking(offer.start, end, now))
        self.count["promises"] += offer.start > now
        self.offers[j] = offer
        heappush(self.ends, (end, j))
        self._notify(offer.nodes)
