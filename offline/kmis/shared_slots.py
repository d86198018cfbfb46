"""The answer of a k-subset intersection: rows, the columns that they share, and proven bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hindsched.offline.results import Status

__all__ = ["SharedSlots"]


@dataclass(frozen=True, slots=True)
class SharedSlots:
    """Rows, columns in which they are all True, and a bound. A missing number is None.

    Parameters
    ----------
    workers
        m rows of the array, in increasing order; empty if none are found.
    slots
        Columns that all of them share, in increasing order: all for `max_common_slots`, the first w for
        `earliest_common_slots`.
    value
        Number of columns that they share, or length of the prefix that they need; None without rows.
    bound
        Proven bound: no m rows share more columns, or need a shorter prefix. It is ``value`` if that is optimal.
    status
        ``OPTIMAL``; after a time limit ``FEASIBLE``, or ``UNKNOWN`` without rows.
    """

    workers: tuple[int, ...]
    slots: tuple[int, ...]
    value: int | None
    bound: int
    status: Status

    @classmethod
    def of(cls, rows: Iterable[int], columns: Iterable[int], value: int | None, bound: int) -> SharedSlots:
        """Return rows and columns with the status that value and bound imply."""
        status = Status.UNKNOWN if value is None else Status.OPTIMAL if value == bound else Status.FEASIBLE
        return cls(tuple(rows), tuple(columns), value, bound, status)
