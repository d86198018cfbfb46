"""Decentralised as-soon-as-possible scheduling, step by step: the plain twin of the kernel, to be read.

docs/grid/model.md section 3. Every draw, every tie and every count is that of the page; nothing is done for speed.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hindsched.instances.grid import Instance
from hindsched.online.grid.draws import WORDS_PER_JOB, Draws, words
from hindsched.online.grid.options import Dgs
from hindsched.online.grid.overlays import Cyclon, static_lists
from hindsched.online.grid.runs import Counters, Run

__all__ = ["Booking", "Grid", "Offer", "Schedules", "Search", "simulate_dgs"]

#: A moment after all others: schedules are known exactly.
_ALWAYS = 2**62


@dataclass(frozen=True, slots=True)
class Offer:
    """What a searcher answers: a start, and nodes that it believes to be free from then on for the job."""

    start: int
    drawn: int
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True, order=True)
class Booking:
    """A run on one node, from start to end - 1, confirmed in a slot."""

    start: int
    end: int
    confirmed: int


class Schedules:
    """What every node has promised."""

    def __init__(self, nodes: int) -> None:
        self._of: list[list[Booking]] = [[] for _ in range(nodes)]

    def book(self, node: int, booking: Booking) -> None:
        """Write a run into a node's schedule; what is over by now is no longer of interest."""
        while self._of[node] and self._of[node][0].end <= booking.confirmed:
            self._of[node].pop(0)
        insort(self._of[node], booking)

    def is_free(self, node: int, start: int, end: int, known: int = _ALWAYS) -> bool:
        """Whether a node is free from start to end - 1, by what was confirmed before slot ``known``."""
        return all(
            end <= booking.start or booking.end <= start for booking in self._of[node] if booking.confirmed < known
        )

    def ends(self, node: int, known: int) -> list[int]:
        """Return when its runs end, as far as they were confirmed before slot ``known``."""
        return [booking.end for booking in self._of[node] if booking.confirmed < known]


class Search:
    """One searcher at work on one job: candidates by discovery, each with the slot its schedule is known from."""

    def __init__(self, grid: Grid, job: tuple[int, int, int], drawn: int) -> None:
        self.grid = grid
        self.submit, self.width, self.length = job
        self.drawn = drawn
        self.known: dict[int, int] = {}  # in order of discovery

    def run(self, searcher: int) -> Offer | None:
        """Follow the five steps of the page."""
        count = self.grid.count
        count["searches"] += 1
        count["first"] += len(self.grid.lists[searcher])
        self.discover(searcher)
        if offer := self.at(self.submit):
            return offer
        for neighbour in self.grid.lists[searcher]:
            if offer := self.ask(neighbour):
                return offer
        if self.grid.options.explore == "further":
            asked = len(self.grid.lists[searcher])
            while len(self.known) < self.width and asked < len(self.known):
                if offer := self.ask(list(self.known)[asked]):
                    return offer
                asked += 1
        if len(self.known) < self.width:
            return None
        return self.later()

    def ask(self, node: int) -> Offer | None:
        """Ask a node for what it knows, and test."""
        self.grid.count["queries"] += 1
        self.grid.count["second"] += len(self.grid.lists[node])
        self.discover(node)
        return self.at(self.submit)

    def discover(self, node: int) -> None:
        """Append the neighbours of a node to the candidates."""
        known = self.grid.known_from(node, self.submit)
        for neighbour in self.grid.lists[node]:
            self.known.setdefault(neighbour, known)

    def at(self, start: int) -> Offer | None:
        """Offer a start if enough candidates are free: the first of them."""
        end = start + self.length
        free = [c for c, known in self.known.items() if self.grid.schedules.is_free(c, start, end, known)]
        return Offer(start, self.drawn, tuple(free[: self.width])) if len(free) >= self.width else None

    def later(self) -> Offer:
        """Offer the least later start: whoever becomes free does so where one of its runs ends."""
        ends = {end for c, known in self.known.items() for end in self.grid.schedules.ends(c, known)}
        for start in sorted(ends):
            if start > self.submit and (offer := self.at(start)):
                return offer
        raise AssertionError("after the last run all candidates are free")


