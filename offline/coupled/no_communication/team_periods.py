"""The polynomial back end: no worker is RECLAIMED between two UP slots, unless it was DOWN between them as well.

With states UP and DOWN alone every worker is UP in *availability periods* that nothing interrupts, and the slots of a
team are a stretch of consecutive slots within a period of every member. For a last slot t and a level L the members of
such a stretch are all the rows that have been UP for L slots by then, and there is nothing left to choose: hardness
comes from RECLAIMED alone (docs/model.md section 3).
"""

from __future__ import annotations

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import (
    Aim,
    Booleans,
    CommonSlots,
    Integers,
    Team,
    value_of,
)
from hindsched.offline.coupled.no_communication.conclude import conclude
from hindsched.offline.coupled.no_communication.levels import capacities, hand_out, levels
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch
from hindsched.offline.results import Result

__all__ = ["is_easy", "solve"]


def is_easy(up: Booleans, down: Booleans) -> bool:
    """Whether between any two UP slots of a row it is always UP, or DOWN at least once; O(p N).

    A suspended slot that is not between two UP slots is never between two slots of a team, so it is no better than
    a DOWN one.

    Examples
    --------
    >>> rows = ["0110d1", "1d0110"]
    >>> problem = CommonSlots.of_rows(rows, tasks=1, aim=Aim.ANY)
    >>> is_easy(problem.up, problem.down), is_easy(problem.up, np.zeros_like(problem.down))
    (True, False)
    """
    slots = np.arange(up.shape[1])
    last_up = np.maximum.accumulate(np.where(up, slots, -1), axis=1)
    last_down = np.maximum.accumulate(np.where(down, slots, -1), axis=1)
    before = last_up[:, :-1]
    resumed = up[:, 1:] & ~up[:, :-1] & (before >= 0) & (last_down[:, 1:] < before)
    return not bool(resumed.any())


def solve(problem: CommonSlots, limits: Limits = NO_LIMITS) -> Result:
    """Solve an easy problem exactly in O(levels p N); it looks at no limit.

    Raises
    ------
    ValueError
        Where the problem is not easy (see `is_easy`).

    Examples
    --------
    >>> solve(CommonSlots.of_rows(["111d111", "11111dd"], tasks=2, aim=Aim.WIDEST)).schedule
    Team(tasks={0: 1, 1: 1}, slots=(0, 1, 2))
    """
    if not is_easy(problem.up, problem.down):
        raise ValueError("a row is suspended between two UP slots: this solver does not apply")
    watch = Stopwatch(limits)
    runs = _runs(problem.up)
    tried = levels(problem)
    found = [team for level in tried if (team := _best_at(problem, runs, level)) is not None]
    if problem.aim is Aim.HEAVIEST or (problem.aim is Aim.WIDEST and int(problem.most.sum()) >= problem.tasks):
        found.append(_nothing(problem))
    counts = {"levels": len(tried)}
    best = (max if problem.aim.is_maximal else min)(found, key=lambda team: value_of(problem, team), default=None)
    value = None if best is None else value_of(problem, best)
    return conclude(problem, "periods", watch, best, value=value, bound=None, is_proven=True, counts=counts)


def _runs(up: Booleans) -> Integers:
    """Return for each row and slot how many slots in a row it has been UP, this one included."""
    slots = np.arange(1, up.shape[1] + 1)
    return np.asarray(slots - np.maximum.accumulate(np.where(up, 0, slots), axis=1), dtype=np.int64)


def _best_at(problem: CommonSlots, runs: Integers, level: int) -> Team | None:
    """Return a best team of this level, or None."""
    held = capacities(problem, level)
    if problem.aim is Aim.WIDEST:
        return _widest_at(problem, runs, held)
    weight = held @ (runs >= level)
    if problem.aim is Aim.HEAVIEST:
        end = int(weight.argmax())
        needed = int(weight[end])
    else:
        needed = problem.tasks
        ends = np.flatnonzero(weight >= needed)
        if ends.size == 0:
            return None
        end = int(ends[0])
    rows = np.flatnonzero(runs[:, end] >= level).tolist()
    return Team(hand_out(held, rows, needed), tuple(range(end - level + 1, end + 1)))


def _widest_at(problem: CommonSlots, runs: Integers, held: Integers) -> Team | None:
    """Return the team of the longest stretch: in each slot, the longest runs of rows that hold m tasks together."""
    order = np.argsort(-runs, axis=0, kind="stable")
    enough = (np.cumsum(held[order], axis=0) < problem.tasks).sum(axis=0)  # rows before the one that completes m
    widths = np.take_along_axis(runs, np.take_along_axis(order, enough[None, :], axis=0), axis=0)[0]
    end = int(widths.argmax())
    width = int(widths[end])
    rows = order[: int(enough[end]) + 1, end].tolist()
    return Team(hand_out(held, rows, problem.tasks), tuple(range(end - width + 1, end + 1)))


def _nothing(problem: CommonSlots) -> Team:
    """Return a team of value 0: no tasks, or any m tasks without a slot."""
    if problem.aim is Aim.HEAVIEST:
        return Team({}, ())
    return Team(hand_out(problem.most, range(problem.num_rows), problem.tasks), ())
