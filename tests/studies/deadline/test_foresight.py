"""Foresight of all hours is the hindsight optimum, that of none is renewal, and plans in between are exact."""

import itertools

import numpy as np
import pytest

from docs.studies.deadline.foresight import Foresight
from docs.studies.deadline.kernels.known_slots import least_costs
from hindsched.instances.deadline import HOUR_S, check, spot_zones
from hindsched.instances.deadline.generate import generate
from hindsched.instances.errors import InputError
from hindsched.offline.deadline import solve
from hindsched.online.deadline import run_policy
from tests.cases.deadline import drawn


@pytest.mark.parametrize("seed", range(60))
def test_all_hours_are_free(seed):
    job = drawn(seed, zones=1)
    best = solve(job)
    run = run_policy(job, Foresight(job, None), guard="none")
    assert (run.cost if run.finish is not None else None) == best.value
    if run.finish is not None:
        assert check(job, run.schedule).is_valid


@pytest.mark.parametrize("overhead_s", [180, 720])
def test_windows_of_real_zones(overhead_s):
    job = spot_zones.window(["us-east-1d"], 6927, work_s=6 * HOUR_S, deadline_s=9 * HOUR_S, overhead_s=overhead_s)
    best = solve(job).value
    assert run_policy(job, Foresight(job, None), guard="none").cost == best
    renewal = run_policy(job, "renewal", guard="step")
    none = run_policy(job, Foresight(job, 0), guard="none")
    assert (none.cost, none.schedule.runs) == (renewal.cost, renewal.schedule.runs)
    for hours in (0.5, 2):
        run = run_policy(job, Foresight(job, hours), guard="none")
        assert run.finish is not None
        assert run.cost >= best


def test_runs_with_little_foresight_meet_the_deadline():
    for seed in range(40):
        job = generate(seed, slots=20, slot_s=600, up=0.4, stay=0.7, overhead_s=(0, 300, 900)[seed % 3])
        for hours in (0, 0.5, 1):
            run = run_policy(job, Foresight(job, hours), guard="none")
            assert run.finish is not None
            assert run.cost >= solve(job).value


def test_the_future_beyond_the_foresight_changes_nothing():
    one = generate(3, slots=40)
    spot = one.spot.copy()
    spot[0, 30:] = ~spot[0, 30:]
    zone = one.zones[0]
    other = one.replace(zones=[type(zone)(spot[0], zone.spot_price, zone.on_demand_price)])
    placed = []
    for job in (one, other):
        runs = run_policy(job, Foresight(job, 2), guard="none").schedule.runs
        placed.append([(run.first, min(run.end, 18), run.kind) for run in runs if run.first < 18])
    assert placed[0] == placed[1]


def test_least_costs_are_those_of_all_sequences():
    rng = np.random.default_rng(1)
    for _ in range(30):
        after = rng.integers(0, 3, (3, 3))
        work = np.array([[0, 1, 1], [0, 2, 1], [0, 0, 2]])
        spot, units = rng.random(4) < 0.6, rng.integers(1, 9, (2, 4))
        spot.setflags(write=False)  # as the arrays of an instance: one compiled kernel serves both
        terminal, left = rng.integers(0, 30, (3, 6)).astype(float), 5
        terminal[:, left:] = 0
        best = np.inf
        for choices in itertools.product(range(3), repeat=4):
            u = amount = paid = 0
            for t, choice in enumerate(choices):
                if choice == 1 and not spot[t]:
                    paid = np.inf
                paid += units[choice - 1, t] if choice else 0
                amount, u = min(left, amount + work[u, choice]), after[u, choice]
                if amount >= left:
                    break
            best = min(best, paid + terminal[u, amount])
        assert least_costs((after, work), spot, units, terminal, left, 1)[0, 0, 0] == best


def test_several_zones_are_refused():
    with pytest.raises(InputError, match="2 zones, expected one"):
        Foresight(generate(1, zones=2, slots=4), 1)
