"""Events in a run of dgs: node failures, cancellations, and searches again (docs/grid/model.md section 3.8).

`EventRun` decides when nodes fail and jobs search. `EventGrid` holds overlay and schedules: in
`hindsched.online.grid.dgs` written to be read, in `hindsched.online.grid.kernels.compiled_run` as arrays and kernels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Protocol

import numpy as np

from hindsched.instances.array_types import Flags
from hindsched.instances.grid import Instance
from hindsched.instances.grid.generate import unit
from hindsched.instances.grid.schedule import Events, StoppedRun
from hindsched.instances.random_streams import stream
from hindsched.online.grid.draws import WORDS_PER_JOB, Draws, words
from hindsched.online.grid.options import Dgs
from hindsched.online.grid.runs import EventCounters, Run

__all__ = ["FOREVER", "EventGrid", "EventRun"]

#: A slot after all others.
FOREVER = 2**62


class EventGrid(Protocol):
    """Overlay, schedules and counters of a run of dgs.

    Attributes
    ----------
    up
        (M,) whether a node is available.
    """

    up: Flags

    def advance(self, slot: int) -> None:
        """Simulate overlay rounds and polls of all slots up to this one."""

    def neighbours(self, node: int) -> Sequence[int]:
        """Return the nodes that a node lists."""

    def allocate(self, searchers: Sequence[int], job: tuple[int, int, int]) -> tuple[int, int, tuple[int, ...]]:
        """Search for a job (slot, width, length); return the number of offers, and start (or -1) and nodes."""

    def release(self, nodes: Sequence[int], start: int, *, without: int = -1) -> None:
        """Remove a run; its nodes but one report that."""

    def stop(self, node: int, now: int) -> None:
        """Let a node without runs fail."""

    def resume(self, node: int, stopped: int, introducer: int | None) -> None:
        """Let a node return that failed in slot ``stopped``; in Cyclon it fetches a list from the introducer."""

    def totals(self) -> Mapping[str, int]:
        """Return the counters of searches and messages."""


class EventRun:
    """A run of dgs with node failures, cancellations or searches again.

    Parameters
    ----------
    instance, options
        The instance and the options of dgs.
    grid
        Its overlay and schedules, without reservations.
    """

    def __init__(self, instance: Instance, options: Dgs, grid: EventGrid) -> None:
        self.instance = instance
        self.options = options
        self.grid = grid
        self.rows = list(instance.rows())
        self.count: Counter[str] = Counter()
        self.starts: list[int | None] = [None] * len(self.rows)
        self.nodes: list[tuple[int, ...]] = [()] * len(self.rows)
        self.runs_on: list[set[int]] = [set() for _ in range(instance.nodes)]  # these jobs by node
        self.live: set[int] = set()  # jobs with a run that has not ended
        self.ends: list[tuple[int, int]] = []  # of all runs, also of those that stopped before
        self.searching: list[tuple[int, int]] = []  # slot of the next search, and the job
        self.lost: Counter[int] = Counter()  # runs of a job that a node failure stopped
        self.retried: Counter[int] = Counter()
        self.outages: list[tuple[int, int, int]] = []
        self.stopped: list[StoppedRun] = []
        self.cancelled: list[tuple[int, int]] = []
        self.to_cancel = self._draw_cancellations()
        self.changes: list[tuple[int, bool, int]] = []  # slot, whether the node fails, node
        self.down_since = [-1] * instance.nodes
        if options.mtbf:
            self.streams = [stream("grid", "outage", options.seed, k).bit_generator for k in range(instance.nodes)]
            self.introducers: dict[int, Any] = {}
            for k in range(instance.nodes):
                is_down = self._unit(k) < options.mttr / (options.mtbf + options.mttr)
                self.changes.append((0, True, k) if is_down else (self._duration(k, options.mtbf), True, k))
            heapify(self.changes)

    def run(self) -> Run:
        """Simulate the slots in which a node fails or returns, or a job is cancelled or searches; return the run."""
        drawn = words(WORDS_PER_JOB * len(self.rows), "grid", "job", self.options.seed).reshape(-1, WORDS_PER_JOB)
        coming = 0
        while True:
            queues = (self.searching, self.changes, self.to_cancel, self.rows[coming : coming + 1])
            now = min((queue[0][0] for queue in queues if queue), default=FOREVER)
            self._end(now)
            if coming == len(self.rows) and not self.searching and not self.live:
                break
            self.grid.advance(now - 1)
            self._change_nodes(now)
            self._cancel(now)
            self.grid.advance(now)
            while coming < len(self.rows) and self.rows[coming][0] <= now:
                self.searching.append((now, coming))
                coming += 1
            due = sorted(j for slot, j in self.searching if slot <= now)
            self.searching = [entry for entry in self.searching if entry[0] > now]
            for j in due:
                self._search(j, now, Draws(drawn[j].tolist()))
            heapify(self.searching)
        events = Events(tuple(sorted(self.outages)), tuple(sorted(self.cancelled)), tuple(sorted(self.stopped)))
        self.count.update(self.grid.totals())
        return Run.of(self.options.name, self.instance, self.starts, self.nodes, EventCounters(**self.count), events)

    # ---- nodes

    def _unit(self, node: int) -> float:
        return unit(int(self.streams[node].random_raw()))

    def _duration(self, node: int, mean: int) -> int:
        return max(1, math.ceil(-math.log(self._unit(node)) * mean))

    def _change_nodes(self, now: int) -> None:
        """Let nodes return, then let nodes fail."""
        while self.changes and self.changes[0][0] <= now:
            _, fails, node = heappop(self.changes)
            if fails:
                self.count["outages"] += 1
                for j in sorted(self.runs_on[node]):
                    self._lose(j, node, now)
                self.grid.stop(node, now)
                self.down_since[node] = now
                until = now + self._duration(node, self.options.mttr)
                self.outages.append((node, now, until))
            else:
                self.grid.resume(node, self.down_since[node], self._introducer(node))
                until = now + self._duration(node, self.options.mtbf)
            heappush(self.changes, (until, not fails, node))

    def _introducer(self, node: int) -> int | None:
        """Return a random node that is up."""
        others = np.flatnonzero(self.grid.up)
        if node not in self.introducers:
            self.introducers[node] = stream("grid", "join", self.options.seed, node).bit_generator
        word = int(self.introducers[node].random_raw())
        return int(others[word * len(others) >> 64]) if len(others) else None

    # ---- jobs

    def _draw_cancellations(self) -> list[tuple[int, int]]:
        """Return the slots in which jobs are cancelled unless they have ended, with the jobs."""
        if not self.options.cancel_percent:
            return []
        drawn = words(2 * len(self.rows), "grid", "cancel", self.options.seed).tolist()
        return sorted(
            (self.rows[j][0] + max(1, math.ceil(-math.log(unit(drawn[2 * j + 1])) * self.options.cancel_slots)), j)
            for j in range(len(self.rows))
            if drawn[2 * j] * 100 >> 64 < self.options.cancel_percent
        )

    def _end(self, now: int) -> None:
        """Forget the runs that have ended."""
        while self.ends and self.ends[0][0] <= now:
            end, j = heappop(self.ends)
            start = self.starts[j]
            if j in self.live and start is not None and start + self.rows[j][2] == end:
                self.live.remove(j)
                for node in self.nodes[j]:
                    self.runs_on[node].discard(j)

    def _search(self, j: int, now: int, draws: Draws) -> None:
        """Let a job search, and reserve its nodes, search again later, or fail."""
        nodes = self.instance.nodes
        entry = draws.below(nodes)
        entry = next((k for k in ((entry + i) % nodes for i in range(nodes)) if self.grid.up[k]), entry)
        known = [k for k in self.grid.neighbours(entry) if self.grid.up[k]]
        _, width, length = self.rows[j]
        found, start, held = self.grid.allocate(draws.some(self.options.fwd, known), (now, width, length))
        if start >= 0:
            self.starts[j], self.nodes[j] = start, held
            self.live.add(j)
            heappush(self.ends, (start + length, j))
            for node in held:
                self.runs_on[node].add(j)
        elif found and self.retried[j] < self.options.retries:
            self.retried[j] += 1
            self.count["retries"] += 1
            polls = self.options.poll_slots if self.options.messaging == "poll" else 1
            self.searching.append((now + max(1, self.options.latency, polls), j))
        else:
            self.count["failed_stale" if found else "failed_reach"] += 1

    def _lose(self, j: int, node: int, now: int) -> None:
        """Release the run of a job on a node that fails; the job searches again, or fails."""
        if self._release(j, now, without=node):
            self.count["lost_runs"] += 1
            self.count["lost_slots"] += len(self.stopped[-1].nodes) * (now - self.stopped[-1].start)
            self.lost[j] += 1
            if self.lost[j] > self.options.restarts:
                self.count["failed_lost"] += 1
                return
        else:
            self.count["moved"] += 1
        self.searching.append((now, j))

    def _cancel(self, now: int) -> None:
        while self.to_cancel and self.to_cancel[0][0] <= now:
            _, j = heappop(self.to_cancel)
            if j in self.live:
                self._release(j, now)
            elif any(entry[1] == j for entry in self.searching):
                self.searching = [entry for entry in self.searching if entry[1] != j]
            else:
                continue
            self.count["cancelled"] += 1
            self.cancelled.append((j, now))

    def _release(self, j: int, now: int, *, without: int = -1) -> bool:
        """Remove the run of a job from all its nodes; return whether it had started."""
        start, held = self.starts[j], self.nodes[j]
        assert start is not None
        self.starts[j], self.nodes[j] = None, ()
        self.live.remove(j)
        for node in held:
            self.runs_on[node].discard(j)
        self.grid.release(held, start, without=without)
        if start < now:
            self.stopped.append(StoppedRun(j, start, now, tuple(sorted(held))))
        return start < now
