"""The generator: jobs by the definition, the load, and small grids."""

import math
from statistics import NormalDist

import pytest

from hindsched.instances.errors import InputError
from hindsched.instances.grid.generate import BURSTS, NARROW_MIX, POISSON, Arrivals, JobMix, generate
from tests.cases.grid import raw_words


def by_hand(nodes, slot_s, jobs, load, seed):
    """Return the rows of the default mix, by their definition in docs/grid/model.md."""
    u = [((word >> 11) + 0.5) / 2**53 for word in raw_words(5 * jobs, "grid", "generate", seed)]
    gaps, widths, lengths = [], [], []
    for j in range(jobs):
        u1, u2, u3, u4, _ = u[5 * j : 5 * j + 5]
        gaps.append(-math.log(u1))
        top = min(6, int(math.log2(nodes)))
        if u2 < 0.5 or top == 0:
            widths.append(1)
        elif u2 < 0.515:
            low, high = min(111, nodes), min(360, nodes)
            widths.append(low + int(u3 * (high - low + 1)))
        else:
            widths.append(2 ** (1 + int(u3 * top)))
        lengths.append(math.ceil(min(604800, 3600 * math.exp(1.5 * NormalDist().inv_cdf(u4))) / slot_s))
    scale = sum(n * s for n, s in zip(widths, lengths, strict=True)) / (load * nodes * sum(gaps))
    time, submit = 0.0, [0]
    for gap in gaps[1:]:
        time += scale * gap
        submit.append(math.ceil(time))
    return list(zip(submit, widths, lengths, strict=True))


@pytest.mark.parametrize("nodes", [1, 2, 7, 64, 200, 5000])
def test_rows_follow_the_definition(nodes):
    for seed in range(3):
        assert list(generate(nodes=nodes, jobs=300, seed=seed).rows()) == by_hand(nodes, 60, 300, 0.28, seed)
    assert list(generate(nodes=nodes, slot_s=7, jobs=50, load=0.95).rows()) == by_hand(nodes, 7, 50, 0.95, 0)


def test_a_seed_gives_the_same_jobs_at_any_load():
    slow, fast = generate(jobs=500, load=0.28, seed=3), generate(jobs=500, load=0.95, seed=3)
    assert (slow.width == fast.width).all()
    assert (slow.length == fast.length).all()
    assert slow.submit[-1] / fast.submit[-1] == pytest.approx(95 / 28, rel=0.01)
    assert slow.area / 5000 / slow.submit[-1] == pytest.approx(0.28, rel=0.02)


def test_mean_widths_of_the_mixes():
    assert generate(jobs=20000).width.mean() == pytest.approx(14.1, abs=0.4)
    assert generate(jobs=20000, mix=NARROW_MIX).width.mean() == pytest.approx(3.7, abs=0.1)


def test_small_grids_and_few_jobs():
    assert set(generate(nodes=1, jobs=100).width.tolist()) == {1}
    assert set(generate(nodes=50, jobs=50, mix=JobMix(top=0)).width.tolist()) == {1}
    assert int(generate(nodes=100, jobs=2000, seed=1).width.max()) == 100
    assert len(generate(jobs=0)) == 0
    assert list(generate(jobs=1).submit) == [0]


@pytest.mark.parametrize("options", [{"jobs": -1}, {"load": 0.0}, {"load": math.nan}, {"nodes": 0}, {"slot_s": 0}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(InputError):
        generate(**{"jobs": 5} | options)


@pytest.mark.parametrize(
    "options", [{"serial": -0.1}, {"serial": 0.9, "wide": 0.2}, {"wide_to": 3}, {"top": -1}, {"median_s": 0}]
)
def test_mixes_out_of_range_are_refused(options):
    with pytest.raises(InputError):
        JobMix(**options)


def test_bursts_have_the_jobs_of_their_batches_and_a_cycle():
    bursts = generate(jobs=20_000, seed=4, arrivals=Arrivals(swing=0.6, weekend=0.5, batch=5.0))
    plain = list(generate(jobs=20_000, seed=4).rows())
    rows = list(bursts.rows())
    first = [j for j in range(len(rows)) if j == 0 or rows[j] != rows[j - 1]]
    u5 = [((word >> 11) + 0.5) / 2**53 for word in raw_words(5 * 20_000, "grid", "generate", 4)[4::5]]
    assert {j for j in range(1, 20_000) if u5[j] >= 1 - 1 / 5.0} >= set(first[1:])
    assert len(rows) / len(first) == pytest.approx(5, rel=0.05)
    assert [rows[j][1:] for j in first] == [plain[j][1:] for j in first]  # a batch has its first job's
    week = 7 * 1440
    whole = [r for r in bursts.submit[first].tolist() if r < bursts.submit[-1] // week * week]
    days, hours = [0] * 7, [0] * 24
    for submit in whole:
        days[submit % week // 1440] += 1
        hours[submit % 1440 // 60] += 1
    assert sum(days[5:]) / sum(days[:5]) == pytest.approx(0.5 * 2 / 5, rel=0.15)
    assert sum(hours[12:16]) / sum(hours[:4]) == pytest.approx(1.56 / 0.44, rel=0.25)


def test_the_clock_of_a_cycle_inverts_its_rate():
    arrivals = Arrivals(swing=0.9, weekend=0.25)
    times = [0.0, 7.5, 100.0, 167.99, 168.0, 1000.0]
    clock = arrivals.clock(times, 3600)
    assert clock[0] == 0
    assert clock[4] == pytest.approx(168)
    assert clock == sorted(clock)
    rates = [
        (1 + 0.9 * math.cos(math.pi * (hour % 24 - 13.5) / 12)) * (0.25 if hour % 168 >= 120 else 1)
        for hour in range(1100)
    ]
    mean = sum(rates[:168]) / 168
    for time, slot in zip(times, clock, strict=True):
        passed = sum(rates[: int(slot)]) + (slot - int(slot)) * rates[int(slot)]
        assert passed / mean == pytest.approx(time, abs=1e-6)
    assert Arrivals().clock(times, 3600) == times


def test_bursts_request_more_than_the_grid_on_some_days():
    for arrivals, above in ((POISSON, False), (BURSTS, True)):
        instance = generate(nodes=500, jobs=4_000, seed=1, mix=NARROW_MIX, arrivals=arrivals)
        requested = [0] * (int(instance.submit[-1]) // 1440 + 1)
        for submit, width, length in instance.rows():
            requested[submit // 1440] += width * length
        assert (max(requested) > 1440 * 500) is above


@pytest.mark.parametrize("options", [{"swing": 1.0}, {"swing": -0.1}, {"weekend": 0}, {"batch": 0.5}])
def test_arrivals_out_of_range_are_refused(options):
    with pytest.raises(InputError, match=next(iter(options))):
        Arrivals(**options)
