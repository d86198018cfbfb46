"""Bounds where moves of checkpoints are paid (docs/bags/theory.md, H10)."""

import pytest

from hindsched.instances.bags import Store, check
from hindsched.instances.errors import InputError
from hindsched.offline.bags import solve
from hindsched.offline.bags.brute import optimum
from hindsched.offline.results import Status
from hindsched.online.bags import run_policy
from tests.cases.bags import letters, tiny


def test_bounds_hold_the_optimum_of_an_exhaustive_search() -> None:
    strict = proven = 0
    for i, free in enumerate(tiny(60, seed=8, store=Store.SHARED)):
        if free.segments == 1:
            continue
        instance = free.replace(move=1 + i % 3)
        best, found = optimum(instance), solve(instance)
        assert best is None or found.lower <= best
        assert found.value is None or (best is not None and best <= found.value)
        assert found.schedule is None or check(instance, found.schedule).is_valid
        assert found.status in (Status.OPTIMAL, Status.BOUNDS, Status.INFEASIBLE)
        proven += found.status is Status.OPTIMAL
        free_best = optimum(free)
        strict += best != free_best
        assert free_best is not None or best is None
        for policy in ("FCFS", "FCFS-TR", "WQR-FT", "LEVEL", "PACE"):
            turnaround = run_policy(instance, policy).turnaround
            assert turnaround is None or (best is not None and turnaround >= best)
    assert strict > 3  # some optimum pays
    assert proven > 10


def test_a_move_by_hand() -> None:
    # without a price the second segment runs on machine 1 at 4; a fetch of 2 ticks ends it at 7
    pair = letters("uuudddddd", "dddduuuuu", ticks=[2, 1], segments=2)
    assert [optimum(pair.replace(move=move)) for move in (0, 1, 2)] == [5, 6, 6]  # from 2 on it starts again: 4 to 6
    found = solve(pair.replace(move=2))
    assert (found.status, found.lower, found.value) == (Status.BOUNDS, 5, 6)
    assert found.by == "alone, free moves"


def test_only_auto_knows_paid_moves() -> None:
    paid = letters("uuu", "uuu", ticks=[1, 1], segments=2, tasks=2, move=1)
    with pytest.raises(InputError, match="solver: matching, expected auto: moves are paid"):
        solve(paid, solver="matching")
    # nothing is moved with private stores or one segment
    assert solve(paid, solver="closed", store="private").status is Status.OPTIMAL
    assert solve(paid.replace(segments=1), solver="closed").status is Status.OPTIMAL
