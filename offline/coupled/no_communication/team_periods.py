"""The polynomial back end: no worker is RECLAIMED between two UP slots unless it is DOWN between them as well.

Then every availability period is uninterrupted, and the slots of a team are consecutive slots within a period of every
member. For a last slot t and a length L the members are all rows that have been UP for L slots by t, so there is no
choice: RECLAIMED alone makes the problem hard (docs/model.md section 3).
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
from hindsched.offline.coupled.no_communication.team_lengths import (
    capacities,
    distribute_tasks,
    possible_lengths,
    trivial_team,
)
from hindsched.offline.coupled.no_communication.team_result import SearchOutcome, make_result
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch
from hindsched.offline.results import Result

__all__ = ["is_easy", "solve"]


def is_easy(up: Booleans, down: Booleans) -> bool:
    """Return whether each row is UP throughout, or DOWN at least once, between any two of its UP slots; O(p N).

    A RECLAIMED slot that is not between two UP slots is never between two slots of a team, so it counts as DOWN.

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
    """Solve an easy problem exactly, in O(p N) for each length and without regard to limits.

    Raises
    ------
    ValueError
        If the problem is not easy (see `is_easy`).

    Examples
    --------
    >>> solve(CommonSlots.of_rows(["111d111", "11111dd"], tasks=2, aim=Aim.WIDEST)).schedule
    Team(tasks={0: 1, 1: 1}, slots=(0, 1, 2))
    """
    if not is_easy(problem.up, problem.down):
        raise ValueError("a row is RECLAIMED between two UP slots, expected UP or DOWN")
    watch = Stopwatch(limits)
    runs = _runs(problem.up)
    tried = possible_lengths(problem)
    found = [team for length in tried if (team := _best_at(problem, runs, length)) is not None]
    trivial = trivial_team(problem)
    if trivial is not None:
        found.append(trivial)
    counts = {"levels": len(tried)}
    best = (max if problem.aim.is_maximal else min)(found, key=lambda team: value_of(problem, team), default=None)
    value = None if best is None else value_of(problem, best)
    return make_result(problem, "periods", watch, SearchOutcome(best, value, None, True, counts))


def _runs(up: Booleans) -> Integers:
    """Return for each row and slot the number of consecutive UP slots up to it."""
    slots = np.arange(1, up.shape[1] + 1)
    return np.asarray(slots - np.maximum.accumulate(np.where(up, 0, slots), axis=1), dtype=np.int64)


def _best_at(problem: CommonSlots, runs: Integers, length: int) -> Team | None:
    """Return a best team of this length, or None."""
    held = capacities(problem, length)
    if problem.aim is Aim.WIDEST:
        return _widest_at(problem, runs, held)
    weight = held @ (runs >= length)
    if problem.aim is Aim.HEAVIEST:
        end = int(weight.argmax())
        needed = int(weight[end])
    else:
        needed = problem.tasks
        ends = np.flatnonzero(weight >= needed)
        if ends.size == 0:
            return None
        end = int(ends[0])
    rows = np.flatnonzero(runs[:, end] >= length).tolist()
    return Team(distribute_tasks(held, rows, needed), tuple(range(end - length + 1, end + 1)))


def _widest_at(problem: CommonSlots, runs: Integers, held: Integers) -> Team | None:
    """Return the team with most slots: the rows of longest runs that hold m tasks, for the best last slot."""
    order = np.argsort(-runs, axis=0, kind="stable")
    enough = (np.cumsum(held[order], axis=0) < problem.tasks).sum(axis=0)  # rows before the one that completes m
    widths = np.take_along_axis(runs, np.take_along_axis(order, enough[None, :], axis=0), axis=0)[0]
    end = int(widths.argmax())
    width = int(widths[end])
    rows = order[: int(enough[end]) + 1, end].tolist()
    return Team(distribute_tasks(held, rows, problem.tasks), tuple(range(end - width + 1, end + 1)))
