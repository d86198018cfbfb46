"""Test Hypothesis 1 of the paper: workers that call once a period arrive like a Poisson stream.

11,320 workers call with a fixed period and receive no task. The paper's test of gaps (Kolmogorov-Smirnov, 100 tests of
100 gaps each) uses the rate that the paper claims, P_active over the period. A second test uses the mean of the
observed gaps, so that it tests their shape only. The dispersion of the counts per window, variance over mean, is 1 for
a Poisson stream. It shows changes of the rate that 100 gaps are too few to show.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.instances.batches import Instance, Volunteers
from hindsched.instances.batches.volunteers import DAY
from hindsched.instances.random_streams import stream
from hindsched.online.batches import Options, Visible, simulate
from hindsched.online.batches.visible import Answer

__all__ = ["PERIODS_H", "arrivals"]

PERIODS_H = (1, 2, 4, 8, 12, 24)
_WINDOWS_S = (300, 3600, 7200)
_DAYS = 8
_TESTS, _GAPS = 100, 100


class _Fixed:
    """A policy that sends no task: workers call once a period, with a random phase from the second call on."""

    name = "fixed"

    def __init__(self, period: int, workers: int) -> None:
        self.period = period
        self.offsets = stream("batches", "arrivals", workers, period).integers(0, period, size=workers)

    def contact(self, visible: Visible) -> Answer:
        """Return no task and the time of the next call."""
        is_first = visible.worker not in visible.last_contacts
        return None, visible.now + (int(self.offsets[visible.worker]) if is_first else self.period)


def arrivals(workers: int, seed: int, *, first_day: int = 245) -> list[dict[str, Any]]:
    """Return a row per period with the tests of gaps and counts.

    Parameters
    ----------
    workers
        Number of workers; 11,320 in the paper.
    seed
        Seed of the volunteers.
    first_day
        Day of the first calls; it is not counted.
    """
    crowd = Volunteers(workers, seed).with_computing_times(1800, homogeneous=True)
    begin, end = first_day * DAY, (first_day + _DAYS) * DAY
    instance = Instance(tasks=1, batches=[(begin + DAY, end)], c=crowd.c, up=crowd, start=begin)
    rows = []
    for hours in PERIODS_H:
        run = simulate(instance, _Fixed(hours * 3600, workers), Options(p0=1))
        times, callers = (column.astype(np.int64) for column in (run.run.contacts.time, run.run.contacts.worker))
        counted = times >= begin + DAY
        times, callers = times[counted], callers[counted]
        draw = stream("batches", "arrivals", "dither", seed, hours)
        even = hours * 3600 / _active(times, callers, hours * 3600)
        rows.append(
            {
                "period_h": hours,
                "workers": workers,
                "even_gap_s": even,
                **_statistics(times, begin + DAY, end, even, draw),
            }
        )
    return rows


def _active(times: npt.NDArray[np.int64], callers: npt.NDArray[np.int64], period: int) -> float:
    """Return P_active, the mean number of workers that call within two periods."""
    windows = (times - times[0]) // (2 * period)
    last = int(windows.max())  # incomplete
    counts = [np.unique(callers[windows == window]).size for window in range(max(1, last))]
    return float(np.mean(counts))


def _statistics(
    times: npt.NDArray[np.int64], since: int, until: int, even: float, draw: np.random.Generator
) -> dict[str, Any]:
    from scipy.stats import kstest

    gaps = np.diff(np.sort(times + draw.random(times.size)))  # whole seconds are too coarse for gaps of a few seconds
    mean = float(gaps.mean())
    length = min(_GAPS, gaps.size)
    starts = draw.integers(0, gaps.size - length + 1, size=_TESTS)
    tests = {}
    for name, scale in (("ks", even), ("ks_fitted", mean)):
        p = np.array([kstest(gaps[a : a + length], "expon", args=(0, scale)).pvalue for a in starts])
        tests[f"{name}_p_5th_percentile"] = float(np.quantile(p, 0.05))
        tests[f"{name}_rejected_at_5_percent"] = float((p < 0.05).mean())
    dispersion = {}
    for window in _WINDOWS_S:
        counts = np.bincount((times - since) // window, minlength=(until - since) // window)
        dispersion[f"dispersion_{window}s"] = float(counts.var(ddof=1) / counts.mean())
    by_hour = np.bincount((times - since) // 3600 % 24, minlength=24)
    return {
        "contacts": int(times.size),
        "mean_gap_s": mean,
        **tests,
        **dispersion,
        "daily_swing": float((by_hour.max() - by_hour.min()) / (by_hour.max() + by_hour.min())),
    }
