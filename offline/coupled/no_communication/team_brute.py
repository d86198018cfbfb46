"""The obviously right back end: every assignment of tasks, every stretch of common slots. For tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots, Team, value_of
from hindsched.offline.coupled.no_communication.conclude import conclude
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch
from hindsched.offline.results import Result

__all__ = ["solve"]


def solve(problem: CommonSlots, limits: Limits = NO_LIMITS) -> Result:
    """Try everything: O(product of (most_q + 1) * p N); it looks at no limit.

    A *stretch* is a longest run of common UP slots without a DOWN of a member between them. Of a stretch the first
    slots are as good as any for the earliest finish, and all of them are best for the other aims.

    Examples
    --------
    >>> solve(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.WIDEST)).value
    2
    """
    watch = Stopwatch(limits)
    best: Team | None = None
    tried = 0
    for tasks in _assignments(problem):
        for stretch in _stretches(problem, list(tasks)):
            tried += 1
            length = max((x * int(problem.w[q]) for q, x in tasks.items()), default=0)
            if problem.aim is not Aim.WIDEST and len(stretch) < length:
                continue
            kept = stretch[:length] if problem.aim is Aim.EARLIEST else stretch
            team = Team(dict(tasks), tuple(kept))
            if best is None or _is_better(problem, team, best):
                best = team
    value = None if best is None else value_of(problem, best)
    return conclude(problem, "brute", watch, best, value=value, bound=None, is_proven=True, counts={"stretches": tried})


def _is_better(problem: CommonSlots, team: Team, best: Team) -> bool:
    gain = value_of(problem, team) - value_of(problem, best)
    return gain > 0 if problem.aim.is_maximal else gain < 0


def _assignments(problem: CommonSlots) -> Iterator[dict[int, int]]:
    """Yield every {row: x >= 1} that holds m tasks, or any number of tasks where the heaviest team is asked for."""

    def extend(q: int, held: dict[int, int], left: int) -> Iterator[dict[int, int]]:
        if q == problem.num_rows:
            if left == 0 or problem.aim is Aim.HEAVIEST:
                yield held
            return
        for x in range(min(int(problem.most[q]), left) + 1):
            yield from extend(q + 1, {**held, q: x} if x else held, left - x)

    yield from extend(0, {}, int(problem.most.sum()) if problem.aim is Aim.HEAVIEST else problem.tasks)


def _stretches(problem: CommonSlots, members: list[int]) -> Iterator[list[int]]:
    """Yield the common UP slots of these rows, cut wherever one of them is DOWN; the last may be empty."""
    stretch: list[int] = []
    for t in range(problem.slots):
        if np.any(problem.down[members, t]):
            yield stretch
            stretch = []
        elif np.all(problem.up[members, t]) and members:
            stretch.append(t)
    yield stretch
