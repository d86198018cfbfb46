"""Brute force: every assignment of tasks and every segment of common slots. For tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots, Team, value_of
from hindsched.offline.coupled.no_communication.team_result import SearchOutcome, make_result
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch
from hindsched.offline.results import Result

__all__ = ["solve"]


def solve(problem: CommonSlots, limits: Limits = NO_LIMITS) -> Result:
    """Solve a problem by enumeration, in O(product of (most_q + 1) * p * N) and without regard to limits.

    A *segment* is a longest sequence of common UP slots without a DOWN slot of a member between them. The first slots
    of a segment are best for the earliest finish, all its slots for the other aims.

    Examples
    --------
    >>> solve(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.WIDEST)).value
    2
    """
    watch = Stopwatch(limits)
    best: Team | None = None
    tried = 0
    for tasks in _assignments(problem):
        for segment in _segments(problem, list(tasks)):
            tried += 1
            length = max((x * int(problem.w[q]) for q, x in tasks.items()), default=0)
            if problem.aim is not Aim.WIDEST and len(segment) < length:
                continue
            kept = segment[:length] if problem.aim is Aim.EARLIEST else segment
            team = Team(dict(tasks), tuple(kept))
            if best is None or problem.aim.is_better(value_of(problem, team), value_of(problem, best)):
                best = team
    value = None if best is None else value_of(problem, best)
    counts = {"stretches": tried}
    return make_result(problem, "brute", watch, SearchOutcome(best, value, None, True, counts))


def _assignments(problem: CommonSlots) -> Iterator[dict[int, int]]:
    """Yield every {row: x >= 1} that holds m tasks, or any number of tasks for the heaviest team."""

    def extend(q: int, held: dict[int, int], left: int) -> Iterator[dict[int, int]]:
        if q == problem.num_rows:
            if left == 0 or problem.aim is Aim.HEAVIEST:
                yield held
            return
        for x in range(min(int(problem.most[q]), left) + 1):
            yield from extend(q + 1, {**held, q: x} if x else held, left - x)

    yield from extend(0, {}, int(problem.most.sum()) if problem.aim is Aim.HEAVIEST else problem.tasks)


def _segments(problem: CommonSlots, members: list[int]) -> Iterator[list[int]]:
    """Yield the common UP slots of these rows, cut wherever one of them is DOWN; the last may be empty."""
    segment: list[int] = []
    for t in range(problem.slots):
        if np.any(problem.down[members, t]):
            yield segment
            segment = []
        elif np.all(problem.up[members, t]) and members:
            segment.append(t)
    yield segment
