"""Intervals in which a machine is available, unavailable or claimed, and their conversion to states slot by slot.

Times are exact seconds: integers where possible, fractions otherwise. So slot borders are exact for large times and
for any slot length.
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

__all__ = ["UNOBSERVED", "Interval", "Presence", "Seconds", "exact_seconds", "join_touching", "to_states"]

Seconds: TypeAlias = int | Fraction

#: Code of a slot that was not observed. It is larger than every state and never occurs in an instance.
UNOBSERVED = 3


class Presence(StrEnum):
    """Whether a machine could be used."""

    AVAILABLE = "available"
    UNAVAILABLE = "unavailable"
    CLAIMED = "claimed"  #: On, but in use by its owner: RECLAIMED.


class Interval(NamedTuple):
    """The half-open interval of seconds ``[start, stop)``. One of length 0 is an instant, such as a short failure."""

    start: Seconds
    stop: Seconds
    presence: Presence


def exact_seconds(value: object, place: str) -> Seconds:
    """Return a number of seconds as an exact number; 0.1 means one tenth, not the nearest float.

    Raises
    ------
    InputError
        If the value is not a finite number. The message names ``place``.

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
    """Return an integer if the fraction is whole, because integers compute faster."""
    return number.numerator if number.denominator == 1 else number


def join_touching(intervals: Sequence[Interval]) -> list[tuple[Seconds, Seconds]]:
    """Join intervals that touch; return ``(start, stop)`` in order of time.

    For all intervals of a node the result is the longest periods without a gap in the observation.

    Examples
    --------
    >>> up = Presence.AVAILABLE
    >>> join_touching([Interval(0, 5, up), Interval(5, 9, up), Interval(12, 15, up)])
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
    """Convert intervals to states; shape (p, slots).

    Slot t is the seconds ``[start + t * slot_s, start + (t + 1) * slot_s)``. Its worst part decides its state: UP only
    if the machine is available throughout, RECLAIMED if every other part is claimed, and so on with ``unavailable`` and
    ``unobserved``. An instant counts in the slot that contains it.

    Parameters
    ----------
    rows
        The intervals of each of p machines, in order of time and without overlap.
    slot_s, start, slots
        Length of a slot in seconds (> 0), start of slot 0, number of slots.
    unavailable
        State of an unavailable part: RECLAIMED or DOWN.
    unobserved
        State of a part that no interval covers: RECLAIMED, DOWN or `UNOBSERVED`.

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
    """Yield the intervals and, with None, the gaps in the observation between ``start`` and ``stop``."""
    watched = start
    for interval in intervals:
        if watched < interval.start:
            yield watched, interval.start, None
        yield interval
        watched = max(watched, interval.stop)
    if watched < stop:
        yield watched, stop, None
