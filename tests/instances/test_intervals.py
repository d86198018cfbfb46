import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsched.instances import InputError
from hindsched.instances.intervals import Interval, Presence, exact_seconds, to_states
from hindsched.instances.states import DOWN, RECLAIMED, UP, to_letters
from hindsched.instances.traces import Trace

A, X, C = Presence.AVAILABLE, Presence.UNAVAILABLE, Presence.CLAIMED


def _letters(trace, **choice):
    return to_letters(trace.states(**choice))


@some.composite
def rows_of_intervals(draw):
    moments = draw(some.lists(some.fractions(0, 20, max_denominator=6), min_size=2, max_size=12).map(sorted))
    kinds = [draw(some.sampled_from([A, A, X, C, None])) for _ in moments[1:]]
    return [Interval(a, b, kind) for (a, b), kind in zip(pairwise(moments), kinds, strict=True) if kind]


@given(
    rows_of_intervals(),
    some.fractions(Fraction(1, 7), 5, max_denominator=7),
    some.fractions(-3, 22, max_denominator=5),
    some.integers(0, 12),
    some.sampled_from([RECLAIMED, DOWN]),
    some.sampled_from([RECLAIMED, DOWN, 3]),
)
def test_the_worst_part_of_a_slot_decides_its_state(intervals, slot_s, start, slots, unavailable, unobserved):
    """Divide each slot at every border inside it, and take the worst of its parts and instants."""
    code = {A: UP, C: RECLAIMED, X: unavailable}
    expected = []
    for t in range(slots):
        begin, end = start + t * slot_s, start + (t + 1) * slot_s
        cuts = sorted({begin, end, *(m for i in intervals for m in (i.start, i.stop) if begin < m < end)})
        worst = UP
        for a, b in pairwise(cuts):
            inside = [i for i in intervals if i.start <= a and b <= i.stop]
            worst = max(worst, code[inside[0].presence] if inside else unobserved)
        instants = [i for i in intervals if i.start == i.stop and begin <= i.start < end]
        expected.append(max([worst, *(code[i.presence] for i in instants)]))
    states = to_states(
        [intervals], slot_s=slot_s, start=start, slots=slots, unavailable=unavailable, unobserved=unobserved
    )
    assert states.tolist() == [expected]


def test_slot_borders_do_not_drift():
    # Slots of 0.1 s at UNIX times: the float 0.1 leads to an error of a whole slot, and 1.1e9 + t * 0.1 is rounded.
    begin = 1_100_000_000
    ups = [Interval(begin + Fraction(t, 10), begin + Fraction(t + 1, 10), X if t % 3 else A) for t in range(3000)]
    trace = Trace(("n",), (tuple(ups),))
    assert _letters(trace, slot_s=0.1) == ["udd" * 1000]
    assert _letters(trace, slot_s="0.1", start=str(begin)) == ["udd" * 1000]
    far = Trace(("n",), ((Interval(begin, begin + 10**9, A), Interval(begin + 10**9, begin + 10**9 + 1, X)),))
    assert _letters(far, slot_s=0.1, start=begin + 10**9 - 1) == ["u" * 10 + "d" * 10]


@given(rows_of_intervals(), some.integers(1, 5))
def test_the_worse_half_of_a_slot_decides_its_state(intervals, slot_s):
    choice = {"start": 0, "unavailable": DOWN, "unobserved": RECLAIMED}
    whole = to_states([intervals], slot_s=slot_s, slots=8, **choice)
    halves = to_states([intervals], slot_s=Fraction(slot_s, 2), slots=16, **choice)
    assert (halves.reshape(1, 8, 2).max(axis=2) == whole).all()


@pytest.mark.parametrize("value", [math.nan, math.inf, Decimal("NaN"), Decimal("-Infinity"), True, None, "600", 1j])
def test_seconds_are_finite_numbers(value):
    with pytest.raises(InputError, match=r"^slot_s: .* expected a finite number of seconds"):
        exact_seconds(value, "slot_s")


@pytest.mark.parametrize(
    "value", [600, 600.0, Fraction(600), Decimal("6e2"), np.int64(600), np.float64(600)], ids=lambda v: type(v).__name__
)
def test_seconds_are_kept_exactly(value):
    assert exact_seconds(value, "slot_s") == 600
    assert type(exact_seconds(value, "slot_s")) is int
