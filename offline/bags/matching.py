"""Two segments a task (H6): a largest matching of positions, in O(N log N).

With a shared store, not on demand, and k = 2, an instant tau is feasible iff n disjoint pairs (u, v) of positions by
tau have leftmost end e_u <= rightmost start s_v. These pairs are the ordered pairs of the intervals (s, e), so
`most_seconds` finds n of them as a matching in the complement of an interval graph, greedily. docs/bags/theory.md has
the proofs.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.closed_forms import least

__all__ = ["Segment", "most_seconds", "pairs_by", "two_segments"]

#: Availability period, start and end of a segment.
Segment = tuple[int, int, int]


def most_seconds(starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """Return a largest set of positions that can be second ones, as indices; O(N log N).

    Parameters
    ----------
    starts, ends
        Rightmost start and leftmost end of each position; starts[v] < ends[v].

    Examples
    --------
    Three consecutive positions, and a long one without a partner:

    >>> most_seconds([0, 3, 6, 0], [3, 6, 9, 9])
    [2]
    """
    order = sorted(range(len(starts)), key=starts.__getitem__)
    finished = sorted(ends)
    chosen: list[tuple[int, int]] = []  # heap of (end, position): those in S that have not ended
    over: list[tuple[int, int]] = []  # heap of those in S that have
    ended = 0  # positions ended, in S or not
    for v in order:
        now = starts[v]
        while ended < len(finished) and finished[ended] <= now:
            ended += 1
        heapq.heappush(chosen, (ends[v], v))
        while chosen[0][0] <= now:
            heapq.heappush(over, heapq.heappop(chosen))
        if len(chosen) + 2 * len(over) > ended:
            heapq.heappop(over or chosen)
    return sorted(v for _, v in chosen + over)


def two_segments(periods: AvailabilityPeriods, tasks: int, *, low: int = 0) -> int | None:
    """Return the optimum for k = 2 with a shared store, not on demand (H6); None if the horizon is too short.

    Feasibility is monotone in tau, so bisection is exact: O(log horizon) matchings.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> two_segments(AvailabilityPeriods.of_states(from_letters(["udu", "uuu"]), [8, 12], slot=10), tasks=2)
    28
    """

    def holds(tau: int) -> bool:
        at = periods.positions(tau)
        if len(at) < 2 * tasks:
            return False
        return len(most_seconds(at.last_start.tolist(), at.first_end.tolist())) >= tasks

    return least(holds, low, periods.horizon)


def pairs_by(periods: AvailabilityPeriods, tasks: int, tau: int) -> list[tuple[Segment, Segment]]:
    """Return the two segments of every task by a feasible tau: firsts leftmost, seconds rightmost in their period.

    Raises
    ------
    ValueError
        If tau is not feasible.
    """
    at = periods.positions(tau)
    ends = at.first_end.tolist()
    second = most_seconds(at.last_start.tolist(), ends)[: len(at)]
    if len(second) < tasks:
        raise ValueError(f"{len(second)} tasks by {tau}, not {tasks}")
    second = sorted(second, key=lambda v: -int(at.last_start[v]))[:tasks]
    taken = set(second)
    first = sorted((u for u in range(len(at)) if u not in taken), key=ends.__getitem__)[:tasks]
    # within a period the firsts move to its first positions and the seconds to its last ones
    lefts = _packed(at.period[first].tolist())
    counts = np.bincount(at.period, minlength=1)
    rights = _packed(at.period[second].tolist())
    index = {(int(s), int(j)): i for i, (s, j) in enumerate(zip(at.period, at.number, strict=True))}
    begun = [index[s, j] for s, j in lefts]
    ended = [index[s, int(counts[s]) - 1 - j] for s, j in rights]
    begun.sort(key=lambda u: int(at.first_end[u]))
    ended.sort(key=lambda v: int(at.last_start[v]))
    return [
        (
            (int(at.period[u]), int(at.first_start[u]), int(at.first_end[u])),
            (int(at.period[v]), int(at.last_start[v]), int(at.last_end[v])),
        )
        for u, v in zip(begun, ended, strict=True)
    ]


def _packed(periods: Sequence[int]) -> list[tuple[int, int]]:
    """Return the entries of a list of periods, ordered, equal ones numbered 0, 1, ..."""
    ordered = sorted(periods)
    numbers = [0] * len(ordered)
    for i, (a, b) in enumerate(pairwise(ordered), 1):
        numbers[i] = numbers[i - 1] + 1 if a == b else 0
    return list(zip(ordered, numbers, strict=True))
