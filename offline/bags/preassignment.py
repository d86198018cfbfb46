"""Whole tasks first: most of a large bag stays on its machines, and only the last tasks are searched for.

Where there are many more tasks than machines, each machine can begin with whole tasks, one after the other, as with
private disks. What is left is a smaller bag on what is left of the periods; its plays and the whole tasks together
are a play of the large bag. No position is lost, and far fewer copies change machines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hindsched.offline.bags.availability_periods import AvailabilityPeriods, Ints
from hindsched.offline.bags.closed_forms import whole_by
from hindsched.offline.bags.matching import Segment
from hindsched.offline.bags.schedule_building import chains_in_turn

__all__ = ["Preassignment", "preassign"]

_KEPT = 2  # whole tasks' worth of positions that each machine keeps for the search
_CROWD = 3  # tasks for each machine that is UP, at which it is worth while


@dataclass(frozen=True, slots=True, eq=False)
class Preassignment:
    """A bag by an instant, with some whole tasks taken out.

    Parameters
    ----------
    chains
        The tasks taken out.
    periods
        What is left of the periods.
    original
        Which period each of these was.
    """

    chains: list[list[Segment]]
    periods: AvailabilityPeriods
    original: Ints

    def with_rest(self, rest: list[list[Segment]]) -> list[list[Segment]]:
        """Return the tasks taken out and those of a play of the others."""
        return self.chains + [[(int(self.original[s]), start, end) for s, start, end in chain] for chain in rest]


def preassign(periods: AvailabilityPeriods, tasks: int, segments: int, tau: int) -> Preassignment | None:
    """Take out whole tasks that machines can begin with; None where tasks are too few for it.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> lone = AvailabilityPeriods.of_states(from_letters(["uuduuuuu"]), [4], slot=10)
    >>> preassigned = preassign(lone, tasks=8, segments=2, tau=80)
    >>> len(preassigned.chains), preassigned.chains[-1], preassigned.periods.start.tolist()
    (6, [(1, 50, 54), (1, 54, 58)], [58])
    """
    whole = np.maximum(whole_by(periods, segments, tau) - _KEPT, 0)
    crowd = _CROWD * int(np.count_nonzero(whole))
    if tasks - int(whole.sum()) < 1 or tasks < crowd or not crowd:
        return None
    chains = chains_in_turn(periods, segments, tau, whole)
    used = np.bincount([s for chain in chains for s, _, _ in chain], minlength=periods.machine.size)
    return Preassignment(chains, *_without(periods, used))


def _without(periods: AvailabilityPeriods, used: Ints) -> tuple[AvailabilityPeriods, Ints]:
    """Return the periods without so many first segments of each, and which ones they were."""
    runs = np.diff(periods.first_run)
    owner = np.repeat(np.arange(runs.size), runs)
    work = periods.before[:-1] - periods.before[periods.first_run[:-1]][owner]
    gone = used[owner] * periods.ticks[periods.machine][owner] - work
    start = np.minimum(periods.start + np.maximum(gone, 0), periods.end)
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
