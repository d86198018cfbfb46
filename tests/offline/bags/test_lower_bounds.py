"""Bounds are at most the optimum; closed forms agree with their definitions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hindsched.instances.states import UP
from hindsched.offline.bags import closed_forms, lower_bounds, solve
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.composition_bound import composition
from tests.cases.bags import chained, letters, randoms, tiny


def cut(instance) -> AvailabilityPeriods:
    return AvailabilityPeriods.of_states(instance.states, instance.ticks, instance.slot)


def test_bounds_are_below_the_optimum() -> None:
    sharp = dict.fromkeys(("alone", "fluid", "count", "area", "composition"), 0)
    for instance in chained(60, seed=10, up=0.95, down=0.03):
        n, k, periods = instance.tasks, instance.segments, cut(instance)
        best = solve(instance).value
        found = {
            "alone": closed_forms.alone(periods, k),
            "fluid": lower_bounds.fluid(periods, instance.states, instance.slot, n, k),
            "count": lower_bounds.count(periods, n, k),
            "area": lower_bounds.area(periods, n, k),
            "composition": composition(periods, n, k),
        }
        for name, value in found.items():
            if best is not None:
                assert value is not None
                assert value <= best
                sharp[name] += value == best
    assert all(sharp.values())


def test_one_task_alone_is_exact() -> None:
    for instance in [*tiny(30, seed=11, tasks=1, segments=3), *chained(20, seed=12, tasks=1)]:
        expected = solve(instance, solver="chains")
        assert closed_forms.alone(cut(instance), instance.segments) == expected.value


def test_least_finds_the_first_of_a_monotone_statement() -> None:
    for first in range(30):
        for low in range(0, first + 1, 3):
            assert closed_forms.least(lambda x, first=first: x >= first, low, 40) == first
    assert closed_forms.least(lambda x: False, 0, 40) is None
    assert closed_forms.least(lambda x: True, 5, 4) is None


def test_up_time_is_the_area_under_the_curve() -> None:
    for instance in randoms(40, seed=13, machines=4):
        periods = cut(instance)
        for most in (1, 2, 4, 9):
            tau = instance.horizon * 2 // 3
            ticks = [min(most, int((instance.states[:, t // instance.slot] == UP).sum())) for t in range(tau)]
            assert lower_bounds.up_time(periods, most, tau) == sum(ticks)


def test_fluid_by_its_definition() -> None:
    for instance in randoms(60, seed=14):
        n, k, length = instance.tasks, instance.segments, instance.slot
        done, expected = Fraction(0), None
        for t in range(instance.slots):
            fast = sorted(g for g, letter in zip(instance.ticks, instance.states[:, t], strict=True) if letter == UP)[
                :n
            ]
            rate = sum((Fraction(1, g) for g in fast), Fraction(0))
            if done + rate * length >= n * k:
                expected = t * length + (n * k - done) / rate
                break
            done += rate * length
        assert lower_bounds.fluid_ticks(cut(instance), instance.states, length, n, k) == expected


@pytest.mark.parametrize("down", [0.0, 0.2])
def test_private_forms_by_their_definitions(down: float) -> None:
    for instance in tiny(40, seed=15, up=0.6, down=down, slots=20, segments=2):
        n, k, periods = instance.tasks, instance.segments, cut(instance)
        whole = [tau for tau in range(instance.horizon + 1) if closed_forms.whole_by(periods, k, tau).sum() >= n]
        assert closed_forms.whole_segments(periods, n, k) == (whole[0] if whole else None)
        kept = []
        for tau in range(instance.horizon + 1):
            up = [(row[: tau // instance.slot] == UP).sum() * instance.slot for row in instance.states]
            rest = tau % instance.slot
            if rest:
                up = [u + rest * (row[tau // instance.slot] == UP) for u, row in zip(up, instance.states, strict=True)]
            if sum(u // (k * g) for u, g in zip(up, instance.ticks, strict=True)) >= n:
                kept.append(tau)
        assert closed_forms.private_on_demand(periods, n, k) == (kept[0] if kept else None)


def test_composition_can_exceed_the_other_bounds() -> None:
    pair = letters("uuu", "uuu", ticks=[3, 9], slot=6, tasks=2, segments=2)
    periods = cut(pair)
    assert lower_bounds.area(periods, 2, 2) == 9
    assert composition(periods, 2, 2, low=9) == 12 == solve(pair).value


def test_many_speeds_are_grouped_and_still_a_bound() -> None:
    for instance in chained(6, seed=16, machines=12, ticks=(2, 40), segments=5, tasks=3, up=0.95, down=0.03):
        found = composition(cut(instance), instance.tasks, instance.segments)
        assert found is None or found <= solve(instance).value
