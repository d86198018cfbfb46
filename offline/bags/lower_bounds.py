"""Lower bounds for a shared store (H4): no schedule ends before any of them.

Not on demand, a schedule is n chains of k segments each (docs/bags/theory.md). A bound is None if the known slots do
not suffice.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from hindsched.instances.states import UP, States
from hindsched.offline.bags.availability_periods import AvailabilityPeriods, Ints
from hindsched.offline.bags.closed_forms import least

__all__ = ["area", "count", "fluid", "fluid_ticks", "up_time"]

_CHUNK = 64  # slots that are read first; twice as many each further time


def count(periods: AvailabilityPeriods, tasks: int, segments: int, *, low: int = 0) -> int | None:
    """Return the least tau with n k positions.

    Every segment occupies a position of its own. O(R log horizon).
    """
    return least(lambda tau: int(periods.counts(tau).sum()) >= tasks * segments, low, periods.horizon)


def area(periods: AvailabilityPeriods, tasks: int, segments: int, *, low: int = 0) -> int | None:
    """Return the least tau whose n k fastest positions need no more ticks than min(n, UP machines) offer by then.

    At most n segments run at an instant, and together they take at least the ticks of the n k fastest positions.
    O(R log horizon).
    """
    order = np.argsort(periods.ticks[periods.machine], kind="stable")
    ticks = periods.ticks[periods.machine][order]
    needed = tasks * segments

    def holds(tau: int) -> bool:
        taken = np.minimum(np.cumsum(periods.counts(tau)[order]), needed)
        if not taken.size or taken[-1] < needed:
            return False
        return int((np.diff(taken, prepend=0) * ticks).sum()) <= up_time(periods, tasks, tau)

    return least(holds, low, periods.horizon)


def up_time(periods: AvailabilityPeriods, most: int, tau: int) -> int:
    """Return the integral over [0, tau) of min(most, UP machines)."""
    if most >= periods.ticks.size:
        return int(periods.caps(tau).sum())
    begun = periods.start < tau
    start, end = periods.start[begun], np.minimum(periods.end[begun], tau)
    times = np.concatenate([start, end])
    order = np.argsort(times, kind="stable")
    times = times[order]
    steps = np.concatenate([np.ones(start.size, dtype=np.int64), -np.ones(end.size, dtype=np.int64)])[order]
    up = np.minimum(np.cumsum(steps)[:-1], most)
    return int((up * np.diff(times)).sum())


def fluid_ticks(periods: AvailabilityPeriods, states: States, slot: int, tasks: int, segments: int) -> Fraction | None:
    """Return the least rational tau by which the min(n, UP) fastest UP machines have done n k segments (H3).

    Parameters
    ----------
    periods
        Give the ticks of a segment.
    states, slot
        Shape (p, N), and ticks of a slot.
    tasks, segments
        n and k.

    Notes
    -----
    It bounds every schedule with a shared store: at most n machines serve at an instant, no segment counts twice. On
    demand it is the optimum (`hindsched.offline.bags.fluid_schedule`). O(p N) array steps up to tau; sums are exact.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> states = from_letters(["uu", "ud"])
    >>> both = AvailabilityPeriods.of_states(states, [10, 15], slot=10)
    >>> fluid_ticks(both, states, 10, tasks=2, segments=1)
    Fraction(40, 3)
    """
    order = np.argsort(periods.ticks, kind="stable")
    speeds, firsts = np.unique(periods.ticks[order], return_index=True)
    goal = Fraction(tasks * segments, slot)  # in units of slots / ticks
    done = [0] * speeds.size  # machine-slots of each speed
    at, width = 0, _CHUNK
    while at < states.shape[1]:
        up = states[order, at : at + width] == UP
        if tasks < up.shape[0]:
            up &= np.cumsum(up, axis=0) <= tasks
        used = np.add.reduceat(up.astype(np.int64), firsts, axis=0)
        whole = [a + int(b) for a, b in zip(done, used.sum(axis=1), strict=True)]
        if _work(whole, speeds) >= goal:
            return _crossing(done, used, speeds, goal, at, slot)
        done, at, width = whole, at + width, 2 * width
    return None


def _work(machine_slots: list[int], speeds: Ints) -> Fraction:
    return sum((Fraction(c, int(g)) for c, g in zip(machine_slots, speeds, strict=True) if c), Fraction(0))


def _crossing(done: list[int], used: Ints, speeds: Ints, goal: Fraction, at: int, slot: int) -> Fraction:
    """Return the instant at which the work reaches the goal, within these slots."""
    sums = np.cumsum(used, axis=1)

    def by(slots: int) -> list[int]:
        return [a + (int(b) if slots else 0) for a, b in zip(done, sums[:, slots - 1], strict=True)]

    low, high = 0, used.shape[1]  # reached by `high` slots, not by `low`
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _work(by(middle), speeds) >= goal else (middle, high)
    rate = _work([int(c) for c in used[:, low]], speeds)
    return slot * (at + low + (goal - _work(by(low), speeds)) / rate)


def fluid(periods: AvailabilityPeriods, states: States, slot: int, tasks: int, segments: int) -> int | None:
    """Return `fluid_ticks` rounded up: not on demand the last completion is an integer."""
    exact = fluid_ticks(periods, states, slot, tasks, segments)
    return None if exact is None else ceil(exact)
