"""A good team quickly: the first incumbent of the models, and the source of their cuts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Aim, Booleans, CommonSlots, Integers, Team, value_of
from hindsched.offline.coupled.no_communication.levels import capacities, hand_out, levels, longest_stretches

__all__ = ["greedy"]

_SEEDS = 8


class _Score(NamedTuple):
    """How good the slots of some rows are, larger is better: minus the finish, then the length of the stretch."""

    earliness: int
    width: int


def greedy(problem: CommonSlots) -> Team | None:
    """Return the best of some teams, each grown from one row by always adding the row that keeps most; None if none.

    At every level it starts from the rows with the most slots. Per level O(p^2 m N) at worst, in array operations.
    It proves nothing, and its team is checked like everybody's.

    Examples
    --------
    >>> greedy(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.WIDEST))
    Team(tasks={0: 1, 1: 1}, slots=(0, 3))
    """
    best: Team | None = None
    best_value = 0
    for level in levels(problem):
        held = capacities(problem, level)
        reach = longest_stretches(problem.up, problem.down)[:, -1]
        seeds = [int(q) for q in np.argsort(-np.where(held > 0, reach, -1), kind="stable")[:_SEEDS] if held[q]]
        for seed in seeds:
            team = _grow(problem, level, held, seed)
            if team is None:
                continue
            value = value_of(problem, team)
            if best is None or (value > best_value if problem.aim.is_maximal else value < best_value):
                best, best_value = team, value
            if problem.aim is Aim.ANY:
                return best
    return best


def _grow(problem: CommonSlots, level: int, held: Integers, seed: int) -> Team | None:
    up, down = problem.up[seed].copy(), problem.down[seed].copy()
    members, tasks = [seed], int(held[seed])
    rest = [q for q in range(problem.num_rows) if held[q] and q != seed]
    heaviest = problem.aim is Aim.HEAVIEST
    if heaviest and _score(problem, up, down, level).width < level:
        return None
    while rest and (heaviest or tasks < problem.tasks):
        scores = [_score(problem, up & problem.up[q], down | problem.down[q], level) for q in rest]
        i = max(range(len(rest)), key=lambda i: (scores[i], held[rest[i]]))
        if heaviest and scores[i].width < level:
            break
        q = rest.pop(i)
        up, down = up & problem.up[q], down | problem.down[q]
        members.append(q)
        tasks += int(held[q])
    if not heaviest and tasks < problem.tasks:
        return None
    slots = _best_stretch(problem, up, down, level)
    if problem.aim is not Aim.WIDEST and len(slots) < level:
        return None
    return Team(hand_out(held, members, tasks if heaviest else problem.tasks), tuple(slots))


def _score(problem: CommonSlots, up: Booleans, down: Booleans, level: int) -> _Score:
    reached = longest_stretches(up[None], down[None])[0]
    if problem.aim is Aim.EARLIEST:
        finish = int(np.searchsorted(reached, level))
        return _Score(-finish, int(reached[-1]))
    return _Score(0, int(reached[-1]))


def _best_stretch(problem: CommonSlots, up: Booleans, down: Booleans, level: int) -> list[int]:
    """Return the first ``level`` slots of the first stretch that has them, or the longest stretch."""
    reached = longest_stretches(up[None], down[None])[0]
    width = int(reached[-1])
    if problem.aim is Aim.EARLIEST:
        width = min(width, level)
    end = int(np.searchsorted(reached, width))
    common = np.flatnonzero(up[: end + 1])
    return [int(t) for t in common[len(common) - width :]]
