"""Deadlines of copies: the tolerated delay by time of the week (docs/bags/model.md section 3)."""

from __future__ import annotations

from fractions import Fraction

from hindsched.instances.bags.clock import TimeOfWeek, time_of_week
from hindsched.instances.errors import InputError
from hindsched.online.bags.checkpoints import PARTS
from hindsched.online.bags.visible import Copy, Problem

__all__ = ["day_tolerance_of", "deadline", "tolerance"]

_TOLERANCES = {TimeOfWeek.NIGHT: Fraction(1, 10), TimeOfWeek.WEEKEND: Fraction(1, 20)}


def tolerance(problem: Problem, instant: int, origin: int, by_day: Fraction | None = None) -> Fraction:
    """Return the tolerated delay of a copy, as a share of the time it needs.

    Parameters
    ----------
    problem
        Its clock gives the part of the week; a problem without clock counts as day.
    instant, origin
        The instant of the assignment, and the state from which the copy starts, in parts.
    by_day
        The tolerance by day; None: (3600 + x) / 27000, where x is the reference machine's time for the rest of the
        task in seconds, rounded up. Longer rests tolerate more.

    Examples
    --------
    >>> from hindsched.instances.bags import Instance
    >>> lone = Instance.from_letters(["u"], ticks=[1], slot=1, tasks=1, segments=2)
    >>> tolerance(Problem.of(lone), 0, 0), tolerance(Problem.of(lone), 0, PARTS)
    (Fraction(1, 5), Fraction(1, 6))
    >>> tolerance(Problem.of(lone.replace(clock_s=0)), 0, 0)
    Fraction(1, 20)
    """
    clock = problem.clock_ms(instant)
    part = TimeOfWeek.DAY if clock is None else time_of_week(clock)
    if part is not TimeOfWeek.DAY:
        return _TOLERANCES[part]
    if by_day is not None:
        return by_day
    whole = problem.segments * PARTS
    seconds = -(problem.reference_s * (origin - whole) // whole)
    return Fraction(3600 + seconds, 27000)


def deadline(problem: Problem, copy: Copy, by_day: Fraction | None = None) -> int:
    """Return the deadline of a copy in ticks: the time it needs and the tolerated delay, rounded up.

    Examples
    --------
    >>> from hindsched.instances.bags import Instance
    >>> lone = Instance.from_letters(["u"], ticks=[7], slot=1, tasks=1, segments=1)
    >>> deadline(Problem.of(lone), Copy(0, 0, since=10, origin=0, base=7))
    19
    """
    share = 1 + tolerance(problem, copy.since, copy.origin, by_day)
    return copy.since - (-copy.base * share.numerator // share.denominator)


def day_tolerance_of(value: object) -> Fraction | None:
    """Return the option ``day_tolerance`` exactly; None and ``"formula"`` mean the formula.

    Raises
    ------
    InputError
        Unless it is a number from 0 to 1000.
    """
    if value is None or value == "formula":
        return None
    try:
        share = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not (0 <= share <= 1000 and share.denominator <= 10**6):
        raise InputError(f"{value!r}, expected formula, or a number from 0 to 1000 such as 0.2", place="day_tolerance")
    return share
