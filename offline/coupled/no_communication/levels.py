"""Levels: the lengths a team can have, who holds how much at each, and cheap bounds that look at every row on its own.

A team of length L lets row q hold c_q(L) = min(most_q, floor(L / w_q)) tasks, whatever the others do. L is some
k w_q, so there are at most sum(most_q) lengths, the *levels*. Once the level is chosen, tasks are mere weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Aim, Booleans, CommonSlots, Integers

__all__ = ["bound", "bounds", "capacities", "hand_out", "lengths", "levels", "longest_stretches"]


def longest_stretches(up: Booleans, down: Booleans) -> Integers:
    """Return for each row and slot the most UP slots, without a DOWN between them, up to that slot; O(p N).

    Examples
    --------
    >>> longest_stretches(np.array([[1, 1, 0, 1]], dtype=bool), np.array([[0, 0, 1, 0]], dtype=bool)).tolist()
    [[1, 2, 2, 2]]
    """
    seen = np.cumsum(up, axis=1, dtype=np.int64)
    lost = np.maximum.accumulate(np.where(down, seen, 0), axis=1)  # UP slots up to the last DOWN
    return np.maximum.accumulate(seen - lost, axis=1)


def capacities(problem: CommonSlots, level: int) -> Integers:
    """Return c_q(level) for every row."""
    return np.minimum(problem.most, level // problem.w)


def hand_out(held: Mapping[int, int] | Integers, rows: Iterable[int], tasks: int) -> dict[int, int]:
    """Return who gets how many tasks, at most ``held``, the first rows first; those that get none are left out.

    Examples
    --------
    >>> hand_out(np.array([2, 0, 3, 1]), [3, 1, 2, 0], tasks=3)
    {3: 1, 2: 2}
    """
    team = {}
    for q in rows:
        if x := min(int(held[q]), tasks):
            team[q] = x
            tasks -= x
    return team


def lengths(problem: CommonSlots) -> list[int]:
    """Return the lengths a team can have, those left out for which no row has the slots; O(p N).

    There may be more of them than `levels`, which looks at all rows together and takes longer.
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


def levels(problem: CommonSlots) -> list[int]:
    """Return the lengths a team can have, in increasing order; none where the rows cannot hold m tasks.

    Left out are lengths for which too few rows, each on its own, have enough slots (any number will do for
    `Aim.WIDEST`, whose value may be 0).
    """
    most = problem.most
    if problem.aim is not Aim.HEAVIEST:
        most = np.minimum(most, problem.tasks)
    reach = longest_stretches(problem.up, problem.down)[:, -1]
    if problem.aim is not Aim.WIDEST:
        most = np.minimum(most, reach // problem.w)
    multiples = _multiples(problem, most)
    if problem.aim is Aim.HEAVIEST:
        return multiples
    can_reach = 0 if problem.aim is Aim.WIDEST else 1
    return [
        level for level in multiples if capacities(problem, level)[reach >= can_reach * level].sum() >= problem.tasks
    ]


def bounds(problem: CommonSlots) -> dict[int, int | None]:
    """Return for every level a bound on the value of its teams that looks at every row on its own.

    None: it has no team. O(levels p N).

    Examples
    --------
    >>> bounds(CommonSlots.of_rows(["1101", "1001", "0111"], tasks=2, aim=Aim.WIDEST))
    {1: 3}
    """
    reach = longest_stretches(problem.up, problem.down)
    return {level: _bound_at(problem, reach, level) for level in levels(problem)}


def bound(problem: CommonSlots) -> int | None:
    """Return the best of `bounds`: a bound on the value of every team; None: there is no team."""
    known = [value for value in bounds(problem).values() if value is not None]
    if problem.aim is Aim.HEAVIEST:
        return max(known, default=0)
    return (max if problem.aim.is_maximal else min)(known, default=None)


def _bound_at(problem: CommonSlots, reach: Integers, level: int) -> int | None:
    held = capacities(problem, level)
    last = reach[:, -1]
    if problem.aim is Aim.HEAVIEST:
        return int(held[last >= level].sum())
    if problem.aim is Aim.WIDEST:
        order = np.argsort(-last, kind="stable")
        enough = int(np.searchsorted(np.cumsum(held[order]), problem.tasks))
        return int(last[order[enough]]) // level
    can = np.flatnonzero((held @ (reach >= level)) >= problem.tasks)
    if can.size == 0:
        return None
    return int(can[0]) + 1 if problem.aim is Aim.EARLIEST else 1
