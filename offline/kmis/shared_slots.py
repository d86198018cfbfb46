"""The two questions on boolean arrays, and their answer. Numba is loaded by the first of them that is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from types import ModuleType

import numpy as np
import numpy.typing as npt

from hindsched.instances.errors import InputError
from hindsched.offline.limits import Limits, Stopwatch
from hindsched.offline.results import Status

__all__ = ["SharedSlots", "earliest_common_slots", "max_common_slots"]

Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SharedSlots:
    """Rows and columns in which they are all True, and what is proven. A missing number is None.

    Parameters
    ----------
    workers
        m rows of the array, in increasing order; none if none are known.
    slots
        Columns that all of them share, in increasing order: all of them for `max_common_slots`, the first w for
        `earliest_common_slots`.
    value
        How many columns they share, or how long a prefix they need; None without rows.
    bound
        Proven: no m rows share more columns than this, or need a shorter prefix. It is ``value`` if that is optimal.
    status
        ``OPTIMAL``; or, where the time was over, ``FEASIBLE``, or ``UNKNOWN`` as long as there are no rows.
    """

    workers: tuple[int, ...]
    slots: tuple[int, ...]
    value: int | None
    bound: int
    status: Status

    @classmethod
    def of(cls, rows: Iterable[int], columns: Iterable[int], value: int | None, bound: int) -> SharedSlots:
        """Return rows and columns with the status that their value and the bound make."""
        status = Status.UNKNOWN if value is None else Status.OPTIMAL if value == bound else Status.FEASIBLE
        return cls(tuple(rows), tuple(columns), value, bound, status)


def max_common_slots(
    up: Booleans, m: int, time_limit_s: float | None = None, *, at_least: int = 0
) -> SharedSlots | None:
    """Find m workers that are UP together in as many slots as possible.

    Parameters
    ----------
    up
        Shape (p, N): whether worker q is UP in slot t.
    m
        How many workers, at least 1.
    time_limit_s
        Seconds after which the best found is returned, with a proven bound; None: no limit.
    at_least
        Fewer slots are of no interest, which makes the search shorter.

    Returns
    -------
    SharedSlots or None
        None if there are fewer than m workers, or it is proven that no m workers share ``at_least`` slots.

    Raises
    ------
    InputError
        For an array that is not boolean and two-dimensional, m < 1, or a limit that is not positive.

    Notes
    -----
    Maximum k-subset intersection, NP-hard (Theorem 4.1 of the paper). `hindsched.offline.kmis` tells the
    algorithm and proves its bounds.

    Examples
    --------
    >>> up = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], dtype=bool)
    >>> found = max_common_slots(up, 2)
    >>> found.workers, found.slots, found.value, max_common_slots(up, 2, at_least=3)
    ((0, 1), (0, 3), 2, None)
    """
    up = _checked(up, m)
    if m > up.shape[0]:
        return None
    found: SharedSlots | None = _exact().widest(up, m, Stopwatch(Limits(time_limit_s)), max(0, at_least - 1))
    if found is None or found.bound < at_least:
        return None
    return found if len(found.slots) >= at_least else SharedSlots.of((), (), None, found.bound)


def earliest_common_slots(up: Booleans, m: int, w: int, time_limit_s: float | None = None) -> SharedSlots | None:
    """Find the shortest prefix of the slots in which some m workers are UP together in w slots.

    Parameters
    ----------
    up
        Shape (p, N): whether worker q is UP in slot t.
    m, w
        How many workers, at least 1, and how many slots, at least 0.
    time_limit_s
        Seconds after which the best found is returned, with a proven bound; None: no limit.

    Returns
    -------
    SharedSlots or None
        None if it is proven that no m workers share w slots.

    Raises
    ------
    InputError
        For an array that is not boolean and two-dimensional, m < 1, w < 0, or a limit that is not positive.

    Examples
    --------
    >>> up = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], dtype=bool)
    >>> earliest_common_slots(up, m=2, w=2).value, earliest_common_slots(up, m=3, w=2)
    (4, None)
    """
    up = _checked(up, m)
    if not isinstance(w, Integral) or w < 0:
        raise InputError(f"{w!r}, expected a whole number, at least 0", place="w")
    found: SharedSlots | None = _exact().earliest(up, m, w, Stopwatch(Limits(time_limit_s)))
    return found


@cache
def _exact() -> ModuleType:
    from hindsched.offline.kmis import exact

    return exact


def _checked(up: Booleans, m: int) -> Booleans:
    array = np.asarray(up)
    if array.ndim != 2:
        raise InputError(f"{array.ndim} dimensions, expected 2: workers by slots", place="up")
    if array.dtype != np.bool_:
        if array.dtype.kind not in "iu" or not np.isin(array, (0, 1)).all():
            raise InputError(f"an array of {array.dtype}, expected booleans", place="up")
        array = array.astype(np.bool_)
    if not isinstance(m, Integral) or m < 1:
        raise InputError(f"{m!r}, expected a whole number, at least 1", place="m")
    return array
