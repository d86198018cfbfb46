"""Decentralised as-soon-as-possible scheduling (docs/grid/model.md section 3), written to be read.

Every draw, tie and count is that of the page. `hindsched.online.grid.kernels.dgs_kernels` is the compiled twin.
`hindsched.online.grid.events` adds failures, cancellations and repeated searches.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hindsched.instances.grid import Instance
from hindsched.online.grid.draws import WORDS_PER_JOB, Draws, words
from hindsched.online.grid.events import FOREVER, EventRun
from hindsched.online.grid.options import Dgs
from hindsched.online.grid.overlays import Cyclon, static_lists
from hindsched.online.grid.runs import Counters, Run

__all__ = ["Grid", "Offer", "Reservation", "Schedules", "Search", "simulate_dgs"]


@dataclass(frozen=True, slots=True)
class Offer:
    """The offer of a searcher: a start, and nodes that are free for the job by its knowledge."""

    start: int
    drawn: int
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True, order=True)
class Reservation:
    """A run on one node, from start to end - 1, with the slot of its confirmation."""

    start: int
    end: int
    confirmed: int


class Schedules:
    """The reservations of all nodes."""

    def __init__(self, nodes: int) -> None:
        self._of: list[list[Reservation]] = [[] for _ in range(nodes)]

    def reserve(self, node: int, reservation: Reservation) -> None:
        """Add a run to a node's schedule, and drop runs that have ended."""
        while self._of[node] and self._of[node][0].end <= reservation.confirmed:
            self._of[node].pop(0)
        insort(self._of[node], reservation)

    def release(self, node: int, start: int) -> None:
        """Remove the run with this start from a node's schedule."""
        self._of[node] = [reservation for reservation in self._of[node] if reservation.start != start]

    def is_free(self, node: int, start: int, end: int, known: int = FOREVER) -> bool:
        """Return whether a node is free from start to end - 1, by runs confirmed before slot ``known``."""
        return all(
            end <= reservation.start or reservation.end <= start
            for reservation in self._of[node]
            if reservation.confirmed < known
        )

    def ends(self, node: int, known: int) -> list[int]:
        """Return the ends of its runs that were confirmed before slot ``known``."""
        return [reservation.end for reservation in self._of[node] if reservation.confirmed < known]


class Search:
    """The search of one searcher for one job: candidates in order of discovery, with the slot of their last update."""

    def __init__(self, grid: Grid, job: tuple[int, int, int], drawn: int) -> None:
        self.grid = grid
        self.submit, self.width, self.length = job
        self.drawn = drawn
        self.known: dict[int, int] = {}  # in order of discovery

    def run(self, searcher: int) -> Offer | None:
        """Return an offer by the five steps of the page; None without offer."""
        count = self.grid.count
        count["searches"] += 1
        count["first"] += len(self.grid.lists[searcher])
        self.discover(searcher)
        if offer := self.at(self.submit):
            return offer
        for neighbour in self.grid.lists[searcher]:
            if offer := self.query(neighbour):
                return offer
        if self.grid.options.explore == "further":
            queried = len(self.grid.lists[searcher])
            while len(self.known) < self.width and queried < len(self.known):
                if offer := self.query(list(self.known)[queried]):
                    return offer
                queried += 1
        return self.later() if len(self.known) >= self.width else None

    def query(self, node: int) -> Offer | None:
        """Query a node for its neighbours' schedules; return an offer at submission, or None."""
        if not self.grid.up[node]:
            return None
        self.grid.count["queries"] += 1
        self.grid.count["second"] += len(self.grid.lists[node])
        self.discover(node)
        return self.at(self.submit)

    def discover(self, node: int) -> None:
        """Add the neighbours of a node to the candidates."""
        known = self.grid.known_from(node, self.submit)
        for neighbour in self.grid.lists[node]:
            self.known.setdefault(neighbour, known)

    def at(self, start: int) -> Offer | None:
        """Return the offer of a start with the first free candidates; None if too few are free."""
        end = start + self.length
        free = [c for c, known in self.known.items() if self.grid.schedules.is_free(c, start, end, known)]
        return Offer(start, self.drawn, tuple(free[: self.width])) if len(free) >= self.width else None

    def later(self) -> Offer | None:
        """Return the offer with the least later start; nodes become free at the ends of their runs."""
        ends = {end for c, known in self.known.items() for end in self.grid.schedules.ends(c, known)}
        for start in sorted(ends - {FOREVER}):
            if start > self.submit and (offer := self.at(start)):
                return offer
        return None  # too few candidates are up


