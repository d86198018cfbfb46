"""Solvers without a common model agree, and the checker accepts their schedules."""

import random

import numpy as np
import pytest

from hindsched.instances import InputError
from hindsched.instances.deadline import Guard, Zone, check, spot_zones
from hindsched.instances.deadline.generate import generate
from hindsched.offline.deadline import available_solvers, brute, cpsat, fronts, native, solve
from hindsched.offline.deadline.lagrangian import lagrangian_bound
from hindsched.offline.limits import Limits
from hindsched.offline.results import Status
from tests.cases.deadline import drawn, guards, job, letters

NO_LIMIT = Limits()


def test_native_fronts_and_enumeration_agree_on_every_rung():
    counts = dict.fromkeys([None, *Guard], 0)
    infeasible = 0
    for seed in range(90):
        instance = drawn(seed)
        for guard in (None, *guards(instance)):
            claims = [solver.solve(instance, guard, NO_LIMIT) for solver in (native, fronts, brute)]
            assert len({(claim.lower, claim.upper) for claim in claims}) == 1, (seed, guard)
            for claim in claims:
                if claim.schedule is not None:
                    rung = "free" if guard is None else "guarded"
                    verdict = check(instance, claim.schedule, rung=rung, guard=guard)
                    assert verdict.is_valid, (seed, guard, str(verdict))
                    assert verdict.outcome.cost == claim.lower
            counts[guard] += 1
            infeasible += claims[0].lower is None
    assert min(counts.values()) > 30
    assert 20 < infeasible < 200


@pytest.mark.parametrize("solver", ["ilp-highs", "ilp-cbc", "cpsat"])
def test_general_solvers_agree_on_the_rung_free(solver):
    optimal = 0
    for seed in range(16):
        instance = drawn(seed)
        one, other = solve(instance), solve(instance, solver=solver)
        assert (one.status, one.value) == (other.status, other.value), seed
        optimal += one.status is Status.OPTIMAL
    assert optimal > 5


@pytest.mark.parametrize(("zones", "slots"), [(1, 40), (3, 22)])
def test_a_larger_job_by_states_by_fronts_and_by_an_integer_program(zones, slots):
    sizes = {"zones": zones, "slots": slots, "slot_s": 195, "overhead_s": 400, "work_s": 97 * slots}
    instance = generate(7, **sizes, move_delay_s=100, move_cost=9000)
    names = ["native", "fronts"]
    if zones == 1:
        prices = tuple(random.Random(1).randint(500_000, 1_500_000) for _ in range(slots))
        instance = instance.replace(zones=[Zone(instance.zones[0].spot, prices, 3_060_000)])
        names.append("ilp-highs")
    (free,) = {solve(instance, solver=name).value for name in names}
    (guarded,) = {solve(instance, rung="guarded", solver=name).value for name in names[:2]}
    assert guarded >= free >= lagrangian_bound(instance).value > 0


def test_a_packaged_window_by_two_solvers():
    instance = spot_zones.window(["us-west-2b"], 4000, work_s=17_280, deadline_s=25_200, overhead_s=720)
    result = solve(instance)
    assert result.value == solve(instance, solver="ilp-highs").value
    assert result.by == "native"
    assert check(instance, result.certificate).outcome.value <= result.value


def test_the_price_of_a_guard():
    """Spot comes in the last slots; a guarded schedule must work in an earlier one to be allowed to wait for it."""
    one = job("000111", work_s=30)
    assert solve(one).value == 30
    assert letters(solve(one).schedule.runs, 6) == "...sss"
    for guard in ("step", "step_old", "latched"):
        assert solve(one, rung="guarded", guard=guard).value == 30 + 10 + 10


def test_a_move_may_be_worth_its_delay():
    two = job("11000", "00111", work_s=40, overhead_s=3, move_delay_s=[[0, 4], [4, 0]], move_cost=[[0, 0], [0, 0]])
    assert letters(solve(two).schedule.runs, 5) == "ssSSS"
    dear = two.replace(move_cost=[[0, 1], [1, 0]])
    assert (letters(solve(dear).schedule.runs, 5), solve(dear).value) == ("OOSSS", 90)


