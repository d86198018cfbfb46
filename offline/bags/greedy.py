"""A target greedy for shared disks, not on demand: a play by a given instant, if it happens to find one.

In order of time, every machine that becomes free takes up a resting task, or waits until another segment ends. Which
task: with r segments left after this one, which would end at e, the one for which r / (tau - e), the speed that it
needs from then on, is nearest to the machine's own speed 1/g; so the fast machines get what is late, and all tasks end
together. A task is left out if its r segments cannot follow by tau, even alone. Random variants come after the plain
one.
"""

from __future__ import annotations

import heapq
from random import Random

from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.levels import latest_ends
from hindsched.offline.bags.matching import Segment

__all__ = ["greedy_by"]

_NOISE = (0.0, 0.1, 0.3, 0.6)  # by which a score can grow, try by try


def greedy_by(
    periods: AvailabilityPeriods, tasks: int, segments: int, tau: int, *, tries: int = 1, seed: int = 0
) -> list[list[Segment]] | None:
    """Return chains of all tasks that end by tau, None if no try finds them, which proves nothing.

    Parameters
    ----------
    periods
        Of all machines.
    tasks, segments
        n and k.
    tau
        When the last segment may end.
    tries
        Plain, then random.
    seed
        Of the random variants.

    Notes
    -----
    O(n k (k + log p)) for a try, tasks with as many segments left being alike.

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
        found = _Run(table, tasks, segments, tau, rests, noise, Random(seed * 1000 + attempt)).chains()
        if found is not None:
            return found
    return None


class _Table:
    """The periods as plain lists: this is a loop over single events."""

    def __init__(self, periods: AvailabilityPeriods) -> None:
        self.ticks: list[int] = periods.ticks[periods.machine].tolist()
        self.first_run: list[int] = periods.first_run.tolist()
        self.start: list[int] = periods.start.tolist()
        self.end: list[int] = periods.end.tolist()


class _Run:
    """One try: what rests, what is busy and until when, which machines wait."""

    def __init__(
        self, table: _Table, tasks: int, segments: int, tau: int, rests: list[int], noise: float, random: Random
    ) -> None:
        self.table = table
        self.tau = tau
        self.rests = rests
        self.noise = noise
        self.random = random
        self.chains_of: list[list[Segment]] = [[] for _ in range(tasks)]
        self.resting: list[list[int]] = [[] for _ in range(segments)]  # by segments left after the next one
        self.resting[segments - 1] = list(range(tasks - 1, -1, -1))
        self.busy: list[tuple[int, int]] = []  # heap of (end, task)
        self.run = table.first_run[:-1]  # the run of UP slots that each period is in
        self.free = [
            (table.start[i], table.ticks[s], s) for s, i in enumerate(self.run) if table.start[i] < tau
        ]  # heap: when a period can start a segment; the fast ones first
        heapq.heapify(self.free)
        self.waiting: list[int] = []

    def chains(self) -> list[list[Segment]] | None:
        """Run until all tasks are done, or nothing can start any more."""
        segments, left = len(self.resting), len(self.chains_of)
        while left:
            if self.busy and (not self.free or self.busy[0][0] <= self.free[0][0]):
                self._rest(segments)
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
            self._free(s, end)
        return self.chains_of

    def _rest(self, segments: int) -> None:
        """Let the next segments end; machines that wait may start from then on."""
        now = self.busy[0][0]
        while self.busy and self.busy[0][0] == now:
            _, task = heapq.heappop(self.busy)
            self.resting[segments - len(self.chains_of[task]) - 1].append(task)
        for s in self.waiting:
            self._free(s, now)
        self.waiting.clear()

    def _free(self, s: int, now: int) -> None:
        """Note when a period can start a segment, from an instant on."""
        i, last = self.run[s], self.table.first_run[s + 1]
        while i < last and self.table.end[i] <= now:
            i += 1
        self.run[s] = i
        if i < last:
            at = max(now, self.table.start[i])
            if at < self.tau:
                heapq.heappush(self.free, (at, self.table.ticks[s], s))

    def _end(self, s: int, start: int) -> tuple[int, int]:
        """Return when a segment that starts now ends, and in which run; beyond tau if the period is over before."""
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
        """Return how many segments the chosen task has left after this one; None to wait."""
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
