"""Schedules of closed forms: complete, valid, with few runs and short numbers."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from hindsched.instances.bags import Instance, check, read_schedule, write_schedule
from hindsched.instances.bags.generate import paper
from hindsched.instances.random_streams import stream
from hindsched.offline.bags import lower_bounds, solve
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.fluid_schedule import schedule_by
from tests.cases.bags import letters, randoms


def fluid(instance: Instance) -> Fraction | None:
    periods = AvailabilityPeriods.of_states(instance.states, instance.ticks, instance.slot)
    return lower_bounds.fluid_ticks(periods, instance.states, instance.slot, instance.tasks, instance.segments)


def test_fluid_schedules_are_valid_and_can_be_written() -> None:
    exact = 0
    for instance in randoms(150, seed=20, store="shared", on_demand=True):
        tau = fluid(instance)
        if tau is None:
            continue
        exact += tau.denominator == 1
        schedule = schedule_by(instance, tau)
        verdict = check(instance, schedule)
        assert verdict.is_valid, verdict
        assert verdict.outcome.turnaround == -(-tau.numerator // tau.denominator)
        assert read_schedule(json.loads(write_schedule(schedule))) == schedule
    assert exact >= 10  # integer optima leave no room for rounding


@pytest.mark.parametrize("tasks", [3, 40])
def test_fluid_schedule_with_many_speeds(tasks: int) -> None:
    draw = stream("tests", "speeds", tasks)
    states = (draw.random((30, 60)) < 0.3).astype(np.uint8) * 2
    ticks = [int(x) for x in draw.integers(50_000, 350_000, 30)]
    instance = Instance(tasks, 7, 120_000, ticks, states, on_demand=True)
    found = solve(instance)
    assert check(instance, found.schedule).is_valid
    numbers = [x for run in found.schedule.runs for x in (run.start, run.end, run.origin)]
    assert max(len(str(Fraction(x).denominator)) for x in numbers) <= 40


def test_fluid_schedule_has_few_runs() -> None:
    instance = paper("M04", tasks=75, reference_s=7200, checkpoints=9, start=240, slots=900, on_demand=True)
    found = solve(instance)
    used = -(-found.value // instance.slot)
    comings = int((np.diff(instance.states[:, :used].astype(int), axis=1, prepend=2) == -2).sum())
    assert len(found.schedule.runs) <= comings + 2 * instance.tasks


def test_pauses_by_reclaimed_slots_do_not_end_a_run() -> None:
    instance = letters("uruuru", ticks=[2], slot=1, tasks=1, segments=2)
    for store in ("shared", "private"):
        found = solve(instance, store=store)
        assert found.value == 6
        assert len(found.schedule.runs) == 1


def test_every_period_is_saved_on_private_stores() -> None:
    instance = letters("uduud", ticks=[3], slot=1, tasks=1, segments=1, store="private", on_demand=True)
    found = solve(instance)
    assert found.value == 4
    assert [(run.start, run.end, run.origin) for run in found.schedule.runs] == [(0, 1, 0), (2, 4, Fraction(1, 3))]
    assert [save.instant for save in found.schedule.saves] == [1]
