"""The possible lengths of a team, the capacities of rows at a length, and bounds from single rows.

At length L row q can hold c_q(L) = min(most_q, floor(L / w_q)) tasks, for any tasks of other rows. L is some k w_q, so
there are at most sum(most_q) lengths. At a fixed length, tasks are weights of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Aim, Booleans, CommonSlots, Integers, Team

__all__ = [
    "bound",
    "bounds_by_length",
    "candidate_lengths",
    "capacities",
    "distribute_tasks",
    "most_up_slots",
    "possible_lengths",
    "trivial_team",
]


def most_up_slots(up: Booleans, down: Booleans) -> Integers:
    """Return for each row and slot the largest number of UP slots without DOWN between them, up to the slot; O(p N).

    Examples
    --------
    >>> most_up_slots(np.array([[1, 1, 0, 1]], dtype=bool), np.array([[0, 0, 1, 0]], dtype=bool)).tolist()
    [[1, 2, 2, 2]]
    """
    seen = np.cumsum(up, axis=1, dtype=np.int64)
    lost = np.maximum.accumulate(np.where(down, seen, 0), axis=1)  # UP slots up to the last DOWN
    return np.maximum.accumulate(seen - lost, axis=1)


def capacities(problem: CommonSlots, length: int) -> Integers:
    """Return c_q(length) of every row."""
    return np.minimum(problem.most, length // problem.w)


def distribute_tasks(held: Mapping[int, int] | Integers, rows: Iterable[int], tasks: int) -> dict[int, int]:
    """Return the tasks of each row, at most ``held``, the first rows first; rows without tasks are left out.

    Examples
    --------
    >>> distribute_tasks(np.array([2, 0, 3, 1]), [3, 1, 2, 0], tasks=3)
    {3: 1, 2: 2}
    """
    team = {}
    for q in rows:
        if x := min(int(held[q]), tasks):
            team[q] = x
            tasks -= x
    return team


def trivial_team(problem: CommonSlots) -> Team | None:
    """Return a team of value 0: no tasks, or any m tasks without a slot; None if the problem admits none."""
    if problem.aim is Aim.HEAVIEST:
        return Team({}, ())
    if problem.aim is Aim.WIDEST and int(problem.most.sum()) >= problem.tasks:
        return Team(distribute_tasks(problem.most, range(problem.num_rows), problem.tasks), ())
    return None


def candidate_lengths(problem: CommonSlots) -> list[int]:
    """Return the lengths for which some row has enough UP slots; O(p N).

    They include those of `possible_lengths`, which takes longer.
    """
    most = problem.most if problem.aim is Aim.HEAVIEST else np.minimum(problem.most, problem.tasks)
    if problem.aim is not Aim.WIDEST:
        most = np.minimum(most, np.count_nonzero(problem.up, axis=1) // problem.w)
    if problem.aim is not Aim.HEAVIEST and int(most.sum()) < problem.tasks:
        return []
    return _multiples(problem, most)


def _multiples(problem: CommonSlots, most: Integers) -> list[int]:
    pairs = zip(problem.w.tolist(), most.tolist(), strict=True)
    return sorted({k * w for w, most_q in pairs for k in range(1, most_q + 1)})


def possible_lengths(problem: CommonSlots) -> list[int]:
    """Return the lengths of a team for which enough rows have enough slots, each row alone, in increasing order.

    There is none if the rows cannot hold m tasks. For `Aim.WIDEST`, whose value may be 0, no slots are needed.
    """
    most = problem.most
    if problem.aim is not Aim.HEAVIEST:
        most = np.minimum(most, problem.tasks)
    reach = most_up_slots(problem.up, problem.down)[:, -1]
    if problem.aim is not Aim.WIDEST:
        most = np.minimum(most, reach // problem.w)
    multiples = _multiples(problem, most)
    if problem.aim is Aim.HEAVIEST:
        return multiples
    can_reach = 0 if problem.aim is Aim.WIDEST else 1
    return [
        length
        for length in multiples
        if capacities(problem, length)[reach >= can_reach * length].sum() >= problem.tasks
    ]


def bounds_by_length(problem: CommonSlots) -> dict[int, int | None]:
    """Return a bound on the value of the teams of each length, from single rows; None: the length has no team.

    O(p N) for each length.

    Examples
    --------
    >>> bounds_by_length(CommonSlots.of_rows(["1101", "1001", "0111"], tasks=2, aim=Aim.WIDEST))
    {1: 3}
    """
    reach = most_up_slots(problem.up, problem.down)
    return {length: _bound_at(problem, reach, length) for length in possible_lengths(problem)}


def bound(problem: CommonSlots) -> int | None:
    """Return a bound on the value of every team, from `bounds_by_length`; None: there is no team."""
    known = [value for value in bounds_by_length(problem).values() if value is not None]
    if problem.aim is Aim.HEAVIEST:
        return max(known, default=0)
    return (max if problem.aim.is_maximal else min)(known, default=None)


def _bound_at(problem: CommonSlots, reach: Integers, length: int) -> int | None:
    held = capacities(problem, length)
    last = reach[:, -1]
    if problem.aim is Aim.HEAVIEST:
        return int(held[last >= length].sum())
    if problem.aim is Aim.WIDEST:
        order = np.argsort(-last, kind="stable")
        enough = int(np.searchsorted(np.cumsum(held[order]), problem.tasks))
        return int(last[order[enough]]) // length
    can = np.flatnonzero((held @ (reach >= length)) >= problem.tasks)
    if can.size == 0:
        return None
    return int(can[0]) + 1 if problem.aim is Aim.EARLIEST else 1
