"""All four optima: exhaustive search, orderings, statuses, limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ortools.sat.python import cp_model

from hindsched.instances.bags import Instance, Store, check
from hindsched.instances.bags.generate import paper
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN
from hindsched.offline import limits
from hindsched.offline.bags import SOLVERS, composition_bound, exact_solvers, feasibility_cpsat, solve
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.brute import optimum
from hindsched.offline.bags.shared_store import BoundsAndChains
from hindsched.offline.results import Status
from tests.cases.bags import chained, letters, randoms, tiny

VARIANTS = [(store, on_demand) for store in Store for on_demand in (False, True)]


def test_all_four_optima_by_exhaustive_search() -> None:
    for instance in tiny(45, seed=4):
        for store, on_demand in VARIANTS:
            case = instance.replace(store=store, on_demand=on_demand)
            found, expected = solve(case), optimum(case)
            assert found.value == expected
            assert found.status is (Status.INFEASIBLE if expected is None else Status.OPTIMAL)
            assert (found.lower, found.upper) == (expected, expected)


def test_three_segments_against_the_chain_model() -> None:
    ways = set()
    for instance in [*chained(20, seed=5, tasks=2), *chained(20, seed=6, tasks=3, segments=3, slots=12)]:
        found, model = solve(instance), solve(instance, solver="chains")
        assert (found.status, found.value) == (model.status, model.value)
        ways.add(found.by)
    assert {"count", "levels"} <= ways  # both a bound that is met and a proof by search


def test_tick_by_tick_program_agrees() -> None:
    for instance in tiny(20, seed=6, segments=3, slots=6):
        assert solve(instance, solver="ticks").value == solve(instance).value


def test_private_models_agree() -> None:
    for instance in chained(10, seed=7, store="private", segments=2, tasks=3):
        assert solve(instance, solver="chains").value == solve(instance).value


def test_orderings_and_certificates() -> None:
    for instance in randoms(60, seed=8, machines=5, slots=40, up=0.8, down=0.1):
        values = {}
        for store, on_demand in VARIANTS:
            case = instance.replace(store=store, on_demand=on_demand)
            found = solve(case)
            values[store, on_demand] = float("inf") if found.value is None else found.value
            if found.schedule is not None:
                verdict = check(case, found.schedule)
                assert verdict.is_valid
                assert verdict.outcome.turnaround == found.value
                assert found.schedule.instance == case.fingerprint
        whole = solve(
            instance.replace(segments=1, ticks=[instance.segments * t for t in instance.ticks]), on_demand=False
        )
        for store in Store:
            assert values[store, True] <= values[store, False]
        for on_demand in (False, True):
            assert values[Store.SHARED, on_demand] <= values[Store.PRIVATE, on_demand]
        assert values[Store.PRIVATE, False] <= (float("inf") if whole.value is None else whole.value)


@pytest.mark.parametrize(("kinds", "tasks", "start"), [("M04", 25, 2160), ("M04", 25, 2220), ("M01", 75, 300)])
def test_paper_size_is_proven(kinds: str, tasks: int, start: int) -> None:
    instance = paper(kinds, tasks=tasks, checkpoints=9, start=start, slots=600)
    found = solve(instance)
    assert found.status is Status.OPTIMAL
    fluid = solve(instance, on_demand=True)
    assert fluid.value <= found.value
    assert len(fluid.schedule.runs) < 400


def test_options_replace_those_of_the_instance() -> None:
    pair = letters("uuuu", "uduu", ticks=[5, 6], slot=4, tasks=2, segments=2)
    private = solve(pair, store="private", on_demand=True)
    assert private.value == solve(pair.replace(store="private", on_demand=True)).value == 16
    assert private.schedule.instance == pair.replace(store="private", on_demand=True).fingerprint


def test_same_seed_same_answer() -> None:
    instance = paper("M04", checkpoints=9, start=2220, slots=600)
    first, second = solve(instance, seed=3), solve(instance, seed=3)
    assert first.schedule == second.schedule
    assert first.counts == second.counts


def test_a_time_limit_leaves_bounds() -> None:
    instance = next(case for case in chained(200, seed=9) if solve(case).by == "levels")
    hurried = solve(instance, time_limit_s=1e-9)
    exact = solve(instance)
    assert exact.status is Status.OPTIMAL
    assert hurried.status in (Status.BOUNDS, Status.OPTIMAL)
    assert (hurried.limit, exact.limit) == (None if hurried.status is Status.OPTIMAL else limits.Limit.TIME, None)
    assert hurried.lower <= exact.value
    assert hurried.value is None or hurried.value >= exact.value


class Clock:
    """A clock that the test advances."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_all_widths_share_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(limits, "_clock", clock)
    left: list[float | None] = []

    def search(
        periods: Any, n: int, k: int, bound: Any, given: Any, watch: limits.Stopwatch, *, is_all: bool
    ) -> BoundsAndChains:
        assert is_all == (periods.horizon == 9000)
        left.append(watch.left_s())
        clock.now += 4.0
        return BoundsAndChains(bound[0])  # no schedule: more slots are read

    monkeypatch.setattr(exact_solvers, "shared_search", search)
    instance = letters(*["u" * 9000] * 2, ticks=[2, 2], tasks=2, segments=3)
    found = solve(instance, time_limit_s=10.0)
    assert left == [10.0, 6.0, 2.0, 0.0, 0.0]
    assert found.status is Status.BOUNDS


