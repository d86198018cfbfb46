"""Describe the drawn volunteers as sections 3 and 4 of the paper describe its trace.

Every statistic is of one seed: stays and shares of time (section 3.1), tasks that are lost because the volunteer leaves
(3.2), P_active on 8 December (3.3), how well states predict later states (3.4), and the daily cycle (4.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from docs.studies.batches.arrivals import call_times
from hindsched.instances.batches.availability import Availability, Ints
from hindsched.instances.batches.volunteers import DAY, HOUR, WEEK, VolunteerParameters, draw_volunteer
from hindsched.instances.random_streams import stream

__all__ = ["CROWDS", "describe"]

#: Kinds of volunteers: as drawn for the paper, and with a daily rhythm for nine tenths.
CROWDS = {"paper": VolunteerParameters(), "daily": VolunteerParameters(daily=0.9)}
#: 8 December, on which the paper counts P_active.
_DAY = 251
_PERIOD = 4 * HOUR
#: Lengths of tasks in hours of computing.
_LENGTHS_H = (1, 5, 10, 15, 24, 48, 100, 200)
#: Horizons in hours, and numbers of past states whose majority predicts the next one.
_HORIZONS_H = (1, 2, 3, 4, 6, 8, 12, 16, 20, 22, 23, 24, 25, 26, 28, 36, 47, 48, 49, 72, 120, 144, 168)
_NUM_STATES = (1, 3, 5)
_TEST_WEEKS, _PAST_WEEKS = 2, 5
_QUANTILES = tuple(step / 10 for step in range(1, 10))

_Bools = npt.NDArray[np.bool_]


def describe(workers: int, seeds: int) -> list[dict[str, Any]]:
    """Return a row per number: crowd, seed, statistic, number of states, place on the axis and value."""
    return [
        {"crowd": crowd, "seed": seed, "statistic": name, "states": states, "x": x, "value": value}
        for crowd, habits in CROWDS.items()
        for seed in range(seeds)
        for name, states, x, value in _numbers(workers, seed, habits)
    ]


def _numbers(
    workers: int, seed: int, habits: VolunteerParameters
) -> Iterator[tuple[str, int | None, float | None, float]]:
    crowd = [draw_volunteer(seed, j, habits).ups for j in range(workers)]
    present = [ups for ups in crowd if len(ups)]
    stays = np.array([ups[-1, 1] - ups[0, 0] for ups in present])
    shares = np.array([(ups[:, 1] - ups[:, 0]).sum() for ups in present]) / stays
    for name, values in (("stay_days", stays / DAY), ("share", shares)):
        yield name, None, None, float(values.mean())
        for quantile in _QUANTILES:
            yield name, None, quantile, float(np.quantile(values, quantile))
    yield "share_over_80", None, None, float((shares > 0.8).mean())
    until = habits.days * DAY // 2  # whoever is present then is seen to leave, or stays for months
    early = [ups for ups in present if ups[0, 0] < until]
    for hours in _LENGTHS_H:
        for name, value in zip(("lost", "lost_available"), _lost(early, hours * HOUR, until), strict=True):
            yield name, None, hours, value
    since, stop = (_DAY - 1) * DAY, (_DAY + 1) * DAY
    availability = Availability.of([ups[(ups[:, 1] > since) & (ups[:, 0] < stop)].tolist() for ups in crowd])
    phases = stream("batches", "crowd", seed).integers(0, _PERIOD, size=workers)
    times, callers = call_times(availability, since, stop, phases, _PERIOD)
    moments = _DAY * DAY + np.arange(24) * HOUR
    active = [np.unique(callers[(times > now - 2 * _PERIOD) & (times <= now)]).size for now in moments]
    yield "active", None, None, float(np.mean(active))
    hourly = np.array([_states(ups, _DAY * DAY, 7 * 24) for ups in crowd]).sum(axis=0).reshape(7, 24).sum(axis=0)
    yield "available_swing", None, None, float((hourly.max() - hourly.min()) / (hourly.max() + hourly.min()))
    yield from _predicted(crowd)


def _lost(crowd: list[Ints], seconds: int, until: int) -> tuple[float, float]:
    """Return the shares of tasks that are lost because the volunteer leaves: by all seconds, by available seconds.

    Tasks begin at every available second before ``until``. They are lost if the volunteer has fewer seconds, or fewer
    available seconds, before it leaves.
    """
    begun, lost = 0, np.zeros(2)
    for ups in crowd:
        before = np.minimum(ups, until)
        begins = int((before[:, 1] - before[:, 0]).sum())
        after = np.maximum(ups, until)
        late = np.maximum(before, ups[-1, 1] - seconds + 1)
        too_late = seconds - 1 - int((after[:, 1] - after[:, 0]).sum())
        begun += begins
        lost += (late[:, 1] - late[:, 0]).sum(), min(begins, max(0, too_late))
    return float(lost[0] / begun), float(lost[1] / begun)


def _states(ups: Ints, since: int, hours: int) -> _Bools:
    """Return whether a volunteer is available at the beginning of each hour."""
    moments = since + np.arange(hours) * HOUR
    found = np.searchsorted(ups[:, 1], moments, side="right")
    is_known = found < len(ups)
    states: _Bools = is_known.copy()
    states[is_known] = ups[found[is_known], 0] <= moments[is_known]
    return states


def _predicted(crowd: list[Ints]) -> Iterator[tuple[str, int | None, float | None, float]]:
    """Yield how often the majority of the states one to k horizons ago is the present state.

    ``by_share`` is how often the more frequent state of the five weeks before is the present one.
    """
    weeks = _PAST_WEEKS + _TEST_WEEKS
    since, until = _DAY * DAY - weeks * WEEK, _DAY * DAY
    throughout = [ups for ups in crowd if len(ups) and ups[0, 0] <= since and ups[-1, 1] >= until]
    states = np.array([_states(ups, since, weeks * 7 * 24) for ups in throughout])
    first = _PAST_WEEKS * 7 * 24
    present = states[:, first:]
    is_mostly_there = states[:, :first].mean(axis=1, keepdims=True) > 0.5
    yield "by_share", None, None, float((is_mostly_there == present).mean())
    for k in _NUM_STATES:
        for horizon in _HORIZONS_H:
            ago = [horizon * i for i in range(1, k + 1)]
            past = np.sum([states[:, first - hours : states.shape[1] - hours] for hours in ago], axis=0)
            yield "predicted", k, horizon, float(((2 * past > k) == present).mean())
