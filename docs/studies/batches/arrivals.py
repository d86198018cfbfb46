"""Test Hypothesis 1 of the paper: workers that call once a period arrive like a Poisson stream of rate P_active / T.

The paper's statistic is Table 1: in each simulation the p of Kolmogorov-Smirnov tests of 100 gaps is averaged over 100
random samples, and the table has the 5th percentile over the simulations. Here a simulation is a window of a week; its
rate is that of the P_active at its begin. Two statistics more are not the paper's: tests of 100 gaps in a row, at this
rate and at the mean of the week, and the counts per hour, whose variance over mean is 1 for a Poisson stream.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.instances.batches.availability import Availability, Ints
from hindsched.instances.batches.volunteers import DAY, HOUR, WEEK, Volunteers
from hindsched.instances.random_streams import stream

__all__ = ["DAYS", "PERIODS_H", "WINDOWS_S", "arrivals", "call_times", "p_values"]

PERIODS_H = (0.5, 1, 2, 4, 6, 8, 12, 16, 20, 24)
WINDOWS_S = (300, 900, 1800, 3600, 7200, 14_400)
#: Days on which a counted week begins: those of the experiment and 8 December; seeds take them in turn.
DAYS = (153, 214, 251, 275)
_SIMULATIONS, _SAMPLES, _GAPS = 60, 100, 100
#: Least number of gaps of a window that is tested.
_FEWEST_GAPS = 10

_Reals = npt.NDArray[np.float64]


def arrivals(workers: int, seeds: int) -> list[dict[str, Any]]:
    """Return a row per crowd and period, and one of a Poisson stream of the same mean gap.

    Parameters
    ----------
    workers
        Number of workers; 11,320 in the paper.
    seeds
        Number of crowds, each with a seed of its own.
    """
    rows = []
    for seed in range(seeds):
        day = DAYS[seed % len(DAYS)]
        since = (day - 2) * DAY  # two periods of a day before the week, so that P_active is known
        crowd = Volunteers(workers, seed).window(since, day * DAY + WEEK)
        for hours in PERIODS_H:
            period = round(hours * HOUR)
            phases = stream("batches", "arrivals", workers, seed, period).integers(0, period, size=workers)
            times, callers = call_times(crowd, since, day * DAY + WEEK, phases, period)
            draw = stream("batches", "arrivals", "tests", seed, period)
            found = _of_workers(times, callers, day * DAY, period, draw)
            even = np.sort(draw.random(found["contacts"])) * WEEK + day * DAY
            gap = WEEK / found["contacts"]
            poisson = {"mean_gap_s": gap} | _by_window(even, day * DAY, lambda _, gap=gap: gap, draw)  # type: ignore[misc]
            head = {"seed": seed, "day": day, "period_h": hours, "workers": workers}
            rows += [head | {"stream": "workers"} | found, head | {"stream": "Poisson"} | poisson]
    return rows


def call_times(crowd: Availability, begin: int, end: int, phases: Ints, period: int) -> tuple[Ints, Ints]:
    """Return times and callers of all calls in [begin, end), by time, if every worker calls once a period.

    A worker calls in its first available second from ``begin`` on, then after its phase, then after each period; an
    absent worker calls when it returns.
    """
    span = end + 1
    starts, stops = crowd.ups[:, 0].astype(np.int64), np.minimum(crowd.ups[:, 1], end).astype(np.int64)
    keys = np.repeat(np.arange(crowd.num_workers), np.diff(crowd.offsets)) * span + stops
    workers = np.arange(crowd.num_workers)
    earliest = np.full(crowd.num_workers, begin, dtype=np.int64)
    waits = phases
    times, callers = [], []
    while workers.size:
        rows = np.searchsorted(keys, workers * span + earliest, side="right")
        is_there = rows < crowd.offsets[workers + 1]
        workers, waits = workers[is_there], waits[is_there]
        calls = np.maximum(earliest[is_there], starts[rows[is_there]])
        is_early = calls < end
        workers, waits, calls = workers[is_early], waits[is_early], calls[is_early]
        times.append(calls)
        callers.append(workers)
        earliest = np.minimum(calls + np.maximum(waits, 1), end)
        waits = np.full(workers.size, period, dtype=np.int64)
    all_times, all_callers = np.concatenate(times), np.concatenate(callers)
    order = np.lexsort((all_callers, all_times))
    return all_times[order], all_callers[order]


def p_values(gaps: _Reals, scale: float) -> _Reals:
    """Return the p of a Kolmogorov-Smirnov test of each row of gaps against exponential gaps with a mean.

    Stephens' correction of the asymptotic distribution is used; for 100 gaps p is exact to 0.002.
    """
    from scipy.special import kolmogorov

    size = gaps.shape[-1]
    chances = -np.expm1(-np.sort(gaps, axis=-1) / scale)
    above = np.arange(1, size + 1) / size - chances
    distance = np.maximum(above, 1 / size - above).max(axis=-1)
    found: _Reals = kolmogorov(distance * (np.sqrt(size) + 0.12 + 0.11 / np.sqrt(size)))
    return found


def _of_workers(times: Ints, callers: Ints, since: int, period: int, draw: np.random.Generator) -> dict[str, Any]:
    """Return the statistics of the calls from ``since`` on."""
    exact = np.sort(times + draw.random(times.size))  # whole seconds are too coarse for gaps of a few seconds
    counted = exact[exact >= since]
    actives: list[int] = []

    def even_gap(begin: int) -> float:
        """Return T / P_active; P_active counts workers with a call in the last two periods."""
        low, high = np.searchsorted(times, (begin - 2 * period, begin), side="right")
        actives.append(int(np.unique(callers[low:high]).size))
        return period / actives[-1]

    by_window = _by_window(counted, since, even_gap, draw)
    gaps = np.diff(counted)
    even, mean = period / float(np.mean(actives)), float(gaps.mean())
    begins = draw.integers(0, gaps.size - _GAPS + 1, size=_SAMPLES)
    in_row = gaps[begins[:, None] + np.arange(_GAPS)]
    counts = np.bincount((counted.astype(np.int64) - since) // HOUR, minlength=WEEK // HOUR)
    by_hour = counts.reshape(-1, 24).sum(axis=0)
    return {
        "contacts": int(counted.size),
        "active": float(np.mean(actives)),
        "even_gap_s": even,
        "mean_gap_s": mean,
        **by_window,
        "rejected_even": float((p_values(in_row, even) < 0.05).mean()),
        "rejected_mean": float((p_values(in_row, mean) < 0.05).mean()),
        "dispersion_3600s": float(counts.var(ddof=1) / counts.mean()),
        "daily_swing": float((by_hour.max() - by_hour.min()) / (by_hour.max() + by_hour.min())),
    }


def _by_window(
    times: _Reals, since: int, mean_gap: Callable[[int], float], draw: np.random.Generator
) -> dict[str, float]:
    """Return the paper's statistic by length of the window: mean and 5th percentile over simulations of the mean p.

    ``mean_gap`` returns the mean gap that is tested in a window, given its begin.
    """
    found: dict[str, float] = {}
    for window in WINDOWS_S:
        means = []
        for begin in draw.integers(since, since + WEEK - window, size=_SIMULATIONS).tolist():
            low, high = np.searchsorted(times, (begin, begin + window))
            gaps = np.diff(times[low:high])
            if gaps.size >= _FEWEST_GAPS:
                size = min(_GAPS, gaps.size)
                samples = [draw.choice(gaps.size, size, replace=False, shuffle=False) for _ in range(_SAMPLES)]
                means.append(float(p_values(gaps[np.array(samples)], mean_gap(begin)).mean()))
        found[f"p_{window}s"] = float(np.mean(means)) if means else math.nan
        found[f"p5_{window}s"] = float(np.quantile(means, 0.05)) if means else math.nan
    return found
