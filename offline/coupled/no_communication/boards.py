"""Boards: what DOWN takes from the freedom of a team, made part of the array.

Let T be the slots of a team, and a the first slot such that no member is DOWN from a to the last slot of T. Either a
is 0, or some member, the *leader*, is DOWN in a - 1. Take away from every row what lies before a, and all from its
first DOWN after a on. Then any common slots of members lie in one stretch without a DOWN: what is left is a plain
array, a *board*. The leader is UP in all slots of the team, so only its UP slots are columns.

So a problem is one board without a leader (a = 0), and one for each time that a worker comes back from DOWN. Most of
these are small, and most are seen at once to be of no use. Of workers that come back together the first one leads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Booleans, CommonSlots, Integers

__all__ = ["Board", "Opening", "openings"]


@dataclass(frozen=True, eq=False, slots=True)
class Board:
    """A plain array: rows and columns are workers and slots of a problem; a leader is UP in every column."""

    up: Booleans
    workers: Integers
    slots: Integers
    leader: int | None


@dataclass(frozen=True, eq=False, slots=True)
class Opening:
    """Where a board begins, and how many slots it has; the board itself is made when it is needed."""

    problem: CommonSlots
    next_down: Integers | None
    start: int
    leader: int | None
    slots: Integers

    def board(self) -> Board:
        """Return the board; O(p) per slot."""
        up, down = self.problem.up, self.problem.down
        everybody = np.arange(self.problem.num_rows)
        if self.next_down is None:
            return Board(up, everybody, self.slots, None)
        end = self.next_down[:, self.start]
        takes_part = end > self.start
        if self.leader is not None:
            takes_part[: self.leader] &= ~down[: self.leader, self.start - 1]
            takes_part[self.leader] = False
        workers = everybody[takes_part]
        rows = up[np.ix_(workers, self.slots)] & (self.slots < end[workers, None])
        return Board(rows, workers, self.slots, self.leader)


def openings(problem: CommonSlots) -> Iterator[Opening]:
    """Yield the openings of a problem by rising start; O(p N) and the sizes of the boards.

    Examples
    --------
    >>> from hindsched.offline.coupled.no_communication.common_slots import Aim
    >>> problem = CommonSlots.of_rows(["1d1111", "110d11"], tasks=2, aim=Aim.ANY)
    >>> [(opening.start, opening.leader, opening.slots.tolist()) for opening in openings(problem)]
    [(0, None, [0, 1, 2]), (2, 0, [2, 3, 4, 5]), (4, 1, [4, 5])]
    """
    up, down = problem.up, problem.down
    slots = np.arange(problem.slots)
    if not down.any():
        yield Opening(problem, None, 0, None, slots)
        return
    failing = np.where(down, slots, problem.slots)
    next_down = np.minimum.accumulate(failing[:, ::-1], axis=1)[:, ::-1]
    yield Opening(problem, next_down, 0, None, slots[: int(next_down[:, 0].max())])
    starts, leaders = np.nonzero((down[:, :-1] & ~down[:, 1:]).T)
    for start, leader in zip((starts + 1).tolist(), leaders.tolist(), strict=True):
        stretch = start + np.flatnonzero(up[leader, start : int(next_down[leader, start])])
        if stretch.size:
            yield Opening(problem, next_down, start, leader, stretch)
