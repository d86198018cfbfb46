"""Schedules of plans: their text, and that they obey the rules."""

import pytest

from hindsched.instances import check
from hindsched.instances.coupled import Configuration, Instance
from hindsched.offline.coupled.plans import IterationPlan, emit, end_of


def test_members_and_stand_by() -> None:
    instance = Instance.from_letters(["uuuuud", "uuuuuu", "ruuuuu"], w=[1, 1, 1], tasks=2, t_prog=1, t_data=1)
    first = IterationPlan({0: 1, 1: 1}, {0: [0, 1], 1: [0, 2], 2: [1]}, 3)
    second = IterationPlan({2: 2}, {2: [4, 5]}, 6)
    schedule = emit(instance, [first])
    assert schedule.letters == ("PDIC", "PIDC", ".P..")
    assert schedule.configurations == (
        Configuration(0, {0: 1, 1: 1}),
        Configuration(1, {0: 1, 1: 1, 2: 0}),
        Configuration(2, {0: 1, 1: 1}),
    )
    assert check(instance, schedule).outcome.makespan == 4
    assert end_of(instance, second) is None
    with pytest.raises(ValueError, match="iteration 1 of the plan does not end"):
        emit(instance, [first, second])


def test_waiting_for_a_program_in_advance() -> None:
    instance = Instance.from_letters(["uuuudd", "uruuuu"], w=[1, 1], tasks=1, iterations=2, t_prog=1, t_data=1)
    first = IterationPlan({0: 1}, {0: [0, 1], 1: [2]}, 3)
    second = IterationPlan({1: 1}, {1: [4]}, 5)
    schedule = emit(instance, [first, second])
    assert schedule.letters == ("PDIC..", "..P.DC")
    assert schedule.configurations[1] == Configuration(2, {0: 0, 1: 0})  # the member waits, with its data
    verdict = check(instance, schedule)
    assert verdict.is_valid
    assert verdict.outcome.makespan == 6


def test_a_lost_program_is_sent_again() -> None:
    instance = Instance.from_letters(["uuduu"], w=[1], tasks=1, iterations=2, t_prog=1)
    plan = [IterationPlan({0: 1}, {0: [0]}, 1), IterationPlan({0: 1}, {0: [3]}, 4)]
    schedule = emit(instance, plan)
    assert schedule.letters == ("PC.PC",)
    assert check(instance, schedule).outcome.makespan == 5


def test_a_suspended_computation() -> None:
    instance = Instance.from_letters(["ururu"], w=[2], tasks=1)
    schedule = emit(instance, [IterationPlan({0: 1}, {}, 0)], slots=5)
    assert schedule.letters == ("CIC..",)
    assert check(instance, schedule).is_valid


def test_a_plan_may_not_go_back_in_time() -> None:
    instance = Instance.from_letters(["uuuu"], w=[1], tasks=1, t_data=1)
    iteration = IterationPlan({0: 1}, {0: [0]}, 1)
    with pytest.raises(ValueError, match="iteration 1 of the plan is served before slot 2"):
        emit(instance, [iteration, iteration])