def test_no_proof_is_attempted_within_some_of_the_slots_without_a_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    horizons: list[int] = []
    decide = feasibility_cpsat.decide

    def recorded(periods: AvailabilityPeriods, *others: Any, **more: Any) -> feasibility_cpsat.Feasibility:
        horizons.append(periods.horizon)
        return decide(periods, *others, **more)

    monkeypatch.setattr(feasibility_cpsat, "decide", recorded)
    number = 0
    for short in list(chained(110, seed=21, up=0.75))[104:]:  # two of them need a proof
        states = np.pad(short.states, ((0, 0), (0, 1000 - short.slots)), constant_values=DOWN)
        horizons.clear()
        found = solve(short.replace(states=states))
        if found.status is Status.INFEASIBLE and horizons:
            assert set(horizons) == {1000 * short.slot}
            number += 1
        assert solve(short).value == found.value
    assert number == 2


def test_programs_of_the_composition_bound_get_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(limits, "_clock", clock)
    left: list[float] = []

    def solved(solver: cp_model.CpSolver, model: cp_model.CpModel) -> Any:
        left.append(solver.parameters.max_time_in_seconds)
        clock.now += 3.0
        return solver.solve(model)

    monkeypatch.setattr(composition_bound, "solve_interruptibly", solved)
    pair = letters("uuu", "uuu", ticks=[3, 9], slot=6)
    periods = AvailabilityPeriods.of_states(pair.states, pair.ticks, pair.slot)
    assert composition_bound.composition(periods, 2, 2, low=9, limits=limits.Limits(time_limit_s=7.0)) <= 12
    assert left == [7.0, 4.0, 1.0][: len(left)]
    assert len(left) > 1
    left.clear()
    assert composition_bound.composition(periods, 2, 2, low=9) == 12
    assert set(left) == {cp_model.CpSolver().parameters.max_time_in_seconds}  # no limit


def test_infeasible_is_a_result() -> None:
    for instance in (
        letters("dd", ticks=[1]),
        letters("uu", ticks=[3]),
        letters("ududu", ticks=[1], tasks=2, segments=2),
    ):
        for store, on_demand in VARIANTS:
            found = solve(instance, store=store, on_demand=on_demand)
            assert (found.status, found.value, found.lower, found.schedule) == (Status.INFEASIBLE, None, None, None)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_refuses_other_instances(name: str) -> None:
    wrong = {"closed": {}, "matching": {"segments": 3}}.get(name, {"on_demand": True})
    shared = letters("uuuuuuuu", ticks=[1], tasks=2, segments=2).replace(**wrong)
    with pytest.raises(InputError, match=name):
        solve(shared, solver=name)


def test_bad_options_are_refused() -> None:
    lone = Instance.from_letters(["u"], ticks=[1], slot=1, tasks=1, segments=1)
    for options, words in (
        ({"solver": "magic"}, "expected auto or one of"),
        ({"store": "cloud"}, "expected one of"),
        ({"time_limit_s": 0}, "expected seconds > 0"),
    ):
        with pytest.raises(InputError, match=words):
            solve(lone, **options)
