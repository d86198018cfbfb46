"""Calls once a period, and descriptions of the drawn volunteers, agree with plain computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from docs.studies.batches.arrivals import WINDOWS_S, _by_window, call_times, p_values
from docs.studies.batches.crowd import _lost, _predicted, _states
from hindsched.instances.batches import Instance
from hindsched.instances.batches.volunteers import DAY, HOUR, VolunteerParameters, Volunteers
from hindsched.online.batches import Options, Visible, simulate
from hindsched.online.batches.visible import Answer


class Fixed:
    """Workers call after their phase, then once a period."""

    def __init__(self, period: int, phases: list[int]) -> None:
        self.period, self.phases = period, phases

    def contact(self, visible: Visible) -> Answer:
        is_first = visible.worker not in visible.last_contacts
        return None, visible.now + (self.phases[visible.worker] if is_first else self.period)


@pytest.mark.parametrize("period", [1800, 7200])
def test_calls_are_those_of_the_simulator(period: int) -> None:
    crowd = Volunteers(40, 3, VolunteerParameters(days=12)).with_computing_times(1800, homogeneous=True)
    begin, end = 5 * DAY, 8 * DAY
    phases = np.random.default_rng(1).integers(0, period, size=40)
    times, callers = call_times(crowd.window(begin, end), begin, end, phases, period)
    instance = Instance(tasks=1, batches=[(begin, end)], c=crowd.c, up=crowd, start=begin)
    run = simulate(instance, Fixed(period, phases.tolist()), Options(p0=1)).run.contacts
    assert times.size > 400
    assert times.tolist() == run.time.tolist()
    assert callers.tolist() == run.worker.tolist()


def test_p_values_are_those_of_scipy() -> None:
    gaps = np.random.default_rng(1).exponential(2.0, size=(30, 100))
    for scale in (2.0, 1.5):
        exact = [kstest(row, "expon", args=(0, scale)).pvalue for row in gaps]
        assert p_values(gaps, scale) == pytest.approx(exact, abs=0.015)


def test_the_statistic_of_table_1_tells_even_gaps_from_random_ones() -> None:
    draw = np.random.default_rng(1)
    week = 7 * DAY
    random = _by_window(np.sort(draw.random(week // 4)) * week, 0, lambda _: 4.0, draw)
    even = _by_window(np.arange(0.0, week, 4.0), 0, lambda _: 4.0, draw)
    assert random["p5_7200s"] > 0.4
    assert all(even[f"p5_{window}s"] < 0.01 for window in WINDOWS_S if window >= 900)


def test_lost_tasks_are_those_that_begin_too_late() -> None:
    draw = np.random.default_rng(1)
    edges = [np.unique(draw.integers(0, 50, size=8)) for _ in range(30)]
    pairs = [some[: some.size // 2 * 2].reshape(-1, 2) for some in edges]
    crowd = [ups for ups in pairs if ups[0, 0] < 40]
    begun = lost = lost_available = 0
    for ups in crowd:
        available = [t for a, b in ups for t in range(a, b)]
        early = [t for t in available if t < 40]
        begun += len(early)
        lost += sum(t + 7 > available[-1] + 1 for t in early)
        lost_available += sum(sum(later >= t for later in available) < 7 for t in early)
    assert lost > 0
    assert _lost(crowd, 7, 40) == pytest.approx((lost / begun, lost_available / begun))


def test_a_daily_rhythm_is_predicted_at_horizons_of_days() -> None:
    ups = np.array([(day * DAY + 8 * HOUR, day * DAY + 20 * HOUR) for day in range(318)])
    found = {(k, x): value for name, k, x, value in _predicted([ups]) if name == "predicted"}
    assert all(found[k, 24.0] == 1.0 for k in (1, 3, 5))
    assert found[1, 12.0] == 0.0
    assert _states(ups, 0, 24).tolist() == [8 <= hour < 20 for hour in range(24)]


def test_the_more_frequent_state_is_that_of_the_past() -> None:
    leaves = np.array([(0, 237 * DAY), (251 * DAY, 300 * DAY)])  # absent in the two weeks that are predicted
    found = [value for name, _, _, value in _predicted([leaves]) if name == "by_share"]
    assert found == [0.0]
