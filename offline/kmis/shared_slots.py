"""The two questions on boolean arrays. Numba is loaded by the first of them that is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType

import numpy as np
import numpy.typing as npt

from instances.errors import InputError
from offline.limits import Limits, Stopwatch
from offline.results import Status

__all__ = ["SharedSlots", "earliest_common_slots", "max_common_slots"]

Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SharedSlots:
    """Workers and slots in which they are all UP, and what is proven. A missing number is None.

    Parameters
    ----------
    workers
        m rows of the array, in increasing order; none if none are known.
    slots
        Columns in which all of them are UP, in increasing order: all of them for `max_common_slots`, the first w for
        `earliest_common_slots`.
    value
        How many slots they share, or how long a prefix they need; None without workers.
    bound
        Proven: nobody shares more slots than this, or nobody needs a shorter prefix. It is ``value`` if that is
        optimal.
    status
        ``OPTIMAL``; or, where the time was over, ``FEASIBLE``, or ``UNKNOWN`` as long as there are no workers.
    """

    workers: tuple[int, ...]
    slots: tuple[int, ...]
    value: int | None
    bound: int
    status: Status


def max_common_slots(up: Booleans, m: int, time_limit: float | None = None, *, at_least: int = 0) -> SharedSlots | None:
    """Find m workers that are UP together in as many slots as possible.

    Parameters
    ----------
    up
        Shape (p, N): whether worker q is UP in slot t.
    m
        How many workers, at least 1.
    time_limit
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
    Maximum k-subset intersection, NP-hard (Theorem 4.1 of the paper). `offline.kmis` tells the
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
    found = _driver().widest(up, m, Stopwatch(Limits(time_limit)), max(0, at_least - 1))
    value, bound = len(found.columns), found.bound
    if bound < at_least:
        return None
    if value < at_least:
        return SharedSlots((), (), None, bound, Status.UNKNOWN)
    status = Status.OPTIMAL if value == bound else Status.FEASIBLE
    return SharedSlots(tuple(found.rows), tuple(found.columns), value, bound, status)


def earliest_common_slots(up: Booleans, m: int, w: int, time_limit: float | None = None) -> SharedSlots | None:
    """Find the shortest prefix of the slots in which some m workers are UP together in w slots.

    Parameters
    ----------
    up
        Shape (p, N): whether worker q is UP in slot t.
    m, w
        How many workers, at least 1, and how many slots, at least 0.
    time_limit
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
    if w < 0:
        raise InputError(f"{w!r}, expected at least 0", place="w")
    found = _driver().earliest(up, m, w, Stopwatch(Limits(time_limit)))
    if found is None:
        return None
    if not found.rows:
        return SharedSlots((), (), None, found.bound, Status.UNKNOWN)
    value = found.columns[-1] + 1 if w else 0
    status = Status.OPTIMAL if value == found.bound else Status.FEASIBLE
    return SharedSlots(tuple(found.rows), tuple(found.columns), value, found.bound, status)


@cache
def _driver() -> ModuleType:
    from offline.kmis import exact as driver

    return driver


def _checked(up: Booleans, m: int) -> Booleans:
    array = np.asarray(up)
    if array.ndim != 2:
        raise InputError(f"{array.ndim} dimensions, expected 2: workers by slots", place="up")
    if array.dtype != np.bool_:
        if array.dtype.kind not in "iu" or not np.isin(array, (0, 1)).all():
            raise InputError(f"an array of {array.dtype}, expected booleans", place="up")
        array = array.astype(np.bool_)
    if m < 1:
        raise InputError(f"{m!r}, expected at least 1", place="m")
    return array
