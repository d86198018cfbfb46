"""Dealing (H7): equal machines, positions dealt to the tasks in turn.

**Theorem.** Where all machines need g ticks, nothing is RECLAIMED, and at most n machines are UP at any instant before
tau, n k positions by tau are enough: the optimum is the count bound.

*Proof.* Take the first n k leftmost positions by start (and end; all are intervals of g ticks exactly) and deal them to
the n tasks in turn. Two positions of one task are n or more apart in that order. If position i + n started before
position i had ended, all of i, ..., i + n would start within g ticks, each before i ends: at that last start, n + 1 of
them would be running, on n + 1 machines. QED.
"""

from __future__ import annotations

import numpy as np

from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.matching import Segment

__all__ = ["assign_in_turn"]


def assign_in_turn(periods: AvailabilityPeriods, tasks: int, segments: int, tau: int) -> list[list[Segment]] | None:
    """Return chains by tau dealt in turn, None if they are no chains; wherever they are, machines may be unequal.

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
