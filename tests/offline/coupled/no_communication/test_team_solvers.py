"""Back ends of the common-slots problem: they agree, and their bounds are valid."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsched.instances import InputError, SelfCheckError
from hindsched.offline.coupled.no_communication import (
    team_brute,
    team_cpsat,
    team_greedy,
    team_ilp,
    team_lengths,
    team_periods,
    team_plain,
)
from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots, Team, value_of
from hindsched.offline.coupled.no_communication.team_solvers import BACKENDS, answer, choose
from hindsched.offline.limits import Limits
from hindsched.offline.results import Status
from tests.cases.coupled import dense_team_problem, team_problems

MODELS = ["cpsat", "highs", "cbc"]


@given(team_problems())
def test_plain_agrees_with_brute_force(problem: CommonSlots) -> None:
    expected, found = team_brute.solve(problem), answer(problem, "plain")
    assert (found.status, found.value, found.bound) == (expected.status, expected.value, expected.bound)


@pytest.mark.parametrize("solver", MODELS)
@settings(max_examples=40, deadline=None)
@given(problem=team_problems())
def test_models_agree_with_brute_force(solver: str, problem: CommonSlots) -> None:
    expected, found = team_brute.solve(problem), answer(problem, solver)
    assert (found.status, found.value, found.bound) == (expected.status, expected.value, expected.bound)


@given(team_problems(letters="uuud"))
def test_periods_agree_with_brute_force_without_reclaimed(problem: CommonSlots) -> None:
    assert choose(problem).name == "periods"
    expected, found = team_brute.solve(problem), answer(problem)
    assert (found.status, found.value) == (expected.status, expected.value)


@given(team_problems(letters="uuurrd"))
def test_where_periods_apply_reclaimed_counts_as_down(problem: CommonSlots) -> None:
    if not team_periods.is_easy(problem.up, problem.down):
        with pytest.raises(InputError, match="periods"):
            answer(problem, "periods")
        return
    expected, found = team_brute.solve(problem), answer(problem, "periods")
    assert (found.status, found.value) == (expected.status, expected.value)
    failing = replace(problem, down=~problem.up)
    assert team_brute.solve(failing).value == expected.value


@given(team_problems())
def test_the_cheap_bound_is_a_bound_and_greedy_never_better(problem: CommonSlots) -> None:
    best, bound, team = team_brute.solve(problem).value, team_lengths.bound(problem), team_greedy.greedy(problem)
    if best is None:
        assert team is None
        return
    assert bound is not None
    sign = 1 if problem.aim.is_maximal else -1
    assert sign * bound >= sign * best
    if team is not None:
        assert sign * value_of(problem, team) <= sign * best


@given(team_problems(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(problem: CommonSlots, shuffle: object) -> None:
    order = list(range(problem.num_rows))
    shuffle.shuffle(order)  # type: ignore[attr-defined]
    other = replace(
        problem, up=problem.up[order], down=problem.down[order], w=problem.w[order], most=problem.most[order]
    )
    assert answer(other, "plain").value == answer(problem, "plain").value


@given(team_problems(letters="uur"))
def test_a_slot_without_up_rows_changes_no_value(problem: CommonSlots) -> None:
    no_row_is_up = np.zeros((problem.num_rows, 1), dtype=bool)
    longer = replace(problem, up=np.hstack((no_row_is_up, problem.up)), down=np.hstack((no_row_is_up, problem.down)))
    before, after = answer(problem, "plain").value, answer(longer, "plain").value
    shift = 1 if problem.aim is Aim.EARLIEST and before is not None else 0
    assert after == (None if before is None else before + shift)


GOOD = CommonSlots.of_rows(["110111", "0111d1", "111111"], tasks=2, aim=Aim.EARLIEST)


@pytest.mark.parametrize(
    ("team", "reason"),
    [
        (Team({0: 1, 1: 1}, (0,)), "UP"),
        (Team({0: 1, 1: 1}, (3, 5)), "DOWN"),
        (Team({0: 1}, (0,)), "2 tasks"),
        (Team({0: 1, 2: 1}, ()), "1 slots"),
        (Team({0: 2}, (0, 1)), "most"),
        (Team({0: 1, 1: 0, 2: 1}, (3,)), "most"),
        (Team({0: 1, 3: 1}, (0,)), "rows"),
        (Team({0: 1, 2: 1}, (1, 0)), "increasing"),
        (Team({0: 1, 2: 1}, (5, 6)), "increasing"),
    ],
)
def test_an_invalid_team_raises(team: Team, reason: str) -> None:
    assert value_of(GOOD, Team({0: 1, 1: 1}, (1, 3))) == 2
    with pytest.raises(SelfCheckError, match=reason):
        value_of(GOOD, team)


@pytest.mark.parametrize("solver", ["cpsat", "highs", "cbc", "plain"])
@pytest.mark.parametrize("aim", [Aim.WIDEST, Aim.EARLIEST])
def test_a_stopped_back_end_claims_no_more_than_is_true(solver: str, aim: Aim) -> None:
    problem = dense_team_problem(40, 300, 0.5, seed=5, aim=aim, tasks=5, w=1 if aim is Aim.WIDEST else 18)
    best = team_plain.solve(problem).value
    found = answer(problem, solver, Limits(time_limit_s=0.2))
    assert best is not None
    assert found.bound is not None
    sign = 1 if aim.is_maximal else -1
    assert sign * found.bound >= sign * best
    if found.value is not None:
        assert sign * found.value <= sign * best
    assert (found.status is Status.OPTIMAL) == (found.value == found.bound)
    assert found.status is not Status.INFEASIBLE


@pytest.mark.parametrize("solver", MODELS)
def test_nothing_found_in_time_is_unknown_and_not_infeasible(solver: str) -> None:
    problem = dense_team_problem(30, 300, 0.5, seed=0, aim=Aim.EARLIEST, tasks=12, w=2)
    assert team_greedy.greedy(problem) is None
    for _ in range(5):  # CBC runs out of time in different places
        found = answer(problem, solver, Limits(time_limit_s=0.01))
        assert (found.status, found.value) == (Status.UNKNOWN, None)
        assert found.bound is not None


@pytest.mark.parametrize("formulation", team_ilp.Formulation)
@settings(max_examples=25, deadline=None)
@given(problem=team_problems())
def test_every_formulation_is_the_same_problem(formulation: team_ilp.Formulation, problem: CommonSlots) -> None:
    from hindsched.offline.backends.pulp_runs import run

    model = team_ilp.build(problem, None, formulation)
    claim = run(model.program, "highs", Limits(), None)
    expected = team_brute.solve(problem)
    assert claim.is_proven
    assert claim.has_solution == (expected.value is not None)
    if claim.has_solution and problem.aim is not Aim.ANY:
        assert round(model.program.objective.value()) == expected.value
    relaxed = team_ilp.linear_bound(problem, formulation)
    if expected.value is not None and problem.aim is not Aim.ANY:
        assert relaxed is not None
        sign = 1 if problem.aim.is_maximal else -1
        assert sign * relaxed >= sign * expected.value - 1e-6


def test_which_formulation_is_tight_depends_on_the_share_of_members() -> None:
    few = dense_team_problem(100, 100, 0.3, seed=1, aim=Aim.WIDEST, tasks=5)
    many = dense_team_problem(30, 60, 0.8, seed=1, aim=Aim.WIDEST, tasks=10)
    bounds = {
        problem.num_rows: [
            team_ilp.linear_bound(problem, formulation, is_bounded=False) for formulation in team_ilp.Formulation
        ]
        for problem in (few, many)
    }
    assert bounds[100] == pytest.approx([39.0, 95.0, 37.5], abs=0.1)
    assert bounds[30] == pytest.approx([46.2, 40.0, 39.9], abs=0.1)


@pytest.mark.parametrize("name", list(BACKENDS))
def test_every_back_end_has_a_solver(name: str) -> None:
    run: Callable[..., object] = BACKENDS[name].load()
    easy = CommonSlots.of_rows(["11", "11"], tasks=2, aim=Aim.WIDEST)
    assert answer(easy, name).value == 2
    assert callable(run)


def test_an_unknown_back_end_is_refused() -> None:
    with pytest.raises(InputError, match="expected auto or one of periods, core, plain"):
        answer(GOOD, "unknown")


@pytest.mark.parametrize(
    "changes",
    [
        {"w": np.array([0, 1, 1])},
        {"most": np.array([-1, 1, 1])},
        {"tasks": 0},
        {"down": GOOD.up},
        {"w": np.array([1, 1])},
        {"down": np.zeros((2, 6), dtype=bool)},
    ],
)
def test_arrays_that_make_no_problem_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(InputError, match="expected"):
        replace(GOOD, **changes)  # type: ignore[arg-type]


def test_cpsat_needs_a_proto_file_name(tmp_path: object) -> None:
    with pytest.raises(InputError, match=r"\.pb"):
        team_cpsat.write_model(GOOD, f"{tmp_path}/model.lp")
