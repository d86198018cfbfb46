"""Numbers and lists of names as text for tables and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

__all__ = ["MINUS", "NOTHING", "between", "count", "interval", "joined", "number", "parameter", "plural", "share"]

#: The text for a missing number, and the minus sign.
NOTHING, MINUS = "–", "−"  # noqa: RUF001


def number(value: float) -> str:
    """Return a number with about three digits.

    Examples
    --------
    >>> number(1.9349), number(12.345), number(2345.6), number(float("nan"))
    ('1.93', '12.3', '2,346', '–')
    """  # noqa: RUF002
    if isnan(value) or not isfinite(value):
        return NOTHING
    size = abs(value)
    return f"{value:.2f}" if size < 10 else f"{value:.1f}" if size < 100 else f"{value:,.0f}"


def interval(low: float, high: float) -> str:
    """Return an interval, or its ends as one number where they agree.

    Examples
    --------
    >>> interval(1.5, 1.5), interval(1.5, 2.0), interval(1.5, float("inf"))
    ('1.50', '1.50–2.00', '≥ 1.50')
    """  # noqa: RUF002
    if isnan(low) or not isfinite(low):
        return NOTHING
    if not isfinite(high):
        return f"≥ {number(low)}"
    return between(number(low), number(high))


def between(low: str, high: str) -> str:
    """Return the written ends of a range, or one of them where they agree."""
    return low if low == high else f"{low}–{high}"  # noqa: RUF001


def share(value: float) -> str:
    """Return a share in percent; 0% and 100% are exact.

    Examples
    --------
    >>> share(0.25), share(0.0123), share(0.0001), share(0.9999), share(0.0)
    ('25%', '1.2%', '<0.1%', '>99%', '0%')
    """
    if isnan(value):
        return NOTHING
    if 0 < value < 0.0995:
        return f"{value:.1%}" if value >= 0.001 else "<0.1%"
    return ">99%" if 0.99 < value < 1 else f"{value:.0%}"


def count(value: float) -> str:
    """Return an integer with thousands separators."""
    return f"{int(value):,}"


def plural(value: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> plural(1, "run"), plural(2000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def joined(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    Examples
    --------
    >>> joined(["IE"]), joined(["IE", "IP", "IY"])
    ('IE', 'IE, IP and IY')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def parameter(value: Any) -> str:
    """Return a parameter of the experiment; ``none`` for a missing one, which is unbounded."""
    import pandas as pd

    return "none" if pd.isna(value) else f"{value:g}"
