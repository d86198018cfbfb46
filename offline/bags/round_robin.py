"""Round robin (H7): positions are assigned to the tasks in turn.

It is optimal where all machines need equally many ticks, nothing is RECLAIMED, and at most n machines are UP at any
instant. docs/bags/theory.md has the proof.
"""

from __future__ import annotations

import numpy as np

from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.matching import Segment

__all__ = ["assign_in_turn"]


def assign_in_turn(periods: AvailabilityPeriods, tasks: int, segments: int, tau: int) -> list[list[Segment]] | None:
    """Return the segments of each task by tau, assigned in turn; None if a task would run two segments at once.

    Machines may be unequal: then the result can be None although a schedule exists.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> assign_in_turn(AvailabilityPeriods.of_states(from_letters(["uu", "ud"]), [4, 4], slot=6), 2, 2, 12)
    [[(0, 0, 4), (0, 4, 8)], [(1, 0, 4), (0, 8, 12)]]
    >>> trio = AvailabilityPeriods.of_states(from_letters(["uu", "uu", "uu"]), [2, 8, 8], slot=6)
    >>> assign_in_turn(trio, 2, 2, 9) is None
    True
    """
    at = periods.positions(tau)
    if len(at) < tasks * segments:
        return None
    order = np.lexsort((at.first_end, at.first_start))[: tasks * segments]
    start, end = at.first_start[order], at.first_end[order]
    if np.any(start[tasks:] < end[:-tasks]):
        return None
    rows = list(zip(at.period[order].tolist(), start.tolist(), end.tolist(), strict=True))
    return [rows[task::tasks] for task in range(tasks)]
