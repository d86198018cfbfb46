"""Subproblems without DOWN, into which a common-slots problem is divided.

Let T be the slots of a team, and a the first slot such that no member is DOWN from a to the last slot of T. Either a is
0, or some member, the *leader*, is DOWN in a - 1. Remove from every row all slots before a and all from its first DOWN
slot after a on. Then common slots of any rows have no DOWN between them: what is left is a *subproblem* without DOWN.
The leader is UP in all slots of the team, so only its UP slots are columns.

So a problem has one subproblem without a leader (a = 0), and one for each slot in which a worker comes back from DOWN.
Most of them are small or need no search. Of workers that come back in the same slot the first one leads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Booleans, CommonSlots, Integers

__all__ = ["Subproblem", "SubproblemStart", "subproblem_starts"]


class Subproblem(NamedTuple):
    """An array without DOWN: rows and columns are workers and slots of a problem; a leader is UP in every column."""

    up: Booleans
    workers: Integers
    slots: Integers
    leader: int | None


class SubproblemStart(NamedTuple):
    """The first slot, leader and columns of a subproblem, whose array is made on demand."""

    problem: CommonSlots
    next_down: Integers | None
    start: int
    leader: int | None
    slots: Integers

    def subproblem(self) -> Subproblem:
        """Return the subproblem; O(p) per slot."""
        up, down = self.problem.up, self.problem.down
        all_workers = np.arange(self.problem.num_rows)
        if self.next_down is None:
            return Subproblem(up, all_workers, self.slots, None)
        end = self.next_down[:, self.start]
        is_row = end > self.start
        if self.leader is not None:
            is_row[: self.leader] &= ~down[: self.leader, self.start - 1]
            is_row[self.leader] = False
        workers = all_workers[is_row]
        rows = up[np.ix_(workers, self.slots)] & (self.slots < end[workers, None])
        return Subproblem(rows, workers, self.slots, self.leader)


def subproblem_starts(problem: CommonSlots) -> Iterator[SubproblemStart]:
    """Yield the starts of all subproblems of a problem, by rising slot; O(p N) plus their numbers of columns.

    Examples
    --------
    >>> from hindsched.offline.coupled.no_communication.common_slots import Aim
    >>> problem = CommonSlots.of_rows(["1d1111", "110d11"], tasks=2, aim=Aim.ANY)
    >>> [(start.start, start.leader, start.slots.tolist()) for start in subproblem_starts(problem)]
    [(0, None, [0, 1, 2]), (2, 0, [2, 3, 4, 5]), (4, 1, [4, 5])]
    """
    up, down = problem.up, problem.down
    slots = np.arange(problem.slots)
    if not down.any():
        yield SubproblemStart(problem, None, 0, None, slots)
        return
    failing = np.where(down, slots, problem.slots)
    next_down = np.minimum.accumulate(failing[:, ::-1], axis=1)[:, ::-1]
    yield SubproblemStart(problem, next_down, 0, None, slots[: int(next_down[:, 0].max())])
    starts, leaders = np.nonzero((down[:, :-1] & ~down[:, 1:]).T)
    for start, leader in zip((starts + 1).tolist(), leaders.tolist(), strict=True):
        segment = start + np.flatnonzero(up[leader, start : int(next_down[leader, start])])
        if segment.size:
            yield SubproblemStart(problem, next_down, start, leader, segment)
