"""The two problems on boolean arrays; the first call loads numba."""

from __future__ import annotations

from functools import cache
from numbers import Integral
from types import ModuleType

import numpy as np
import numpy.typing as npt

from hindsched.instances.errors import InputError
from hindsched.offline.kmis.shared_slots import SharedSlots
from hindsched.offline.limits import Limits, Stopwatch

__all__ = ["earliest_common_slots", "max_common_slots"]

Booleans = npt.NDArray[np.bool_]


def max_common_slots(
    up: Booleans, m: int, time_limit_s: float | None = None, *, at_least: int = 0
) -> SharedSlots | None:
    """Find m workers that are UP together in as many slots as possible.

    Parameters
    ----------
    up
        Shape (p, N): whether worker q is UP in slot t.
    m
        Number of workers, at least 1.
    time_limit_s
        Seconds after which the best solution is returned with a proven bound; None: no limit.
    at_least
        Least number of slots of a solution; a larger one makes the search shorter.

    Returns
    -------
    SharedSlots or None
        None if there are fewer than m workers, or if no m workers share ``at_least`` slots.

    Raises
    ------
    InputError
        For an array that is not boolean and two-dimensional, m < 1, or a limit that is not positive.

    Notes
    -----
    Maximum k-subset intersection, NP-hard (Theorem 4.1 of the paper). `hindsched.offline.kmis` describes the
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
        Number of workers, at least 1, and number of slots, at least 0.
    time_limit_s
        Seconds after which the best solution is returned with a proven bound; None: no limit.

    Returns
    -------
    SharedSlots or None
        None if no m workers share w slots.

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
