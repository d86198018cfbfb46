"""Optima in closed form: private disks (H1, H2), one task alone (H5), and machines that never fail.

Each is the least instant at which a count, that only grows with time, reaches what is needed; docs/bags/theory.md has
the proofs. What never reaches it is None.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hindsched.offline.bags.availability_periods import AvailabilityPeriods, Ints

__all__ = ["alone", "alone_ends", "kept_on_disk", "least", "up_ticks", "whole_by", "whole_segments"]


def least(holds: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the least integer in [low, high] for which a monotone statement holds, None if it does for none.

    It is asked at ``low`` first, then at ever larger steps, then by bisection: few times if ``low`` is a good bound.

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
    """H1: the optimum where a task stays on one machine and only whole segments are saved.

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
    Valid for k = 1 with any store, and for private stores; not on demand. A segment lives in one period, and a
    completed task owns k segments of one machine (replicas own segments too, so they add nothing); conversely a machine
    with floor(positions / k) = c completes c tasks by running their segments in order. O(R log horizon).

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> halves = AvailabilityPeriods.of_states(from_letters(["uduu", "uuuu"]), [10, 15], slot=10)
    >>> whole_segments(halves, tasks=2, segments=2)
    30
    """
    return least(lambda tau: int(whole_by(periods, segments, tau).sum()) >= tasks, low, periods.horizon)


def whole_by(periods: AvailabilityPeriods, segments: int, tau: int) -> Ints:
    """Return how many whole tasks each machine can run by tau on its own; shape (p,)."""
    return _by_machine(periods, periods.counts(tau)) // segments


def kept_on_disk(periods: AvailabilityPeriods, tasks: int, segments: int, *, low: int = 0) -> int | None:
    """H2: the optimum with private disks on demand, the least tau with sum of floor(UP ticks / (k g)) >= n.

    Saved at the end of every period, no UP tick is lost, and a task cannot leave its machine. O(R log horizon).

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> kept_on_disk(AvailabilityPeriods.of_states(from_letters(["uduu"]), [15], slot=10), tasks=1, segments=2)
    40
    """
    return least(
        lambda tau: int((up_ticks(periods, tau) // (segments * periods.ticks)).sum()) >= tasks,
        low,
        periods.horizon,
    )


def up_ticks(periods: AvailabilityPeriods, tau: int) -> Ints:
    """Return how many UP ticks each machine has before tau; shape (p,)."""
    return _by_machine(periods, periods.caps(tau))


def _by_machine(periods: AvailabilityPeriods, values: Ints) -> Ints:
    sums = np.zeros(periods.ticks.size, dtype=np.int64)
    np.add.at(sums, periods.machine, values)
    return sums


def alone(periods: AvailabilityPeriods, segments: int) -> int | None:
    """H5: the optimum of one task with shared disks, not on demand; a lower bound for any number of tasks."""
    ends = alone_ends(periods, segments)
    return ends[-1][2] if len(ends) == segments else None


def alone_ends(periods: AvailabilityPeriods, segments: int) -> list[tuple[int, int, int]]:
    """Return (period, start, end) of the segments of one task, each ended as early as can be.

    Shorter than ``segments`` if the task cannot be completed. O(k R).

    Notes
    -----
    Let e_j be the least instant at which j segments can have been done. A segment j + 1 starts at e_j or later and its
    end does not decrease with its start, so starting from e_j loses nothing.

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
