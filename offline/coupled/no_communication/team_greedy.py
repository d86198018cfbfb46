"""A greedy team: the first incumbent of the models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Aim, Booleans, CommonSlots, Integers, Team, value_of
from hindsched.offline.coupled.no_communication.team_lengths import (
    capacities,
    distribute_tasks,
    most_up_slots,
    possible_lengths,
)

__all__ = ["greedy"]

_SEEDS = 8  # rows from which teams grow, for each length


class _Score(NamedTuple):
    """The score of the common slots of some rows, larger is better: minus the finish, then the number of slots."""

    earliness: int
    width: int


def greedy(problem: CommonSlots) -> Team | None:
    """Return the best of some teams that grow from one row, each time by the row with the best score; None without one.

    For each length they grow from the rows with most slots; O(p^2 m N) at worst, in array operations.

    Examples
    --------
    >>> greedy(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.WIDEST))
    Team(tasks={0: 1, 1: 1}, slots=(0, 3))
    """
    best: Team | None = None
    best_value: int | None = None
    for length in possible_lengths(problem):
        held = capacities(problem, length)
        reach = most_up_slots(problem.up, problem.down)[:, -1]
        seeds = [int(q) for q in np.argsort(-np.where(held > 0, reach, -1), kind="stable")[:_SEEDS] if held[q]]
        for seed in seeds:
            team = _grow(problem, length, held, seed)
            if team is None:
                continue
            value = value_of(problem, team)
            if problem.aim.is_better(value, best_value):
                best, best_value = team, value
            if problem.aim is Aim.ANY:
                return best
    return best


def _grow(problem: CommonSlots, length: int, held: Integers, seed: int) -> Team | None:
    up, down = problem.up[seed].copy(), problem.down[seed].copy()
    members, tasks = [seed], int(held[seed])
    rest = [q for q in range(problem.num_rows) if held[q] and q != seed]
    heaviest = problem.aim is Aim.HEAVIEST
    if heaviest and _score(problem, up, down, length).width < length:
        return None
    while rest and (heaviest or tasks < problem.tasks):
        scores = [_score(problem, up & problem.up[q], down | problem.down[q], length) for q in rest]
        i = max(range(len(rest)), key=lambda i: (scores[i], held[rest[i]]))
        if heaviest and scores[i].width < length:
            break
        q = rest.pop(i)
        up, down = up & problem.up[q], down | problem.down[q]
        members.append(q)
        tasks += int(held[q])
    if not heaviest and tasks < problem.tasks:
        return None
    slots = _best_segment(problem, up, down, length)
    if problem.aim is not Aim.WIDEST and len(slots) < length:
        return None
    return Team(distribute_tasks(held, members, tasks if heaviest else problem.tasks), tuple(slots))


def _score(problem: CommonSlots, up: Booleans, down: Booleans, length: int) -> _Score:
    reached = most_up_slots(up[None], down[None])[0]
    if problem.aim is Aim.EARLIEST:
        finish = int(np.searchsorted(reached, length))
        return _Score(-finish, int(reached[-1]))
    return _Score(0, int(reached[-1]))


def _best_segment(problem: CommonSlots, up: Booleans, down: Booleans, length: int) -> list[int]:
    """Return the first ``length`` slots of the first segment that has them, or the longest segment."""
    reached = most_up_slots(up[None], down[None])[0]
    width = int(reached[-1])
    if problem.aim is Aim.EARLIEST:
        width = min(width, length)
    end = int(np.searchsorted(reached, width))
    common = np.flatnonzero(up[: end + 1])
    return [int(t) for t in common[len(common) - width :]]
