"""Two segments a task (H6): pairs of positions, the first ended before the second starts, in O(N log N).

With shared disks, not on demand, and k = 2, an instant tau is feasible iff n disjoint pairs (u, v) of positions by tau
have leftmost end e_u <= rightmost start s_v. In one period an exchange puts all first segments to the left and all
second segments to the right, each of which helps; so leftmost ends and rightmost starts are no relaxation.

Since s < e for every position, these pairs are the ordered pairs of the intervals (s, e), and n pairs are a matching
in the complement of an interval graph. `most_seconds` finds a largest one by a greedy choice.

**Theorem.** A set S of positions can be the second ones of disjoint pairs iff for every instant t, among the s values,

    #{v in S: s_v <= t} <= #{u not in S: e_u <= t},

that is, load(S, t) := #{v in S: s_v <= t} + #{v in S: e_v <= t} is at most the number of all positions ended by t.

*Proof.* Hall's condition, for the first positions that a second may have are those of least end: nested sets.

**Theorem.** Take the positions by s; put each into S; if load(S, s) has become too large, take the one of least end out
of S. The final S is a largest possible one.

*Proof.* Adding raises the load at s by 1 (nothing ends at its own start), and one that is taken out lowers it by 1 at
least, so S is always feasible; and it never shrinks. Write A >= B (A *dominates* B) if |A| >= |B| and for each j <=
|B| the j-th largest end in A is at least that in B. For two sets of positions already started, A >= B with |A| = |B|
gives load(A, t) <= load(B, t) for all t to come. Claim: after each step S dominates every feasible set T of the
positions seen. Let v be the next one, S' and T' the sets afterwards. If v is not in T', T' was dominated by S, and S'
dominates S: at most, the least of S + v was replaced. If T' = T + v, then S + v dominates T + v. If nothing was taken
out we are done. If something was and |S| > |T|, it was not among the |T| + 1 largest of S + v. |S| = |T| is
impossible: then load(S + v, s_v) <= load(T + v, s_v) and S + v would have been feasible (between starts, load grows no
faster than the right-hand side, so that no other instant can refuse it). QED.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.closed_forms import least

__all__ = ["Segment", "most_seconds", "pairs_by", "two_segments"]

#: Period, start, end of one execution of a segment.
Segment = tuple[int, int, int]


def most_seconds(starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """Return a largest set of positions that can be second ones, as indices; O(N log N).

    Parameters
    ----------
    starts, ends
        Rightmost start and leftmost end of each position; starts[v] < ends[v].

    Examples
    --------
    Three in a row and one beside them all; the long one is nobody's partner:

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
    """H6: the optimum for k = 2 with shared disks, not on demand; None if the horizon is too short.

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
        When tau is not feasible.
    """
    at = periods.positions(tau)
    ends = at.first_end.tolist()
    second = most_seconds(at.last_start.tolist(), ends)[: len(at)]
    if len(second) < tasks:
        raise ValueError(f"{len(second)} tasks by {tau}, not {tasks}")
    second = sorted(second, key=lambda v: -int(at.last_start[v]))[:tasks]
    taken = set(second)
    first = sorted((u for u in range(len(at)) if u not in taken), key=ends.__getitem__)[:tasks]
    # Within a period the firsts move to its first positions and the seconds to its last ones.
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