class Grid:
    """Overlay, schedules and counters in a slot."""

    def __init__(self, instance: Instance, options: Dgs) -> None:
        self.options = options
        self.nodes = instance.nodes
        self.schedules = Schedules(instance.nodes)
        self.count: Counter[str] = Counter()
        self.slot = -1
        self.last = int(instance.submit[-1]) if len(instance) else -1
        self.up = np.ones(instance.nodes, dtype=np.bool_)
        self.cyclon: Cyclon | None = None
        if options.overlay == "cyclon":
            self.cyclon = Cyclon(instance.nodes, options.degree, options.seed, options.swap, self.up)
            self._read_lists()
        else:
            self.lists = static_lists(instance.nodes, options.degree, options.seed)
            self.in_degrees = Counter(node for row in self.lists for node in row)

    def _read_lists(self) -> None:
        assert self.cyclon is not None
        self.lists = self.cyclon.lists()
        self.in_degrees = Counter(node for row in self.lists for node in row)

    def advance(self, slot: int) -> None:
        """Simulate overlay rounds and polls of all slots up to this one."""
        options = self.options
        while self.slot < slot:
            self.slot += 1
            if self.cyclon is not None and self.slot > 0 and self.slot % options.every == 0:
                self.cyclon.shuffle(self.slot // options.every)
                self._read_lists()
            if self.slot > self.last:
                continue
            if options.poll_phase == "own":
                polling: Sequence[int] = range(self.slot % options.poll_slots, self.nodes, options.poll_slots)
            else:
                polling = range(self.nodes) if self.slot % options.poll_slots == 0 else ()
            self.count["poll"] += sum(len(self.lists[k]) for k in polling if self.up[k])

    def known_from(self, node: int, slot: int) -> int:
        """Return the slot before which confirmed runs are known from a node's list: that of its last poll, if any."""
        known = slot - self.options.latency + 1 if self.options.latency else FOREVER
        if self.options.messaging != "poll":
            return known
        phase = node % self.options.poll_slots if self.options.poll_phase == "own" else 0
        return min(known, slot - (slot - phase) % self.options.poll_slots if slot >= phase else 0)

    def search(self, searchers: Sequence[int], job: tuple[int, int, int]) -> tuple[int, Offer | None]:
        """Let nodes search for a job; return the number of offers, and the one that is confirmed."""
        offers = [Search(self, job, i).run(searcher) for i, searcher in enumerate(searchers)]
        found = [offer for offer in offers if offer is not None]
        self.count["answers"] += len(found)
        return len(found), self.confirm(found, job)

    def confirm(self, offers: list[Offer], job: tuple[int, int, int]) -> Offer | None:
        """Accept the first offer whose nodes are free, and reserve them."""
        submit, _, length = job
        for offer in sorted(offers, key=lambda offer: (offer.start, offer.drawn)):
            end = offer.start + length
            if all(self.schedules.is_free(node, offer.start, end) for node in offer.nodes):
                for node in offer.nodes:
                    self.schedules.reserve(node, Reservation(offer.start, end, submit))
                    self.count["push"] += self.in_degrees[node]
                self.count["allocated_nodes"] += len(offer.nodes)
                return offer
            self.count["refusals"] += 1
        return None

    # ---- what `hindsched.online.grid.events.EventGrid` asks for

    def neighbours(self, node: int) -> Sequence[int]:
        """Return the list of a node."""
        return self.lists[node]

    def allocate(self, searchers: Sequence[int], job: tuple[int, int, int]) -> tuple[int, int, tuple[int, ...]]:
        """Search for a job; return the number of offers, and start (or -1) and nodes of the one confirmed."""
        found, offer = self.search(searchers, job)
        return (found, -1, ()) if offer is None else (found, offer.start, offer.nodes)

    def release(self, nodes: Sequence[int], start: int, *, without: int = -1) -> None:
        """Remove a run; each of its nodes but ``without`` sends its schedule to those that list it."""
        for node in nodes:
            self.schedules.release(node, start)
            self.count["push"] += self.in_degrees[node] if node != without else 0

    def stop(self, node: int, now: int) -> None:
        """Let a node fail: it has a run without end."""
        self.up[node] = False
        self.schedules.reserve(node, Reservation(now, FOREVER, now))

    def resume(self, node: int, stopped: int, introducer: int | None) -> None:
        """Let a node return; in Cyclon it fetches the introducer's list."""
        self.up[node] = True
        self.schedules.release(node, stopped)
        if self.cyclon is not None:
            self.cyclon.join(node, introducer)
            self._read_lists()
        self.count["push"] += self.in_degrees[node]

    def totals(self) -> dict[str, int]:
        """Return the counters."""
        count = dict(self.count)
        count["forwards"] = count.get("searches", 0)
        count["pull"] = count.get("first", 0) + count.get("second", 0)
        return count


def simulate_dgs(instance: Instance, options: Dgs) -> Run:
    """Run dgs on an instance.

    Parameters
    ----------
    instance
        The instance; jobs of one slot are allocated one after the other, in order of the file.
    options
        See `hindsched.online.grid.options.Dgs`.

    Notes
    -----
    A job costs O(fwd x d x (1 + d)) queries of schedules, and a round of Cyclon O(M x d).

    Examples
    --------
    >>> trio = Instance(nodes=3, slot_s=60, submit=[0, 0, 1], width=[2, 1, 2], length=[5, 2, 1])
    >>> run = simulate_dgs(trio, Dgs(degree=2))
    >>> run.starts.tolist(), run.counters.queries
    ([0, 0, 5], 4)
    """
    grid = Grid(instance, options)
    if options.has_events:
        return EventRun(instance, options, grid).run()
    starts: list[int | None] = []
    nodes: list[tuple[int, ...]] = []
    drawn = words(WORDS_PER_JOB * len(instance), "grid", "job", options.seed).reshape(-1, WORDS_PER_JOB)
    for row, job in zip(drawn, instance.rows(), strict=True):
        grid.advance(job[0])
        draws = Draws(row.tolist())
        entry = draws.below(instance.nodes)
        searchers = draws.some(options.fwd, grid.lists[entry])
        found, taken = grid.search(searchers, job)
        if taken is None:
            grid.count["failed_stale" if found else "failed_reach"] += 1
        starts.append(None if taken is None else taken.start)
        nodes.append(() if taken is None else taken.nodes)
    return Run.of(options.name, instance, starts, nodes, Counters(**grid.totals()))
