"""A target greedy for a shared store, not on demand: a heuristic for a schedule that ends by a given instant.

In order of time, every machine that becomes free takes a resting task, or waits until another segment ends. Let e be
the end of the segment on this machine, and r the number of segments left after it. The machine takes the task whose
required speed r / (tau - e) is nearest to its own speed 1/g, so fast machines get late tasks and all tasks end
together. A task is excluded if its r segments cannot follow by tau even alone. Runs after the first add random noise.
"""

from __future__ import annotations

import heapq
from random import Random

from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.levels import latest_ends
from hindsched.offline.bags.matching import Segment

__all__ = ["greedy_by"]

_NOISE = (0.0, 0.1, 0.3, 0.6)  # largest relative increase of a score, run by run


def greedy_by(
    periods: AvailabilityPeriods, tasks: int, segments: int, tau: int, *, tries: int = 1, seed: int = 0
) -> list[list[Segment]] | None:
    """Return the segments of all tasks by tau; None if no run finds them, which proves nothing.

    Parameters
    ----------
    periods
        Of all machines.
    tasks, segments
        n and k.
    tau
        The latest end of the last segment.
    tries
        Number of runs, the first without noise.
    seed
        Seed of the noise.

    Notes
    -----
    O(n k (k + log p)) for a run, since tasks with the same number of segments left are equal.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> both = AvailabilityPeriods.of_states(from_letters(["uuuu", "uduu"]), [5, 6], slot=4)
    >>> greedy_by(both, 2, 2, 16)
    [[(0, 0, 5), (2, 8, 14)], [(0, 5, 10), (0, 10, 15)]]
    """
    rests = latest_ends(periods, segments, tau).tolist()
    table = _Table(periods)
    for attempt in range(tries):
        noise = _NOISE[attempt % len(_NOISE)]
        found = _GreedyRun(table, tasks, segments, tau, rests, noise, Random(seed * 1000 + attempt)).chains()
        if found is not None:
            return found
    return None


class _Table:
    """The availability periods as lists, for a loop over single events."""

    def __init__(self, periods: AvailabilityPeriods) -> None:
        self.ticks: list[int] = periods.ticks[periods.machine].tolist()
        self.first_run: list[int] = periods.first_run.tolist()
        self.start: list[int] = periods.start.tolist()
        self.end: list[int] = periods.end.tolist()


class _GreedyRun:
    """One run of the greedy: resting tasks, busy tasks with their ends, and waiting machines."""

    def __init__(
        self, table: _Table, tasks: int, segments: int, tau: int, rests: list[int], noise: float, random: Random
    ) -> None:
        self.table = table
        self.tau = tau
        self.rests = rests
        self.noise = noise
        self.random = random
        self.chains_of: list[list[Segment]] = [[] for _ in range(tasks)]
        self.resting: list[list[int]] = [
            [] for _ in range(segments)
        ]  # by the number of segments left after the next one
        self.resting[segments - 1] = list(range(tasks - 1, -1, -1))
        self.busy: list[tuple[int, int]] = []  # heap of (end, task)
        self.run = table.first_run[:-1]  # the run of UP slots that each period is in
        self.free = [
            (table.start[i], table.ticks[s], s) for s, i in enumerate(self.run) if table.start[i] < tau
        ]  # heap of (earliest start of a segment, ticks, period): fast machines first
        heapq.heapify(self.free)
        self.waiting: list[int] = []

    def chains(self) -> list[list[Segment]] | None:
        """Run until all tasks are done or no further segment can start."""
        segments, left = len(self.resting), len(self.chains_of)
        while left:
            if self.busy and (not self.free or self.busy[0][0] <= self.free[0][0]):
                self._end_segments(segments)
                continue
            if not self.free:
                return None
            now, _, s = heapq.heappop(self.free)
            run, end = self._end(s, now)
            if end > self.tau:
                continue
            rest = self._choice(s, end)
            if rest is None:
                self.waiting.append(s)
                continue
            task = self.resting[rest].pop()
            self.chains_of[task].append((s, now, end))
            if rest:
                heapq.heappush(self.busy, (end, task))
            else:
                left -= 1
            self.run[s] = run
            self._record_start(s, end)
        return self.chains_of

    def _end_segments(self, segments: int) -> None:
        """End the next segments; waiting machines may start from that instant on."""
        now = self.busy[0][0]
        while self.busy and self.busy[0][0] == now:
            _, task = heapq.heappop(self.busy)
            self.resting[segments - len(self.chains_of[task]) - 1].append(task)
        for s in self.waiting:
            self._record_start(s, now)
        self.waiting.clear()

    def _record_start(self, s: int, now: int) -> None:
        """Record the earliest start of a segment in a period from an instant on."""
        i, last = self.run[s], self.table.first_run[s + 1]
        while i < last and self.table.end[i] <= now:
            i += 1
        self.run[s] = i
        if i < last:
            at = max(now, self.table.start[i])
            if at < self.tau:
                heapq.heappush(self.free, (at, self.table.ticks[s], s))

    def _end(self, s: int, start: int) -> tuple[int, int]:
        """Return the run and the end of a segment that starts now; an end beyond tau if the period ends first."""
        table, i, ticks = self.table, self.run[s], self.table.ticks[s]
        last = table.first_run[s + 1]
        while table.end[i] - start < ticks:
            ticks -= table.end[i] - start
            i += 1
            if i == last:
                return i, self.tau + 1
            start = table.start[i]
        return i, start + ticks

    def _choice(self, s: int, end: int) -> int | None:
        """Return the number of segments that the chosen task has left after this one; None to wait."""
        best, least = None, 0.0
        speed, time = 1.0 / self.table.ticks[s], self.tau - end
        for rest, tasks in enumerate(self.resting):
            if not tasks or end > self.rests[rest]:
                continue
            score = abs((rest / time if rest else 0.0) - speed)
            if self.noise:
                score *= 1.0 + self.noise * self.random.random()
            if best is None or score < least:
                best, least = rest, score
        return best
