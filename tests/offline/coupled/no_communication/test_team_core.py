"""The back end ``core`` with all aims, with and without DOWN, with equal and unequal workers."""

import subprocess
import sys

import numpy as np
import pytest

from hindsched.offline.coupled.no_communication import team_brute, team_core, team_plain, weighted_search
from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots, value_of
from hindsched.offline.coupled.no_communication.subproblems import subproblem_starts
from hindsched.offline.coupled.no_communication.team_solvers import answer
from hindsched.offline.limits import Limits
from hindsched.offline.results import Status


def random_problem(rng: np.random.Generator, is_large: bool) -> CommonSlots:
    p = int(rng.integers(4, 12) if is_large else rng.integers(1, 5))
    slots = int(rng.integers(10, 90) if is_large else rng.integers(1, 14))
    up_share = rng.uniform(0.3, 0.95)
    down_share = (1 - up_share) * rng.choice([0, 0, 0.1, 0.4, 1])
    numbers = rng.random((p, slots))
    up = numbers < up_share
    down = ~up & (numbers < up_share + down_share)
    w = rng.integers(1, 5, p) if rng.random() < 0.6 else np.full(p, rng.integers(1, 4))
    most = rng.integers(0, 4, p) if rng.random() < 0.6 else np.full(p, rng.integers(1, 5))
    return CommonSlots(up, down, w, most, int(rng.integers(1, 7)), list(Aim)[int(rng.integers(4))])


@pytest.mark.parametrize("copies", [0, 24, 1000])
@pytest.mark.parametrize("wide", [1.0, 1.3, 100.0])
@pytest.mark.parametrize("is_large", [False, True])
def test_every_way_agrees_with_brute_force(
    copies: int, wide: float, is_large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team_core, "_MAX_COPIES_PER_WORKER", copies)
    monkeypatch.setattr(team_core, "_MAX_LENGTH_RATIO", wide)
    rng = np.random.default_rng([copies, int(wide * 10), is_large])
    for _ in range(120):
        problem = random_problem(rng, is_large)
        expected = (team_plain if is_large else team_brute).solve(problem)
        found = team_core.solve(problem)
        assert (found.status, found.value, found.bound) == (expected.status, expected.value, expected.bound)
        if found.schedule is not None:
            assert value_of(problem, found.schedule) == found.value


@pytest.mark.parametrize("aim", Aim)
@pytest.mark.parametrize("with_down", [False, True])
def test_a_stopped_search_claims_no_more_than_is_true(
    aim: Aim, with_down: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weighted_search, "_SLICE", 1000)
    rng = np.random.default_rng(11)
    for _ in range(10):
        numbers = rng.random((60, 400))
        up = numbers < 0.5
        down = numbers > (0.98 if with_down else 1)
        w = rng.integers(8, 14, 60)
        most = rng.integers(1, 3, 60)
        problem = CommonSlots(up, down, w, most, int(rng.integers(9, 13)), aim)
        found = answer(problem, "core", Limits(time_limit_s=0.01))
        best = answer(problem, "core", Limits(time_limit_s=2))
        sign = 1 if aim.is_maximal else -1
        if best.status is Status.INFEASIBLE:
            assert found.status in (Status.UNKNOWN, Status.INFEASIBLE)
        if found.status is Status.INFEASIBLE:
            assert best.status is Status.INFEASIBLE
        if found.value is not None and best.status is Status.OPTIMAL:
            assert found.bound is not None
            assert best.value is not None
            assert sign * found.value <= sign * best.value <= sign * found.bound


def test_the_first_of_workers_that_return_together_leads() -> None:
    problem = CommonSlots.of_rows(["d111", "d110", "1111"], tasks=2, aim=Aim.WIDEST)
    subproblems = [start.subproblem() for start in subproblem_starts(problem)]
    assert [(subproblem.leader, subproblem.workers.tolist()) for subproblem in subproblems] == [
        (None, [2]),
        (0, [1, 2]),
        (1, [2]),
    ]
    assert subproblems[1].up.tolist() == [[True, True, False], [True, True, True]]


@pytest.mark.parametrize("aim", Aim)
def test_many_slots_and_many_failures(aim: Aim) -> None:
    rng = np.random.default_rng(5)
    runs = rng.integers(0, 3, (12, 120)).repeat(7, axis=1)
    problem = CommonSlots(runs == 0, runs == 2, np.full(12, 3), np.ones(12, np.int64), 4, aim)
    found, expected = answer(problem, "core"), answer(problem, "plain")
    assert (found.status, found.value) == (expected.status, expected.value)


def test_nothing_loads_numba_before_it_is_needed() -> None:
    code = (
        "import sys, hindsched.offline.coupled.no_communication.team_solvers, hindsched.offline.kmis.api as p;"
        "assert 'numba' not in sys.modules; import numpy;"
        "assert p.max_common_slots(numpy.ones((2, 3), bool), 2).value == 3; assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
