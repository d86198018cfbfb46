"""Exact tolerances by the clock."""

from fractions import Fraction

import pytest

from hindsched.instances.errors import InputError
from hindsched.online.bags.checkpoints import PARTS
from hindsched.online.bags.deadlines import day_tolerance_of, deadline, tolerance
from hindsched.online.bags.visible import Copy, Problem
from tests.cases.bags import letters

HOUR = 3600


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "1/20"),  # Monday before 8:00 is still the weekend
        (8 * HOUR - 1, "1/20"),
        (8 * HOUR, "1/5"),
        (28 * HOUR - 1, "1/5"),
        (28 * HOUR, "1/10"),
        (32 * HOUR - 1, "1/10"),
        (32 * HOUR, "1/5"),
        (5 * 24 * HOUR + 5 * HOUR, "1/10"),  # Saturday morning is a night like others
        (5 * 24 * HOUR + 21 * HOUR - 1, "1/5"),
        (5 * 24 * HOUR + 21 * HOUR, "1/20"),
        (6 * 24 * HOUR + 5 * HOUR, "1/20"),
        (6 * 24 * HOUR + 12 * HOUR, "1/20"),
    ],
)
def test_the_week(seconds: int, expected: str) -> None:
    problem = Problem.of(letters("u", ticks=[1], clock_s=seconds))
    assert tolerance(problem, 0, 0) == Fraction(expected)
    turned = Problem.of(letters("u", ticks=[1], clock_s=0, tick_ms=1000))
    assert tolerance(turned, seconds, 0) == Fraction(expected)
    assert tolerance(turned, seconds + 7 * 24 * HOUR, 0) == Fraction(expected)


def test_by_day_longer_rests_tolerate_more() -> None:
    problem = Problem.of(letters("u", ticks=[1], segments=3, reference_s=7200))
    assert tolerance(problem, 0, 0) == Fraction(2, 5)
    assert tolerance(problem, 0, PARTS) == Fraction(3600 + 4800, 27000)
    assert tolerance(problem, 0, PARTS + 1) == Fraction(3600 + 4800, 27000)  # 4799.9999976 s, rounded up
    assert tolerance(problem, 0, 0, Fraction(1, 3)) == Fraction(1, 3)


def test_deadlines_are_rounded_up() -> None:
    for clock, share in ((None, Fraction(6, 5)), (0, Fraction(21, 20)), (28 * HOUR, Fraction(11, 10))):
        problem = Problem.of(letters("u", ticks=[1], clock_s=clock))
        for base in range(1, 50):
            late = deadline(problem, Copy(0, 0, since=3, origin=0, base=base))
            assert late - 1 < 3 + base * share <= late


def test_the_option() -> None:
    assert day_tolerance_of(None) is None
    assert day_tolerance_of("formula") is None
    assert day_tolerance_of("0.2") == day_tolerance_of(0.2) == day_tolerance_of("1/5") == Fraction(1, 5)
    for bad in ("much", "-1", "1/0", "1e9", "nan"):
        with pytest.raises(InputError, match="day_tolerance"):
            day_tolerance_of(bad)