class Grid:
    """The overlay, the schedules and the counters as they stand in a slot."""

    def __init__(self, instance: Instance, options: Dgs) -> None:
        self.options = options
        self.nodes = instance.nodes
        self.schedules = Schedules(instance.nodes)
        self.count: Counter[str] = Counter()
        self.slot = -1
        self.cyclon: Cyclon | None = None
        if options.overlay == "cyclon":
            self.cyclon = Cyclon(instance.nodes, options.degree, options.seed, options.swap)
            self.lists = self.cyclon.lists()
        else:
            self.lists = static_lists(instance.nodes, options.degree, options.seed)
        self.in_degrees = Counter(node for row in self.lists for node in row)

    def advance(self, slot: int) -> None:
        """Do what is due in all slots up to this one: rounds of the overlay, then polls."""
        options = self.options
        while self.slot < slot:
            self.slot += 1
            if self.cyclon is not None and self.slot > 0 and self.slot % options.every == 0:
                self.cyclon.shuffle(self.slot // options.every)
                self.lists = self.cyclon.lists()
                self.in_degrees = Counter(node for row in self.lists for node in row)
            if options.poll_phase == "own":
                polling: Sequence[int] = range(self.slot % options.poll_slots, self.nodes, options.poll_slots)
            else:
                polling = range(self.nodes) if self.slot % options.poll_slots == 0 else ()
            self.count["poll"] += sum(len(self.lists[k]) for k in polling)

    def known_from(self, node: int, slot: int) -> int:
        """Return the slot before which what was confirmed is known to a node: that of its last poll."""
        if self.options.messaging != "poll":
            return _ALWAYS
        phase = node % self.options.poll_slots if self.options.poll_phase == "own" else 0
        return slot - (slot - phase) % self.options.poll_slots if slot >= phase else 0

    def confirm(self, offers: list[Offer], job: tuple[int, int, int]) -> Offer | None:
        """Take the first offer whose nodes are really free, and book them."""
        submit, _, length = job
        for offer in sorted(offers, key=lambda offer: (offer.start, offer.drawn)):
            end = offer.start + length
            if all(self.schedules.is_free(node, offer.start, end) for node in offer.nodes):
                for node in offer.nodes:
                    self.schedules.book(node, Booking(offer.start, end, submit))
                    self.count["push"] += self.in_degrees[node]
                self.count["allocated_nodes"] += len(offer.nodes)
                return offer
            self.count["refusals"] += 1
        self.count["failed_stale" if offers else "failed_reach"] += 1
        return None


def simulate_dgs(instance: Instance, options: Dgs) -> Run:
    """Run dgs on an instance.

    Parameters
    ----------
    instance
        The instance; the jobs of a slot are settled in order of the file, each before the next is looked at.
    options
        See `hindsched.online.grid.options.Dgs`.

    Notes
    -----
    A job costs O(fwd x d x (1 + d)) looks at schedules, and a round of Cyclon O(M x d).

    Examples
    --------
    >>> trio = Instance(nodes=3, slot_s=60, submit=[0, 0, 1], width=[2, 1, 2], length=[5, 2, 1])
    >>> run = simulate_dgs(trio, Dgs(degree=2))
    >>> run.starts.tolist(), run.counters.queries
    ([0, 0, 5], 4)
    """
    grid = Grid(instance, options)
    starts: list[int | None] = []
    nodes: list[tuple[int, ...]] = []
    drawn = words(WORDS_PER_JOB * len(instance), "grid", "job", options.seed).reshape(-1, WORDS_PER_JOB)
    for row, job in zip(drawn, instance.rows(), strict=True):
        grid.advance(job[0])
        draws = Draws(row.tolist())
        entry = draws.below(instance.nodes)
        searchers = draws.some(options.fwd, grid.lists[entry])
        offers = [Search(grid, job, i).run(searcher) for i, searcher in enumerate(searchers)]
        found = [offer for offer in offers if offer is not None]
        grid.count["answers"] += len(found)
        taken = grid.confirm(found, job)
        starts.append(None if taken is None else taken.start)
        nodes.append(() if taken is None else taken.nodes)
    count = dict(grid.count)
    count["forwards"] = count.get("searches", 0)
    count["pull"] = count.get("first", 0) + count.get("second", 0)
    return Run.of(options.name, instance, starts, nodes, Counters(**count))
