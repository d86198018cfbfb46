"""Levels: a schedule by an instant tau as an assignment of segment numbers to positions, since tasks are equal.

With a shared store, not on demand, a schedule by tau is n chains of k segments. It suffices to assign levels 1..k to
positions, n of each, and times, such that at each start of level l + 1 at least as many segments of level l have ended
as segments of level l + 1 have started, including that one. Then the i-th start of level l + 1 continues the i-th end
of level l.

A position may lie anywhere between leftmost and rightmost, in the order of its period. Here it lies in one of a few
*cells*, evenly spread from leftmost (0) to rightmost (the last), which do not decrease along a period. So every result
is a schedule, but not every schedule is found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hindsched.offline.bags.availability_periods import AvailabilityPeriods, Ints, Positions
from hindsched.offline.bags.closed_forms import alone_ends
from hindsched.offline.bags.matching import Segment

__all__ = ["AnnealingParameters", "LevelGrid", "chains_of", "earliest_starts", "find_levels", "grid_by", "latest_ends"]


@dataclass(frozen=True, slots=True)
class AnnealingParameters:
    """Parameters of the simulated annealing.

    Parameters
    ----------
    steps
        Steps for each position in the first run.
    growth
        Factor of the steps of each further run.
    hot, cold
        First and last temperature, in missing segments.
    reach
        Largest distance of positions that exchange levels, as a fraction of all positions; at least 10.
    """

    steps: int = 1200
    growth: int = 3
    hot: float = 3.0
    cold: float = 0.15
    reach: float = 0.25


_PARAMETERS = AnnealingParameters()


@dataclass(frozen=True, slots=True, eq=False)
class LevelGrid:
    """Positions by an instant, in order of their leftmost starts, with the times of their cells.

    Parameters
    ----------
    tau
        The instant.
    period
        Shape (P,).
    start, end
        Shape (P, cells), in ticks.
    before, after
        Shape (P,): the neighbours in the same period, -1 for none.
    low, high
        Shape (P,): no schedule by tau has a level outside [low, high] there.
    """

    tau: int
    period: Ints
    start: Ints
    end: Ints
    before: Ints
    after: Ints
    low: Ints
    high: Ints


def earliest_starts(periods: AvailabilityPeriods, segments: int) -> Ints:
    """Return the earliest start of each level 1..k that can start at all; shape (levels,)."""
    ends = [end for _, _, end in alone_ends(periods, segments)]
    return np.array([0, *ends[: segments - 1]], dtype=np.int64)


def latest_ends(periods: AvailabilityPeriods, segments: int, tau: int) -> Ints:
    """Return for r = 0..k - 1 the latest end of a segment that r more can follow by tau; shape (k,), -1 if none exists.

    The mirror image of `alone_ends`: each of the r segments is as late as possible, from the last one backwards. O(k
    R).
    """
    ends = np.full(segments, -1, dtype=np.int64)
    ends[0] = tau
    ticks = periods.ticks[periods.machine]
    for r in range(1, segments):
        caps = periods.caps(int(ends[r - 1]))
        fits = np.flatnonzero(caps >= ticks)
        if not fits.size:
            break
        ends[r] = periods.start_at(fits, (caps - ticks)[fits]).max()
    return ends


def grid_by(periods: AvailabilityPeriods, segments: int, tau: int, cells: int) -> LevelGrid:
    """Return the grid of all positions by tau; O(P (cells + k))."""
    at = periods.positions(tau)
    order = np.lexsort((at.first_end, at.first_start))
    place = np.empty(len(at), dtype=np.int64)
    place[order] = np.arange(len(at))
    start, end = _times(periods, at, tau, cells)
    begins = earliest_starts(periods, segments)
    rests = latest_ends(periods, segments, tau)
    return LevelGrid(
        tau=tau,
        period=at.period[order],
        start=start[order],
        end=end[order],
        before=_neighbours(at, place, -1)[order],
        after=_neighbours(at, place, 1)[order],
        low=1 + np.sum(end[order, :1] > rests, axis=1),  # too few levels could follow
        high=np.sum(start[order, -1:] >= begins, axis=1),
    )


def _times(periods: AvailabilityPeriods, at: Positions, tau: int, cells: int) -> tuple[Ints, Ints]:
    caps = periods.caps(tau)[at.period]
    slack = caps % at.ticks
    parts = np.arange(cells) / max(cells - 1, 1)
    work = (at.number * at.ticks)[:, None] + (slack[:, None] * parts).astype(np.int64)
    where = np.broadcast_to(at.period[:, None], work.shape)
    return periods.start_at(where, work), periods.end_at(where, work + at.ticks[:, None])


def _neighbours(at: Positions, place: Ints, step: int) -> Ints:
    """Return the place of the next (step 1) or previous (-1) position of the same period, -1 for none."""
    found = np.full(len(at), -1, dtype=np.int64)
    if len(at) > 1:
        same = at.period[1:] == at.period[:-1]
        if step > 0:
            found[:-1][same] = place[1:][same]
        else:
            found[1:][same] = place[:-1][same]
    return found


def find_levels(
    grid: LevelGrid, tasks: int, segments: int, *, tries: int, seed: int, work: int | None = None
) -> tuple[Ints, Ints] | None:
    """Search for levels and cells of a schedule by simulated annealing.

    Parameters
    ----------
    grid
        The positions.
    tasks, segments
        n and k.
    tries
        Number of runs, each with more steps.
    seed
        Seed of the random numbers.
    work
        Largest number of steps of a run; None: in proportion to the positions.

    Returns
    -------
    tuple or None
        Level and cell of each position; None if the search has found no schedule, which proves nothing.
    """
    from hindsched.offline.bags.kernels.annealing import THRESHOLDS, anneal

    size = grid.period.size
    if size < tasks * segments:
        return None
    times, index = np.unique(np.concatenate([grid.start.ravel(), grid.end.ravel()]), return_inverse=True)
    start, end = (np.ascontiguousarray(part.reshape(grid.start.shape)) for part in np.split(index.astype(np.int64), 2))
    steps = _PARAMETERS.steps * size
    for attempt in range(tries):
        level = np.zeros(size, dtype=np.int64)
        level[: tasks * segments] = np.repeat(np.arange(1, segments + 1), tasks)
        cell = np.zeros(size, dtype=np.int64)
        steps = steps if work is None else min(steps, work)
        missing = anneal(
            level,
            cell,
            start,
            end,
            grid.before,
            grid.after,
            grid.low,
            grid.high,
            np.zeros((segments + 1, times.size + 1), dtype=np.int64),
            THRESHOLDS,
            segments,
            max(10, int(size * _PARAMETERS.reach)),
            steps,
            _PARAMETERS.hot,
            (_PARAMETERS.cold / _PARAMETERS.hot) ** (1 / steps),
            seed * 1000 + attempt,
        )
        if missing == 0:
            return level, cell
        steps *= _PARAMETERS.growth
    return None


def chains_of(grid: LevelGrid, tasks: int, segments: int, level: Ints, cell: Ints) -> list[list[Segment]]:
    """Return the segments of every task in order; the i-th start of a level continues the i-th end of the level before.

    Raises
    ------
    ValueError
        If these levels and cells are not a schedule.
    """
    every = np.arange(level.size)
    start, end = grid.start[every, cell], grid.end[every, cell]
    chains: list[list[Segment]] = [[] for _ in range(tasks)]
    order = list(range(tasks))
    for number in range(1, segments + 1):
        here = np.flatnonzero(level == number)
        here = here[np.argsort(start[here], kind="stable")]
        if here.size != tasks:
            raise ValueError(f"{here.size} positions of level {number}, expected {tasks}")
        for task, p in zip(order, here.tolist(), strict=True):
            if chains[task] and chains[task][-1][2] > start[p]:
                raise ValueError(f"task {task} starts segment {number} before it has ended the last one")
            chains[task].append((int(grid.period[p]), int(start[p]), int(end[p])))
        order.sort(key=lambda task: chains[task][-1][2])
    return chains
