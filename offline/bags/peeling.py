"""Whole tasks first: most of a large bag stays on its machines, and only the last tasks are searched for.

Where there are many more tasks than machines, each machine can begin with whole tasks, one after the other, as with
private disks. What is left is a smaller bag on what is left of the stretches; its plays and the whole tasks together
are a play of the large bag. No position is lost, and far fewer copies change machines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hindsched.offline.bags.closed import whole_by
from hindsched.offline.bags.matching import Segment
from hindsched.offline.bags.plays import chains_in_turn
from hindsched.offline.bags.stretches import Ints, Stretches

__all__ = ["Peeled", "peel"]

_KEPT = 2  # whole tasks' worth of positions that each machine keeps for the search
_CROWD = 3  # tasks for each machine that is UP, at which it is worth while


@dataclass(frozen=True, slots=True, eq=False)
class Peeled:
    """A bag by an instant, with some whole tasks taken out.

    Parameters
    ----------
    chains
        The tasks taken out.
    stretches
        What is left of the stretches.
    original
        Which stretch each of these was.
    """

    chains: list[list[Segment]]
    stretches: Stretches
    original: Ints

    def with_rest(self, rest: list[list[Segment]]) -> list[list[Segment]]:
        """Return the tasks taken out and those of a play of the others."""
        return self.chains + [[(int(self.original[s]), start, end) for s, start, end in chain] for chain in rest]


def peel(stretches: Stretches, tasks: int, segments: int, tau: int) -> Peeled | None:
    """Take out whole tasks that machines can begin with; None where tasks are too few for it.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> lone = Stretches.of_states(from_letters(["uuduuuuu"]), [4], slot=10)
    >>> peeled = peel(lone, tasks=8, segments=2, tau=80)
    >>> len(peeled.chains), peeled.chains[-1], peeled.stretches.start.tolist()
    (6, [(1, 50, 54), (1, 54, 58)], [58])
    """
    whole = np.maximum(whole_by(stretches, segments, tau) - _KEPT, 0)
    crowd = _CROWD * int(np.count_nonzero(whole))
    if tasks - int(whole.sum()) < 1 or tasks < crowd or not crowd:
        return None
    chains = chains_in_turn(stretches, segments, tau, whole)
    used = np.bincount([s for chain in chains for s, _, _ in chain], minlength=stretches.machine.size)
    return Peeled(chains, *_without(stretches, used))


def _without(stretches: Stretches, used: Ints) -> tuple[Stretches, Ints]:
    """Return the stretches without so many first segments of each, and which ones they were."""
    runs = np.diff(stretches.first_run)
    owner = np.repeat(np.arange(runs.size), runs)
    work = stretches.before[:-1] - stretches.before[stretches.first_run[:-1]][owner]
    gone = used[owner] * stretches.ticks[stretches.machine][owner] - work
    start = np.minimum(stretches.start + np.maximum(gone, 0), stretches.end)
    stays = start < stretches.end
    original, counts = np.unique(owner[stays], return_counts=True)
    length = (stretches.end - start)[stays]
    left = Stretches(
        ticks=stretches.ticks,
        horizon=stretches.horizon,
        machine=stretches.machine[original],
        first_run=np.concatenate([[0], np.cumsum(counts)]),
        start=start[stays],
        end=stretches.end[stays],
        before=np.concatenate([[0], np.cumsum(length)]),
    )
    return left, original
