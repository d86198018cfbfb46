"""The generators of volunteers and instances, and instances from traces of the Failure Trace Archive."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from hindsched.instances import InputError
from hindsched.instances.batches import VolunteerParameters, Volunteers
from hindsched.instances.batches.from_trace import from_trace
from hindsched.instances.batches.generate import paper, small
from hindsched.instances.batches.volunteers import DAY, draw_volunteer
from hindsched.instances.random_streams import stream
from hindsched.instances.traces import read

FEW = VolunteerParameters(days=40)


def _by_hand(seed: int, j: int, days: int) -> tuple[float, list[tuple[int, int]]]:
    """Return the speed and intervals of a volunteer, drawn number by number as `draw_volunteer` documents it."""
    numbers = stream("batches", "volunteer", seed, j)
    share = min(max(numbers.beta(1.66, 2.34), 0.02), 0.98)
    born = numbers.random() * days * 86400
    dies = min(days * 86400, born + numbers.exponential(150 * 86400))
    speed = math.exp(0.5 * numbers.standard_normal() - 0.125)
    pairs = []
    if numbers.random() < 0.1:
        phase = (18 * 3600 + 4 * 3600 * numbers.standard_normal()) % 86400
        n = math.floor((dies - born) / 86400) + 3
        first = math.floor((born - phase) / 86400)
        starts = [(first + i) * 86400 + phase + 1800 * numbers.standard_normal() for i in range(n)]
        lengths = [share * 86400 * math.exp(0.3 * numbers.standard_normal() - 0.045) for _ in range(n)]
        for i, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            chance = numbers.random()
            if not ((first + i + 6) % 7 >= 5 and chance < 0.15):
                pairs.append((start, start + length))
    else:
        cycle = 3600 * math.exp(0.7 * numbers.standard_normal())
        n = math.floor(2 * (dies - born) / cycle) + 30
        on, off = (
            [part * cycle * math.exp(1.2 * numbers.standard_normal() - 0.72) for _ in range(n)]
            for part in (share, 1 - share)
        )
        now = born
        for up, down in zip(on, off, strict=True):
            pairs.append((now, now + up))
            now += up + down
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(pairs):
        a, b = (math.floor(min(max(edge, born), dies)) for edge in (start, stop))
        if a >= b:
            continue
        if merged and a <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
        else:
            merged.append((a, b))
    return speed, merged


def test_volunteers_follow_the_model() -> None:
    kinds = 0
    for j in range(40):
        speed, ups = _by_hand(5, j, 40)
        found = draw_volunteer(5, j, FEW)
        assert abs(found.speed - speed) < 1e-12
        assert [tuple(pair) for pair in found.ups.tolist()] == ups
        kinds += bool(ups)
    assert kinds > 35


def test_a_window_has_the_intervals_of_the_whole() -> None:
    whole = Volunteers(30, 2, FEW).whole()
    other = Volunteers(30, 2, FEW)
    part = other.window(9 * DAY, 12 * DAY)
    for j in range(30):
        inside = [pair for pair in whole.of_worker(j).tolist() if pair[1] > 9 * DAY and pair[0] < 12 * DAY]
        assert part.of_worker(j).tolist() == inside
    assert part.ups.dtype == np.int32
    firsts = [int(whole.of_worker(j)[0, 0]) if len(whole.of_worker(j)) else -1 for j in range(30)]
    assert other.firsts.tolist() == firsts


def test_computing_times_follow_the_mean() -> None:
    crowd = Volunteers(400, 3)
    assert crowd.c == tuple(
        max(1, round(1800 * draw_volunteer(3, j, VolunteerParameters(days=318)).speed)) for j in range(400)
    )
    assert abs(np.mean(crowd.c) / 1800 - 1) < 0.1
    assert crowd.with_computing_times(60, homogeneous=True).c == (60,) * 400


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("phase_hour", 1e308),
        ("phase_sigma_hours", 1e308),
        ("start_sigma_s", 1e308),
        ("cycle_sigma", 1000),
        ("cycle_s", 1e308),
        ("cycle_s", 1e-9),
        ("speed_sigma", 1000),
        ("length_sigma", 1000),
        ("time_sigma", 1000),
        ("share_alpha", 1e308),
        ("life_days", 1e308),
        ("days", 10**12),
        ("weekend_off", 1.5),
    ],
)
def test_constants_out_of_range_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InputError, match="expected at") as caught:
        VolunteerParameters(**{name: value})
    assert caught.value.place == name


def test_constants_at_their_bounds_give_volunteers_or_an_error() -> None:
    with np.errstate(all="raise"):
        for name, most in (("speed_sigma", 10), ("time_sigma", 10), ("length_sigma", 10), ("phase_hour", 24)):
            assert len(Volunteers(3, 1, VolunteerParameters(days=40, daily=0.5, **{name: most})).c) == 3
    for few, name in (
        (VolunteerParameters(cycle_s=1, cycle_sigma=10), "cycle_s"),
        (VolunteerParameters(days=10**11, life_days=1e11, daily=1), "days"),
    ):
        with pytest.raises(InputError, match="a volunteer of") as caught:
            Volunteers(200, 1, few).whole()
        assert caught.value.place == name


def test_the_experiment_of_the_paper() -> None:
    instance = paper(workers=4, tasks=8, deadline_s=3600, c=1800, batches=3, first_day=30, habits=FEW)
    assert instance.batches == (
        (30 * DAY, 30 * DAY + 3600),
        (30 * DAY + 3600, 30 * DAY + 7200),
        (30 * DAY + 7200, 30 * DAY + 10800),
    )
    assert instance.start == 23 * DAY
    assert paper(workers=4, first_day=3).start == 0


def test_workers_of_small_instances_do_not_depend_on_their_number() -> None:
    few, more = (small(11, workers=number, compute="available") for number in (2, 5))
    for j in range(2):
        assert few.up.of_worker(j).tolist() == more.up.of_worker(j).tolist()


def test_nodes_of_a_trace_are_available_in_whole_seconds(tmp_path: Path) -> None:
    table = tmp_path / "trace.tab"
    rows = [
        ("1", "0", "10.5", "20"),
        ("1", "1", "20", "30.25"),
        ("1", "1", "30.25", "41.75"),
        ("1", "2", "41.75", "50"),
        ("2", "1", "12.25", "12.75"),
        ("2", "1", "14.5", "18.5"),
        ("2", "0", "18.5", "60"),
    ]
    lines = [f"{i} 0 {node} 1 host{node} {kind} {start} {stop} x" for i, (node, kind, start, stop) in enumerate(rows)]
    table.write_text("# id\n" + "\n".join(lines) + "\n")
    instance = from_trace(read(table), tasks=1, batches=[(0, 50)], c=7, seed=3)
    assert [instance.up.of_worker(j).tolist() for j in range(2)] == [[[10, 31]], [[5, 8]]]
    assert instance.c == Volunteers(2, 3, VolunteerParameters(), 7).c
    later = from_trace(read(table), tasks=1, batches=[(0, 50)], c=7, origin=16, homogeneous=True)
    assert [later.up.of_worker(j).tolist() for j in range(2)] == [[[4, 25]], [[0, 2]]]
