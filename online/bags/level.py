"""LEVEL and PACE, two schedulers that use shared checkpoints (docs/bags/model.md section 8).

Both withdraw a copy at every end of a segment, where nothing is lost, and choose again. So all tasks progress together
instead of one after the other, and the failure of a machine costs at most one segment.
"""

from __future__ import annotations

from hindsched.online.bags.checkpoints import PARTS, ticks_of_first
from hindsched.online.bags.options import MAX_COPIES
from hindsched.online.bags.visible import Visible

__all__ = ["Level", "Pace"]


class Level:
    """LEVEL: the waiting task with the least saved state.

    If no task waits, the machine replicates a task, preferably one whose next segment it ends before all its copies.

    Parameters
    ----------
    max_copies
        Number of live copies from which on only a machine that is ahead of all of them replicates a task.
    """

    name = "LEVEL"
    is_migrating = True

    def __init__(self, max_copies: int = MAX_COPIES) -> None:
        self.max_copies = max_copies

    def choose(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return a waiting task, otherwise one to replicate; None if neither exists."""
        if visible.waiting:
            return self.waiting(machine, instant, visible)
        return self.replicated(machine, instant, visible)

    def waiting(self, machine: int, instant: int, visible: Visible) -> int:
        """Return the waiting task with the least saved state, ties by index."""
        return min(visible.waiting, key=lambda task: (visible.saved(task), task))

    def replicated(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return the task with the least saved state of those where this machine is ahead, ties by the largest lead.

        If it is ahead of no copy, return the task with the fewest copies, ties by least saved state, then by latest end
        of the segment.
        """
        ticks = visible.problem.ticks
        ranks = []
        for task in visible.unfinished:
            copies, saved = visible.copies(task), visible.saved(task)
            end = min(copy.since + copy.fetch + ticks_of_first(copy.origin, ticks[copy.machine]) for copy in copies)
            ahead = end - (instant + visible.fetch(task) + ticks_of_first(saved, ticks[machine]))
            if ahead > 0:
                ranks.append((0, saved, -ahead, 0, task))
            elif len(copies) < self.max_copies:
                ranks.append((1, len(copies), saved, -end, task))
        return min(ranks)[-1] if ranks else None


class Pace(Level):
    """PACE: a variant of LEVEL that matches tasks to speeds: long rests to fast machines, short ones to slow machines.

    tau is a target: the instant at which the fastest UP machines, one for each unfinished task, could finish all
    segments that are not saved, and at least the instant at which the fastest could finish the longest rest. Consider
    the tasks whose rest after the next segment the fastest machine can still finish by tau. A machine takes the one
    whose rest on itself ends closest to tau. If there is none, it takes a task with the shortest rest.
    """

    name = "PACE"

    def waiting(self, machine: int, instant: int, visible: Visible) -> int:
        """Return the task whose rest on this machine ends closest to tau, ties by index."""
        segments, ticks = visible.problem.segments, visible.problem.ticks
        rests = {task: segments - visible.saved(task) // PARTS for task in visible.unfinished}
        speeds = sorted(ticks[q] for q in visible.up)
        rate = 0.0
        for fast in speeds[: len(rests)]:
            rate += 1 / fast
        tau = instant + max(int(sum(rests.values()) / rate), max(rests.values()) * speeds[0])
        ranks = []
        for task in visible.waiting:
            rest = rests[task] - 1
            first = visible.fetch(task) + ticks_of_first(visible.saved(task), ticks[machine])
            time_left = tau - (instant + first)
            if rest * speeds[0] <= time_left:
                ranks.append((0, abs(rest * ticks[machine] - time_left), task))
            else:
                ranks.append((1, rest, task))
        return min(ranks)[-1]
