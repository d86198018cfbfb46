"""Intervals of presence, and the states they make slot by slot: two views of one thing.

Times are seconds, exact: integers where they can be, fractions otherwise, so that the border of a slot is where it
is said to be, however large the times and however odd the slot length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from numbers import Integral
from typing import NamedTuple, TypeAlias

import numpy as np

from hindsched.instances.errors import InputError
from hindsched.instances.states import RECLAIMED, UP, States

__all__ = ["UNOBSERVED", "Interval", "Presence", "Seconds", "exact_seconds", "observed_spans", "to_states"]

Seconds: TypeAlias = int | Fraction

#: The code of a slot that nobody watched, above all states; never in an instance.
UNOBSERVED = 3


class Presence(StrEnum):
    """What a machine was for its owner's guests."""

    AVAILABLE = "available"
    UNAVAILABLE = "unavailable"
    CLAIMED = "claimed"  #: On, but its owner wants it: RECLAIMED.


class Interval(NamedTuple):
    """The seconds ``[start, stop)``, half-open; one of no length is an instant, which can be a short failure."""

    start: Seconds
    stop: Seconds
    presence: Presence


def exact_seconds(value: object, place: str) -> Seconds:
    """Return a number of seconds exactly; 0.1 means one tenth, not the float beside it.

    Raises
    ------
    InputError
        For anything but a finite number, naming ``place``.

    Examples
    --------
    >>> exact_seconds(0.1, "slot_s") * 10, exact_seconds(600.0, "slot_s")
    (Fraction(1, 1), 600)
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    try:
        if isinstance(value, float):
            return simplest(Fraction(repr(float(value))))
        if isinstance(value, Fraction | Decimal):
            return simplest(Fraction(value))
    except (ValueError, OverflowError):  # NaN and infinity
        pass
    raise InputError(f"{value!r}, expected a finite number of seconds", place=place)


def simplest(number: Fraction) -> Seconds:
    """Return an integer where the fraction is one: integers compute faster."""
    return number.numerator if number.denominator == 1 else number


def observed_spans(intervals: Sequence[Interval]) -> list[tuple[Seconds, Seconds]]:
    """Return the longest stretches without a hole in the observation, as ``(start, stop)`` in order of time.

    Examples
    --------
    >>> up = Presence.AVAILABLE
    >>> observed_spans([Interval(0, 5, up), Interval(5, 9, up), Interval(12, 15, up)])
    [(0, 9), (12, 15)]
    """
    spans: list[tuple[Seconds, Seconds]] = []
    for interval in intervals:
        if spans and spans[-1][1] == interval.start:
            spans[-1] = (spans[-1][0], interval.stop)
        else:
            spans.append((interval.start, interval.stop))
    return spans


def to_states(
    rows: Sequence[Sequence[Interval]],
    *,
    slot_s: Seconds,
    start: Seconds,
    slots: int,
    unavailable: int,
    unobserved: int = UNOBSERVED,
) -> States:
    """Return the states that intervals make; shape (p, slots).

    Slot t is the seconds ``[start + t * slot_s, start + (t + 1) * slot_s)``. It is as bad as the worst part of it:
    UP only if the machine is available throughout, RECLAIMED if every other part is claimed, and so on with
    ``unavailable`` and ``unobserved``. An instant counts in the slot that contains it.

    Parameters
    ----------
    rows
        For each of p machines its intervals, in order of time and without overlap.
    slot_s, start, slots
        Length of a slot (above 0), begin of slot 0, number of slots.
    unavailable
        What an unavailable part is: RECLAIMED or DOWN.
    unobserved
        What a part is that no interval covers: RECLAIMED, DOWN or `UNOBSERVED`.

    Notes
    -----
    O(intervals) steps in exact arithmetic, and O(p * slots) bytes written.

    Examples
    --------
    >>> intervals = [Interval(0, 25, Presence.AVAILABLE), Interval(25, 30, Presence.CLAIMED)]
    >>> to_states([intervals], slot_s=10, start=0, slots=4, unavailable=2).tolist()
    [[0, 0, 1, 3]]
    """
    codes = {Presence.AVAILABLE: UP, Presence.CLAIMED: RECLAIMED, Presence.UNAVAILABLE: unavailable, None: unobserved}
    states = np.full((len(rows), slots), UP, dtype=np.uint8)
    stop = start + slots * slot_s
    length = Fraction(slot_s)
    num, den = length.numerator, length.denominator
    for row, intervals in zip(states, rows, strict=True):
        for begin, end, presence in _with_holes(intervals, start, stop):
            if presence is Presence.AVAILABLE or end < start or begin >= stop:
                continue
            first = (begin - start) * den // num
            last = max(first, -((start - end) * den // num) - 1)  # the slot of the last second before ``end``
            part = row[max(first, 0) : max(last + 1, 0)]
            np.maximum(part, codes[presence], out=part)
    return states


def _with_holes(
    intervals: Sequence[Interval], start: Seconds, stop: Seconds
) -> Iterator[tuple[Seconds, Seconds, Presence | None]]:
    """Yield the intervals and, with None, the holes that nobody observed between ``start`` and ``stop``."""
    watched = start
    for interval in intervals:
        if watched < interval.start:
            yield watched, interval.start, None
        yield interval
        watched = max(watched, interval.stop)
    if watched < stop:
        yield watched, stop, None
