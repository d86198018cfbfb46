"""The composition bound (H4): each task is one chain, and its segments are split over machines of several speeds.

A chain that runs a_d of its k segments on machines with g_d ticks a segment needs sum of a_d g_d <= tau. So n such
splits must fit into the positions of each speed by tau, which a small integer program decides. Where there are many
speeds, neighbouring ones count as the fastest of them, which only weakens the bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
import numpy.typing as npt
from ortools.sat.python import cp_model

from hindsched.offline.backends.cpsat_runs import make_solver, solve_interruptibly
from hindsched.offline.bags.availability_periods import AvailabilityPeriods, Ints
from hindsched.offline.bags.closed_forms import least
from hindsched.offline.limits import Limits, Stopwatch

__all__ = ["composition"]

_EFFORT = 5.0  # deterministic seconds of CP-SAT for one instant
_MOST_SPLITS = 1500  # speeds are grouped until there are at most this many splits


def composition(
    periods: AvailabilityPeriods, tasks: int, segments: int, *, low: int = 0, limits: Limits | None = None
) -> int | None:
    """Return the least tau >= ``low`` by which n splits fit, where ``low`` is a known bound; None if there is none.

    If the time limit stops it, it returns the proven bound.

    Examples
    --------
    By 9 there are four positions, but a task on the slow one has no time for its other segment:

    >>> from hindsched.instances.states import from_letters
    >>> from hindsched.offline.bags.lower_bounds import area
    >>> both = AvailabilityPeriods.of_states(from_letters(["uuu", "uuu"]), [3, 9], slot=6)
    >>> area(both, 2, 2), composition(both, 2, 2)
    (9, 12)
    """
    limits = limits or Limits()
    watch = Stopwatch(limits)
    groups, speeds = _speeds(periods.ticks, segments)
    splits = np.array(list(_splits(segments, speeds.size)), dtype=np.int64)
    time = splits @ speeds
    group = groups[periods.machine]

    def holds(tau: int) -> bool:
        if watch.is_over():
            return True
        counts = np.bincount(group, periods.counts(tau), speeds.size).astype(np.int64)
        if counts.sum() < tasks * segments:
            return False
        return _fits(splits[time <= tau], counts, tasks, limits.seed, watch.left_s())

    return least(holds, low, periods.horizon)


def _speeds(ticks: Ints, segments: int) -> tuple[Ints, Ints]:
    """Return the group of each machine and the least ticks of each group, with few enough groups for the program."""
    distinct, index = np.unique(ticks, return_inverse=True)
    most = 1
    while most < distinct.size and comb(segments + most, most) <= _MOST_SPLITS:
        most += 1
    cuts = np.linspace(0, distinct.size, most + 1).astype(np.int64)[:-1] if distinct.size > most else None
    if cuts is None:
        return index, distinct
    return np.searchsorted(cuts, index, side="right") - 1, distinct[cuts]


def _splits(segments: int, speeds: int) -> Iterator[tuple[int, ...]]:
    """Yield all splits of the segments over the speeds."""
    if speeds == 1:
        yield (segments,)
        return
    for first in range(segments + 1):
        for others in _splits(segments - first, speeds - 1):
            yield (first, *others)


def _fits(splits: npt.NDArray[np.int64], counts: Ints, tasks: int, seed: int, left_s: float | None) -> bool:
    """Return whether n of these splits, with repetition, fit the positions of each speed; True if time is over."""
    model = cp_model.CpModel()
    times = [model.new_int_var(0, tasks, "") for _ in splits]
    model.add(sum(times) == tasks)
    for d, count in enumerate(counts.tolist()):
        model.add(cp_model.LinearExpr.weighted_sum(times, splits[:, d].tolist()) <= count)
    solver = make_solver(Limits(seed=seed), left_s, _EFFORT)
    return bool(solve_interruptibly(solver, model) != cp_model.INFEASIBLE)
