"""The policy renewal: its table of expected costs against a plain recursion over the rules, and its runs."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from docs.studies.deadline.chains import CHAINS, known_rates
from hindsched.instances.deadline import Instance, Kind, Zone, check
from hindsched.instances.deadline.generate import generate
from hindsched.offline.deadline import solve
from hindsched.online.deadline import make_policy, renewal, run_policy, simulate
from hindsched.online.deadline.availability_periods import AGE_LIMITS_S, Hazards, Periods
from hindsched.online.deadline.kernels.expected_costs import NOTHING, expected_costs


def _least_expected_cost(
    slots: int, slot_s: int, work_s: int, overhead_s: int, prices: tuple[int, int], ends: tuple[float, float]
) -> tuple[float, float]:
    """Return the least expected cost of a job under the guard ``step``, if slot 0 lacks or has spot, by the rules."""

    @cache
    def cost(t: int, done_s: int, kind: str, left_s: int, has: int) -> float:
        need = -(-(work_s - done_s + overhead_s) // slot_s)
        current = "" if kind == "s" and not has else kind
        choices = ["", "o", "s"] if has else ["", "o"]
        if need >= slots - t:
            choices = ["s" if has else "o"] if kind == "s" and left_s == 0 else ["o"]
        best = float("inf")
        for choice in choices:
            left = left_s if choice == current else overhead_s
            paid, work = 0.0, 0
            if choice:
                paid, work = slot_s * prices["so".index(choice)], max(0, slot_s - left)
                left = max(0, left - slot_s)
            if done_s + work < work_s:
                for other, chance in ((has, 1 - ends[has]), (1 - has, ends[has])):
                    paid += chance * cost(t + 1, done_s + work, choice, left, other) if chance else 0.0
            best = min(best, paid)
        return best

    return cost(0, 0, "", 0, 0), cost(0, 0, "", 0, 1)


@pytest.mark.parametrize(
    ("slots", "work_s", "overhead_s", "prices", "ends"),
    [
        (8, 2400, 300, (10, 31), (0.2, 0.3)),
        (9, 3000, 600, (10, 31), (0.5, 0.1)),
        (9, 3000, 0, (10, 31), (0.5, 0.5)),
        (10, 3300, 300, (10, 12), (0.05, 0.9)),
        (7, 1500, 150, (0, 5), (0.4, 0.4)),
        (6, 2700, 300, (7, 7), (0.3, 0.3)),
    ],
)
def test_table_is_the_least_expected_cost_by_the_rules(slots, work_s, overhead_s, prices, ends) -> None:
    slot_s, step_s = 600, 150  # all times are multiples of the step, so nothing is interpolated
    spare_s = slots * slot_s - work_s
    table = expected_costs(
        (slots, slot_s, overhead_s),
        prices,
        np.array([[ends[0]], [ends[1]]]),
        np.array([0.0]),
        float(step_s),
        spare_s // step_s + 1,
    )
    expected = _least_expected_cost(slots, slot_s, work_s, overhead_s, prices, ends)
    assert table[0, spare_s // step_s, :, 0, NOTHING] == pytest.approx(expected, rel=1e-5)


def test_table_with_ages_equals_one_without_if_hazards_do_not_depend_on_age() -> None:
    times, prices = (12, 195, 720), (10, 31)
    ends = np.array([[0.2], [0.1]])
    one = expected_costs(times, prices, ends, np.array([0.0]), 195.0, 8)
    three = expected_costs(times, prices, np.repeat(ends, 3, axis=1), np.array([0.5, 0.25, 0.0]), 195.0, 8)
    finite = np.isfinite(one[:, :, :, 0])
    for age in range(3):
        assert np.isfinite(three[:, :, :, age])[finite].all()
        assert three[:, :, :, age][finite] == pytest.approx(one[:, :, :, 0][finite], rel=1e-5)


@pytest.mark.parametrize("chain", [chain for chain in CHAINS if chain[1] == 0.5])  # rare long outages skew the others
def test_known_rates_pay_on_average_what_the_table_expects(chain) -> None:
    up, stay = chain
    best = known_rates(up, stay)
    paid = []
    for draw in range(40):
        job = generate(1000 + draw, slots=192, up=up, stay=stay, work_s=86_400, overhead_s=300)
        paid.append(simulate(job, best).cost)
    error = np.std(paid) / np.sqrt(len(paid))
    assert abs(np.mean(paid) - best.expected(up)) < 4 * error


def _jobs() -> list[Instance]:
    odd = [
        generate(
            seed, slots=slots, slot_s=slot_s, up=up, stay=0.9, overhead_s=overhead_s, work_s=-(-slots * slot_s // 2)
        )
        for seed, (slots, slot_s, up, overhead_s) in enumerate(
            product((1, 7, 60), (1, 195, 3601), (0.0, 0.5, 1.0), (0, 100, 1000))
        )
    ]
    return [job for job in odd if -(-(job.work_s + job.overhead_s) // job.slot_s) <= job.slots]


def test_never_misses_under_step_and_the_checker_accepts() -> None:
    jobs = _jobs()
    assert len(jobs) > 30
    for job in jobs:
        run = run_policy(job, "renewal", guard="step")
        assert run.finish is not None
        verdict = check(job, run.schedule)
        assert verdict.is_valid, verdict
        assert verdict.outcome.cost == run.cost >= solve(job).value


def test_does_not_see_the_future() -> None:
    """Two jobs that agree up to a slot get the same decisions up to it."""
    job = generate(5, slots=60, up=0.5, stay=0.9)
    zone = job.zones[0]
    for cut in (1, 20, 41):
        spot = job.spot[0].copy()
        spot[cut:] = ~spot[cut:]
        other = job.replace(zones=[Zone(spot, zone.spot_price, zone.on_demand_price)])
        first, second = ([_placement(run, t) for t in range(cut)] for run in map(_run, (job, other)))
        assert first == second


def test_moving_prices() -> None:
    job = generate(6, slots=80, up=0.7, stay=0.9)
    draws = np.random.default_rng(0)
    prices = (draws.integers(900_000, 1_000_000, 80), draws.integers(900_000, 3_000_000, 80))
    for spot_prices in prices:
        moving = job.replace(zones=[Zone(job.spot[0], spot_prices.tolist(), 3_060_000)])
        run = _run(moving)
        assert check(moving, run.schedule).outcome.cost == run.cost
    # spot that costs more than on-demand is not taken
    dear = job.replace(zones=[Zone(job.spot[0], 4_000_000, 3_060_000)])
    assert _run(dear).spot_slots == 0


def test_loses_to_uniform_by_no_more_than_noise_on_chains() -> None:
    for up, stay in ((0.6, 0.98), (0.9, 0.9)):
        more = []
        for seed in range(25):
            job = generate(500 + seed, slots=192, up=up, stay=stay, work_s=86_400, overhead_s=300)
            ours, theirs = (run_policy(job, policy, schedule=False).cost for policy in ("renewal", "uniform"))
            more.append(ours / theirs - 1)
        assert np.mean(more) < 2 * np.std(more) / np.sqrt(len(more))


def test_a_run_learns_nothing_from_another_run() -> None:
    jobs = [generate(seed, slots=60, up=0.5, stay=0.9) for seed in (7, 8)]
    alone = [_run(job).cost for job in jobs]
    assert [_run(job).cost for job in reversed(jobs)] == alone[::-1]


def test_hazards_are_probabilities_for_slots_of_any_length() -> None:
    for slot_s in (1, 195, 600, 86_400):
        hazards = Hazards((4, 4, 2), slot_s)
        assert len(hazards.ages) == len(hazards.ends[0]) == len(AGE_LIMITS_S) + 1
        assert all(0 <= share <= 1 for share in (*hazards.ages, *hazards.ends[0], *hazards.ends[1]))


def test_old_periods_that_last_lower_the_learned_rate() -> None:
    quiet, restless = Periods(600), Periods(600)
    for t in range(400):
        quiet.see(True)
        restless.see(t % 8 != 7)
    assert quiet.rates()[1] < restless.rates()[1]


def test_jobs_with_many_slots_have_a_coarser_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    job = generate(9, slots=300, slot_s=60, up=0.7, stay=0.99)
    fine = _run(job).cost
    monkeypatch.setattr(renewal, "_MOST_NUMBERS", 0)
    renewal.cost_table.cache_clear()
    try:
        assert _run(job).cost == pytest.approx(fine, rel=0.2)
        assert renewal.cost_table.cache_info().currsize > 0
        setting = renewal.Setting(300, 60, job.work_s, 300, 1, 3, (2, 2, 2))
        assert renewal.cost_table(setting).costs.shape[1] <= renewal._FEWEST_STEPS + 3
    finally:
        renewal.cost_table.cache_clear()


def _run(job: Instance):
    return run_policy(job, make_policy("renewal"), guard="step")


def _placement(run, t: int) -> tuple[int, Kind] | None:
    for first, end, zone, kind in run.schedule.runs:
        if first <= t < end:
            return zone, kind
    return None
