"""Optima in closed form: private stores (H1, H2) and one task alone (H5).

Each optimum is the least instant at which a count that grows with time reaches a needed number, and None where it never
does. docs/bags/theory.md has the proofs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hindsched.offline.bags.availability_periods import AvailabilityPeriods, Ints

__all__ = ["alone", "alone_ends", "least", "private_on_demand", "up_ticks", "whole_by", "whole_segments"]


def least(holds: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the least integer in [low, high] for which a monotone statement holds; None if it holds for none.

    Tests ``low`` first, then values at growing steps, then bisects: few tests if ``low`` is a good bound.

    Examples
    --------
    >>> least(lambda x: x * x >= 50, 0, 100), least(lambda x: x > 9, 0, 5)
    (8, None)
    """
    if low > high:
        return None
    fails, at, step = low - 1, low, max(1, low // 128)
    while not holds(at):
        if at == high:
            return None
        fails, at, step = at, min(high, at + step), 2 * step
    while at - fails > 1:
        middle = (at + fails) // 2
        if holds(middle):
            at = middle
        else:
            fails = middle
    return at


def whole_segments(periods: AvailabilityPeriods, tasks: int, segments: int, *, low: int = 0) -> int | None:
    """Return the optimum where a task stays on one machine and only whole segments are saved (H1).

    Parameters
    ----------
    periods
        Of all machines.
    tasks, segments
        n and k.
    low
        A known lower bound.

    Returns
    -------
    int or None
        The least tau with sum over machines of floor(positions of the machine by tau / k) >= n.

    Notes
    -----
    Valid for k = 1 with any store, and for private stores, not on demand. A segment lies in one availability period,
    and a completed task has k segments of one machine. Conversely a machine with floor(positions / k) = c completes c
    tasks by running their segments in order. O(R log horizon).

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> halves = AvailabilityPeriods.of_states(from_letters(["uduu", "uuuu"]), [10, 15], slot=10)
    >>> whole_segments(halves, tasks=2, segments=2)
    30
    """
    return least(lambda tau: int(whole_by(periods, segments, tau).sum()) >= tasks, low, periods.horizon)


def whole_by(periods: AvailabilityPeriods, segments: int, tau: int) -> Ints:
    """Return the number of whole tasks that each machine alone can run by tau; shape (p,)."""
    return _by_machine(periods, periods.counts(tau)) // segments


def private_on_demand(periods: AvailabilityPeriods, tasks: int, segments: int, *, low: int = 0) -> int | None:
    """Return the optimum with private stores on demand: the least tau with sum of floor(UP ticks / (k g)) >= n (H2).

    Saving at the end of every availability period loses no UP tick. O(R log horizon).

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> private_on_demand(AvailabilityPeriods.of_states(from_letters(["uduu"]), [15], slot=10), tasks=1, segments=2)
    40
    """
    return least(
        lambda tau: int((up_ticks(periods, tau) // (segments * periods.ticks)).sum()) >= tasks,
        low,
        periods.horizon,
    )


def up_ticks(periods: AvailabilityPeriods, tau: int) -> Ints:
    """Return the number of UP ticks of each machine before tau; shape (p,)."""
    return _by_machine(periods, periods.caps(tau))


def _by_machine(periods: AvailabilityPeriods, values: Ints) -> Ints:
    sums = np.zeros(periods.ticks.size, dtype=np.int64)
    np.add.at(sums, periods.machine, values)
    return sums


def alone(periods: AvailabilityPeriods, segments: int) -> int | None:
    """Return the optimum of one task with a shared store, not on demand (H5): a lower bound for more tasks."""
    ends = alone_ends(periods, segments)
    return ends[-1][2] if len(ends) == segments else None


def alone_ends(periods: AvailabilityPeriods, segments: int) -> list[tuple[int, int, int]]:
    """Return (period, start, end) of the segments of one task, each with its earliest end; O(k R).

    The list is shorter than ``segments`` if the task cannot be completed.

    Notes
    -----
    Let e_j be the earliest end of segment j. Segment j + 1 starts at e_j or later, and its end does not decrease with
    its start, so a start at e_j is best.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> alone_ends(AvailabilityPeriods.of_states(from_letters(["udu", "uuu"]), [8, 12], slot=10), segments=3)
    [(0, 0, 8), (2, 8, 20), (1, 20, 28)]
    """
    found: list[tuple[int, int, int]] = []
    if not periods.machine.size:
        return found
    ticks = periods.ticks[periods.machine]
    totals = periods.caps(periods.horizon)
    now = 0
    for _ in range(segments):
        work = periods.caps(now)
        fits = np.flatnonzero(work + ticks <= totals)
        if not fits.size:
            break
        ends = periods.end_at(fits, (work + ticks)[fits])
        best = int(fits[np.argmin(ends)])
        start = int(periods.start_at(np.array([best]), work[[best]])[0])
        now = int(ends.min())
        found.append((best, start, now))
    return found
