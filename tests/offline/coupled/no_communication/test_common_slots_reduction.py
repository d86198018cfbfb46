"""The reduction to common slots against an independent recursion, and against R1-R5."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsched import offline
from hindsched.instances import InputError, check
from hindsched.instances.coupled import Instance
from hindsched.offline.coupled.no_communication import common_slots_reduction
from hindsched.offline.coupled.objectives import Objective
from hindsched.offline.limits import Limits
from hindsched.offline.results import Status
from tests.cases.coupled import without_communication


def ends(instance: Instance) -> list[int]:
    """Return the least slots used by 1, 2, ... iterations, from all choices of a start and an end for each of them."""
    rows, slots, p = instance.states, instance.slots, instance.num_workers

    @cache
    def fits(start: int, stop: int) -> bool:
        """Return whether a team computes in its first slot ``start`` and its last slot ``stop`` - 1."""
        for members in range(1, 2**p):
            chosen = [q for q in range(p) if members >> q & 1]
            window = rows[chosen, start:stop]
            if (window == 2).any() or (window[:, [0, -1]] != 0).any():
                continue
            common = int((window == 0).all(axis=0).sum())
            if sum(min(instance.capacities[q], common // instance.w[q]) for q in chosen) >= instance.tasks:
                return True
        return False

    reached = [0]
    while True:
        after = [stop for stop in range(1, slots + 1) if any(fits(s, stop) for s in range(reached[-1], stop))]
        if not after:
            return reached[1:]
        reached.append(min(after))


@given(without_communication())
def test_makespan_and_iterations_agree_with_a_recursion_over_starts_and_ends(instance: Instance) -> None:
    expected = ends(instance)
    makespan = common_slots_reduction.solve(instance, Objective.MAKESPAN)
    enough = len(expected) >= instance.iterations
    assert makespan.status is (Status.OPTIMAL if enough else Status.INFEASIBLE)
    assert makespan.value == (expected[instance.iterations - 1] if enough else None)
    most = common_slots_reduction.solve(instance, Objective.ITERATIONS)
    assert (most.status, most.value, most.bound) == (Status.OPTIMAL, len(expected), len(expected))
    verdict = check(instance, most.schedule)
    assert (verdict.is_valid, verdict.outcome.iterations) == (True, len(expected))
    assert most.schedule.slots == instance.slots
    if enough:
        verdict = check(instance, makespan.schedule)
        assert (verdict.is_valid, verdict.outcome.makespan) == (True, makespan.value)
        assert makespan.schedule.slots == makespan.value


@settings(max_examples=40, deadline=None)
@given(without_communication(most_workers=3, most_slots=6), st.sampled_from(Objective))
def test_the_exhaustive_search_over_the_rules_agrees(instance: Instance, objective: Objective) -> None:
    expected = offline.solve(instance, objective, solver="brute")
    found = common_slots_reduction.solve(instance, objective)
    assert (found.status, found.value, found.bound) == (expected.status, expected.value, expected.bound)


@settings(max_examples=60, deadline=None)
@given(without_communication(letters="uuurrd"))
def test_largest_w_is_possible_and_the_next_is_not(instance: Instance) -> None:
    value = common_slots_reduction.largest_w(instance).value
    assert value is not None
    unit = int(np.gcd.reduce(instance.w))
    for factor, expected in ((value, Status.OPTIMAL), (value + 1, Status.INFEASIBLE)):
        if factor:
            scaled = instance.replace(w=tuple(factor * w // unit for w in instance.w))
            assert common_slots_reduction.exists(scaled).status is expected


@settings(max_examples=60, deadline=None)
@given(without_communication())
def test_largest_m_is_possible_and_the_next_is_not(instance: Instance) -> None:
    value = common_slots_reduction.largest_m(instance).value
    assert value is not None
    for tasks, expected in ((value, Status.OPTIMAL), (value + 1, Status.INFEASIBLE)):
        bounds = [tasks if mu is None else mu for mu in instance.mu]
        if tasks and sum(bounds) >= tasks:
            assert common_slots_reduction.exists(instance.replace(tasks=tasks)).status is expected


@given(without_communication(), st.integers(0, 8))
def test_starting_later_never_ends_earlier(instance: Instance, start: int) -> None:
    early, late = (common_slots_reduction.earliest_finish(instance, slot).value for slot in (start, start + 1))
    assert late is None or (early is not None and early <= late)


def test_an_earliest_finish_far_away_is_found() -> None:
    far = Instance.from_letters(["r" * 3000 + "uu", "u" * 3000 + "uu"], w=[1, 1], mu=[1, 1], tasks=2, iterations=2)
    assert common_slots_reduction.solve(far, Objective.MAKESPAN).value == 3002
    assert common_slots_reduction.earliest_finish(far, 3002).status is Status.INFEASIBLE


@pytest.mark.parametrize("objective", Objective)
def test_a_stopped_chain_of_iterations_keeps_a_true_bound(objective: Objective) -> None:
    states = np.where(np.random.default_rng(3).random((30, 600)) < 0.5, 0, 1).astype(np.uint8)
    instance = Instance(tasks=6, iterations=4, n_com=None, t_prog=0, t_data=0, w=(8,) * 30, mu=(1,) * 30, states=states)
    best = common_slots_reduction.solve(instance, objective).value
    assert best is not None
    for solver, limit in (("highs", 0.05), ("cpsat", 0.05), ("cpsat", 1.0)):
        found = common_slots_reduction.solve(instance, objective, solver, Limits(time_limit_s=limit))
        assert found.bound is not None
        assert found.bound <= best if objective is Objective.MAKESPAN else found.bound >= best
        assert found.status in (Status.UNKNOWN, Status.FEASIBLE, Status.OPTIMAL)
        if found.schedule is not None:
            assert check(instance, found.schedule).is_valid
            assert found.value is not None
            assert found.value >= best if objective is Objective.MAKESPAN else found.value <= best


@pytest.mark.parametrize("lengths", [{"t_prog": 1}, {"t_data": 2}])
def test_an_instance_with_communication_is_refused(lengths: dict[str, int]) -> None:
    instance = Instance.from_letters(["uu"], w=[1], tasks=1, **lengths)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="without communication"):
        common_slots_reduction.solve(instance, Objective.MAKESPAN)
