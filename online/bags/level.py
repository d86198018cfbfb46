"""Two schedulers that make use of shared checkpoints (docs/bags/model.md section 8).

Both take a copy back at every end of a segment, where nothing is lost, and choose anew. So tasks stay level, or each
as far as it ought to be, instead of one after the other; and a machine that fails costs at most a segment.
"""

from __future__ import annotations

from hindsched.online.bags.checkpoints import PARTS, ticks_of_first
from hindsched.online.bags.options import MAX_COPIES
from hindsched.online.bags.visible import Visible

__all__ = ["Level", "Pace"]


class Level:
    """LEVEL: the task that waits with the least saved; tasks stay level.

    A machine for which nothing waits replicates: best a task whose next segment it ends before each copy of it does.

    Parameters
    ----------
    max_copies
        Live copies from which on only a machine that is ahead of all of them replicates a task.
    """

    name = "LEVEL"
    is_migrating = True

    def __init__(self, max_copies: int = MAX_COPIES) -> None:
        self.max_copies = max_copies

    def choose(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return a task that waits, else one to replicate; None where that is of no use."""
        if visible.waiting:
            return self.waiting(machine, instant, visible)
        return self.replicated(machine, instant, visible)

    def waiting(self, machine: int, instant: int, visible: Visible) -> int:
        """Return the task with the least saved, ties by index."""
        return min(visible.waiting, key=lambda task: (visible.saved(task), task))

    def replicated(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return the task with the least saved of those where this machine is ahead, ties by how far.

        Where it is ahead nowhere: the task with the fewest copies, ties by least saved, latest end of the segment.
        """
        ticks = visible.problem.ticks
        ranks = []
        for task in visible.unfinished:
            copies, saved = visible.copies(task), visible.saved(task)
            end = min(copy.since + ticks_of_first(copy.origin, ticks[copy.machine]) for copy in copies)
            ahead = end - (instant + ticks_of_first(saved, ticks[machine]))
            if ahead > 0:
                ranks.append((0, saved, -ahead, 0, task))
            elif len(copies) < self.max_copies:
                ranks.append((1, len(copies), saved, -end, task))
        return min(ranks)[-1] if ranks else None


class Pace(Level):
    """PACE: LEVEL that gives a machine the task whose pace it has: long rests to fast machines, short ones to slow.

    By tau all could be done if the fastest machines that are UP, one for each unfinished task, worked without rest
    from what is saved; it is at least when the longest rest would be done on the fastest. Of the tasks whose rest
    after the next segment the fastest machine could still do by tau, a machine takes the one whose rest would keep
    itself busy most nearly until then. If there is none it takes one with the shortest rest.
    """

    name = "PACE"

    def waiting(self, machine: int, instant: int, visible: Visible) -> int:
        """Return the task whose pace this machine has, ties by index."""
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
            time_left = tau - (instant + ticks_of_first(visible.saved(task), ticks[machine]))
            if rest * speeds[0] <= time_left:
                ranks.append((0, abs(rest * ticks[machine] - time_left), task))
            else:
                ranks.append((1, rest, task))
        return min(ranks)[-1]
