"""Both simulators agree with a third one, written from the page of the model alone."""

import json
from fractions import Fraction
from typing import Any

import pytest

from hindsched.bench.bags.paper import Paper
from hindsched.bench.bags.spot_zones import PREDICTOR, SpotZones, start_slots
from hindsched.instances.bags import Instance, write_instance
from hindsched.instances.states import DOWN, UP
from hindsched.online.bags import BASELINES, HANDOVERS, PAPER_POLICIES, run_policy
from hindsched.online.bags.predictors import _first_half_of_the_zones
from tests.cases.bags import randoms
from tests.cases.bags_by_hand import Made, play


def made(instance: Instance, policy: str, **options: Any) -> Made:
    run = run_policy(instance, policy, **options)
    assert run.schedule is not None
    runs = [(r.machine, r.task, r.start, r.end, Fraction(r.origin)) for r in run.schedule.runs]
    return Made(run.turnaround, run.completed, runs, [(s.machine, s.instant) for s in run.schedule.saves])  # type: ignore[arg-type,misc]


def truth(instance: Instance, machine: int, slot: int) -> bool:
    return slot + 1 < instance.slots and bool(instance.states[machine, slot + 1] == DOWN)


@pytest.mark.parametrize("policy", [*PAPER_POLICIES, *BASELINES])
def test_small_instances(policy: str) -> None:
    fixed = {"on_demand": True} if "PRDCT" in policy else {}
    for i, free in enumerate(randoms(150, seed=11, **fixed)):
        instance = free.replace(move=(0, 3, 0, 1)[i // 4 % 4])
        document = json.loads(write_instance(instance))
        copies, handover = 1 + i % 4, HANDOVERS[i % 2]
        absence, is_noticed = [("store", None), ("noticed", True), ("unnoticed", False)][i % 5 % 3]
        options: dict[str, Any] = {"max_copies": copies, "handover": handover, "absence": absence}
        by_day = None
        if i % 3 == 0:
            options["day_tolerance"], by_day = "0.07", Fraction(7, 100)
        name, warns = [("always", lambda q, t: True), ("oracle", lambda q, t, one=instance: truth(one, q, t))][i % 2]
        if "PRDCT" in policy:
            options["predictor"] = name
        expected = play(
            document,
            policy,
            warns=warns,
            max_copies=copies,
            is_immediate=handover == HANDOVERS[0],
            by_day=by_day,
            is_noticed=is_noticed,
        )
        for engine in ("plain", "kernel"):
            assert made(instance, policy, engine=engine, **options) == expected


@pytest.mark.parametrize("store", ["shared", "private"])
def test_the_paper_s_machines_and_real_zones(store: str) -> None:
    for policy in (*PAPER_POLICIES, *BASELINES):
        zones = SpotZones(25, 7200, 1, store, start_slots()[2])
        for source in (Paper("M04", 25, 1800, 9, store, 2220, slots=600), zones):
            instance = source.load()
            expected = play(
                json.loads(write_instance(instance)), policy, warns=lambda q, t, one=instance: truth(one, q, t)
            )
            assert made(instance, policy, predictor="oracle") == expected


def test_hours_of_the_week_counted_one_by_one() -> None:
    training, instance = _first_half_of_the_zones(), SpotZones(9, 1800, 0, "shared", start_slots()[0]).load()
    assert training.clock_s is not None
    assert instance.clock_s is not None
    up, down = [0] * 168, [0] * 168
    for slot in range(training.slots - 1):
        hour = (training.clock_s * 1000 + (slot + 1) * training.slot) // 3_600_000 % 168
        was_up = training.states[:, slot] == UP
        up[hour] += int(was_up.sum())
        down[hour] += int((was_up & (training.states[:, slot + 1] == DOWN)).sum())
    overall = Fraction(sum(down), sum(up))
    warned = [up[hour] > 0 and Fraction(down[hour], up[hour]) > 2 * overall for hour in range(168)]
    assert any(warned)
    document = json.loads(write_instance(instance))
    start, slot = instance.clock_s * 1000, instance.slot
    expected = play(document, "FCFS-PRDCT-DMD", warns=lambda q, t: warned[(start + (t + 1) * slot) // 3_600_000 % 168])
    assert made(instance, "FCFS-PRDCT-DMD", predictor=PREDICTOR) == expected