def test_closed_form_of_one_zone_without_overhead():
    """E2: g (a S + b (n - S)) with n slots of work and S of them on spot."""
    rng = random.Random(2)
    for seed in range(40):
        slots, slot_s = rng.randint(1, 30), rng.choice([1, 10, 195])
        a = rng.randint(0, 9)
        b = a + rng.randint(0, 9)
        work_s = rng.randint(1, slots * slot_s)
        instance = generate(
            seed, slots=slots, slot_s=slot_s, work_s=work_s, overhead_s=0, spot_price=a, on_demand_price=b, up=0.4
        )
        n = -(-work_s // slot_s)
        spot = min(n, int(instance.spot.sum()))
        assert solve(instance).value == slot_s * (a * spot + b * (n - spot))


def test_the_optimum_is_monotone():
    rng = random.Random(4)
    for seed in range(40):
        instance = drawn(seed, most_slots=(10, 6, 4))
        value = _value(instance)
        more = instance.spot | (np.random.default_rng(seed).random(instance.spot.shape) < 0.3)
        zones = [Zone(row, z.spot_price, z.on_demand_price) for row, z in zip(more, instance.zones, strict=True)]
        assert _value(instance.replace(zones=zones)) <= value
        assert _value(instance.replace(work_s=instance.work_s + rng.randint(1, 9))) >= value
        assert _value(instance.replace(overhead_s=instance.overhead_s + rng.randint(1, 9))) >= value
        dearer = [[0 if a == b else cost + 1 for b, cost in enumerate(row)] for a, row in enumerate(instance.move_cost)]
        assert _value(instance.replace(move_cost=dearer)) >= value
        slower = [[0 if a == b else s + 2 for b, s in enumerate(row)] for a, row in enumerate(instance.move_delay_s)]
        assert _value(instance.replace(move_delay_s=slower)) >= value
        longer = [
            Zone(
                np.append(zone.spot, False),
                _one_more(zone.spot_price, 1),
                _one_more(zone.on_demand_price, 1),
            )
            for zone in instance.zones
        ]
        later = instance.replace(deadline_s=instance.deadline_s + instance.slot_s, zones=longer)
        assert _value(later) <= value


def _one_more(price, last):
    return price if isinstance(price, int) else (*price, last)


def _value(instance):
    result = solve(instance)
    return float("inf") if result.value is None else result.value


# --- limits and refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", available_solvers())
def test_more_work_than_slots_is_infeasible(solver):
    for instance in (job("11", work_s=21), job("11", work_s=20, overhead_s=1), job("11", "11", work_s=21)):
        result = solve(instance, solver=solver)
        assert (result.status, result.value, result.schedule) == (Status.INFEASIBLE, None, None)


@pytest.mark.parametrize("solver", available_solvers())
def test_a_time_limit_leaves_bounds(solver):
    instance = generate(3, slots=60, overhead_s=700)
    if solver == "brute":
        instance = generate(3, slots=11, overhead_s=700)
    result = solve(instance, solver=solver, time_limit_s=1e-9)
    assert result.status in (Status.BOUNDS, Status.UNKNOWN)
    assert result.limit is not None
    best = solve(instance).value
    assert result.lower <= best
    assert result.upper is None or result.upper >= best


def test_huge_numbers_are_for_fronts():
    instance = generate(
        1, slots=40, slot_s=50_000_000, overhead_s=7, spot_price=2**31 - 2, on_demand_price=2**31 - 1, up=0.5
    )
    with pytest.raises(InputError, match="costs of more than 62 bits, expected smaller prices, fewer") as error:
        solve(instance, solver="native")
    assert "\n" not in str(error.value)
    result = solve(instance, solver="fronts")
    assert result.status is Status.OPTIMAL
    assert result.value > 2**60
    assert check(instance, result.schedule).outcome.cost == result.value


def test_too_many_amounts_of_work_are_for_fronts():
    instance = generate(1, slots=30, slot_s=5_000_000, overhead_s=1)
    with pytest.raises(InputError, match="amounts of work, expected at most"):
        solve(instance, solver="native")
    assert solve(instance, solver="fronts").status is Status.OPTIMAL


@pytest.mark.parametrize("solver", ["ilp-highs", "ilp-cbc", "cpsat"])
def test_guards_are_for_solvers_that_know_them(solver):
    with pytest.raises(InputError, match=f"solver: {solver} is for the rung free"):
        solve(job("11", work_s=5), rung="guarded", solver=solver)


def test_names_are_checked():
    with pytest.raises(InputError, match="rung: 'x', expected one of free, guarded"):
        solve(job("11", work_s=5), rung="x")
    with pytest.raises(InputError, match="guard: 'x', expected one of step, step_old, latched"):
        solve(job("11", work_s=5), rung="guarded", guard="x")
    with pytest.raises(InputError, match="guard: 'step' with the rung free, expected none or the rung guarded"):
        solve(job("11", work_s=5), guard="step")
    with pytest.raises(InputError, match="more than 20000000 sequences"):
        solve(generate(1, slots=40), solver="brute")


def test_the_claim_of_a_wrong_solver_is_not_believed(monkeypatch):
    from dataclasses import replace

    from hindsched.instances import SelfCheckError

    real = native.solve
    cheap = lambda *given: replace(real(*given), lower=1, schedule=replace(real(*given).schedule, cost=1))  # noqa: E731
    monkeypatch.setattr(native, "solve", cheap)
    with pytest.raises(SelfCheckError):
        solve(job("11", work_s=5))
    assert cpsat.solve(job("11", work_s=5), None, NO_LIMIT).lower == 10
