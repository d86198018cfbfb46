"""Preassignment of whole tasks to machines, which makes a large bag small.

Where there are many more tasks than machines, each machine can begin with whole tasks, one after the other, as with
private stores. The other tasks are a smaller bag on the rest of the availability periods. A schedule of that bag and
the preassigned tasks together are a schedule of the large bag. No position is lost, and fewer copies change machines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hindsched.offline.bags.availability_periods import AvailabilityPeriods, Ints
from hindsched.offline.bags.closed_forms import whole_by
from hindsched.offline.bags.matching import Segment
from hindsched.offline.bags.schedule_building import chains_in_turn

__all__ = ["Preassignment", "preassign"]

_KEPT_TASKS = 2  # tasks that each machine could run but that stay with the search
_LEAST_TASKS = 3  # tasks for each machine that runs some, below which nothing is preassigned


@dataclass(frozen=True, slots=True, eq=False)
class Preassignment:
    """Whole tasks that are assigned, and the remaining time of the machines.

    Parameters
    ----------
    chains
        The segments of the preassigned tasks.
    periods
        The rest of the availability periods.
    original
        The original index of each of these periods.
    """

    chains: list[list[Segment]]
    periods: AvailabilityPeriods
    original: Ints

    def with_rest(self, rest: list[list[Segment]]) -> list[list[Segment]]:
        """Return the preassigned tasks followed by the others."""
        return self.chains + [[(int(self.original[s]), start, end) for s, start, end in chain] for chain in rest]


def preassign(periods: AvailabilityPeriods, tasks: int, segments: int, tau: int) -> Preassignment | None:
    """Assign whole tasks that machines can begin with; None where there are too few tasks.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> lone = AvailabilityPeriods.of_states(from_letters(["uuduuuuu"]), [4], slot=10)
    >>> preassigned = preassign(lone, tasks=8, segments=2, tau=80)
    >>> len(preassigned.chains), preassigned.chains[-1], preassigned.periods.start.tolist()
    (6, [(1, 50, 54), (1, 54, 58)], [58])
    """
    whole = np.maximum(whole_by(periods, segments, tau) - _KEPT_TASKS, 0)
    least = _LEAST_TASKS * int(np.count_nonzero(whole))
    if tasks - int(whole.sum()) < 1 or tasks < least or not least:
        return None
    chains = chains_in_turn(periods, segments, tau, whole)
    used = np.bincount([s for chain in chains for s, _, _ in chain], minlength=periods.machine.size)
    return Preassignment(chains, *_without(periods, used))


def _without(periods: AvailabilityPeriods, used: Ints) -> tuple[AvailabilityPeriods, Ints]:
    """Return the periods without the first ``used`` segments of each, and their original indices."""
    runs = np.diff(periods.first_run)
    owner = np.repeat(np.arange(runs.size), runs)
    work = periods.before[:-1] - periods.before[periods.first_run[:-1]][owner]
    taken = used[owner] * periods.ticks[periods.machine][owner] - work
    start = np.minimum(periods.start + np.maximum(taken, 0), periods.end)
    stays = start < periods.end
    original, counts = np.unique(owner[stays], return_counts=True)
    length = (periods.end - start)[stays]
    left = AvailabilityPeriods(
        ticks=periods.ticks,
        horizon=periods.horizon,
        machine=periods.machine[original],
        first_run=np.concatenate([[0], np.cumsum(counts)]),
        start=start[stays],
        end=periods.end[stays],
        before=np.concatenate([[0], np.cumsum(length)]),
    )
    return left, original
