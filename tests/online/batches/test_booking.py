"""The master ``booking``: its parts, its bounds, and the protocol."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from hindsched.instances import check
from hindsched.instances.batches import Instance, read_instance
from hindsched.instances.batches.generate import paper, small
from hindsched.instances.batches.volunteers import VolunteerParameters
from hindsched.instances.errors import InputError
from hindsched.online.batches import Options, Problem, Visible, run_policy, simulate
from hindsched.online.batches.booking import Booking, chance_of_record
from tests.cases.batches_by_hand import cornered, readings


def contact(past: list[tuple[int, int]], now: int, c: int = 5) -> Visible:
    problem = Problem(1, ((0, 10_000),), 1, c, 0, 1)
    return Visible(problem, now, 0, c, np.array(past, dtype=np.int64).reshape(-1, 2))


def test_the_chance_is_counted_on_moments_in_which_the_worker_was_there() -> None:
    hours = [(100 * k, 100 * k + 50) for k in range(50)]  # half of the time, fifty seconds in a row
    now = 100 * 50
    assert chance_of_record(contact(hours, now), 100, 51, 0.5) < 0.05  # a hundred seconds hold fifty
    assert chance_of_record(contact(hours, now), 100, 50, 0.5) > 0.95
    halves = chance_of_record(contact(hours, now), 50, 25, 0.5)  # from the first half of an on-time only
    assert 0.4 < halves < 0.6
    assert chance_of_record(contact(hours, now), 40, 41, 0.5) == 0
    assert chance_of_record(contact([], 7), 40, 4, 0.3) == 0.3
    assert chance_of_record(contact([(0, 7)], 7), 40, 4, 0.3) == 0.3  # nothing that long has been seen


def test_the_chance_does_not_look_further_back_than_two_weeks() -> None:
    day = 86_400
    past = [(0, 20 * day), (25 * day, 25 * day + 10), (35 * day, 35 * day + 10), (39 * day, 39 * day + 10)]
    assert chance_of_record(contact(past, 40 * day), day, 3600, 0.5) < 0.05


@pytest.mark.parametrize("report", ["at_once", "at_contact"])
def test_its_runs_are_valid_and_lose_nothing_that_could_be_sent(report: str) -> None:
    options = Options(report=report, first="spread", copies_lambda=2)
    sent = 0
    for seed in range(60):
        instance = small(seed)
        try:
            run = run_policy(instance, "booking", options)
        except InputError as error:
            assert "batches[" in str(error)  # noqa: PT017
            continue
        verdict = check(instance, run.run)
        assert verdict.is_valid, (seed, verdict)
        assert verdict.outcome.satisfied == run.satisfied
        sent += sum(run.copies)
    assert sent > 100


class _Watched(Booking):
    """Records the bookings and asserts their bounds."""

    def deadline(self, now: int, batch: int) -> None:
        super().deadline(now, batch)
        assert 0 <= self._to_book() <= 8 * self.wanted
        assert 0 <= self.least_chance <= 1
        assert all(-1 <= first <= 0 for first, _ in self.by_need)


def test_bookings_stay_bounded_and_calls_near_the_wanted_number() -> None:
    instance = paper(workers=500, tasks=10, deadline_s=4 * 3600, c=1800, batches=40, first_day=60, seed=1)
    options = Options(first="spread", copies_lambda=2)
    master = _Watched(options)
    run = simulate(instance, master, options)
    assert max(master.booked[:-1]) <= 8 * master.wanted + 1
    later = np.array(run.contacts[10:])
    assert 0.5 * master.wanted < later.mean() < 2 * master.wanted
    assert later.max() < 8 * master.wanted


def test_it_sends_no_task_to_workers_that_cannot_end_it() -> None:
    instance = Instance(tasks=1, batches=[(10, 30), (30, 50)], c=[19, 2], up=[[(0, 15), (20, 50)], [(0, 50)]])
    rows: list[Any] = list(run_policy(instance, "booking", Options(p0=1)).run.contacts.rows())
    for time, worker, *task in rows:
        if task:
            assert time + instance.c[worker] <= instance.batches[task[0]][1]
    assert run_policy(instance, "booking", Options(p0=1)).satisfied == (1, 1)


def test_machine_code_books_the_same_calls() -> None:
    sent = 0
    for seed in range(150):
        options = Options(**readings(seed))
        instance = read_instance(cornered(seed))
        try:
            plain = run_policy(instance, "booking", options, engine="plain")
        except InputError as refused:
            with pytest.raises(InputError, match=re.escape(str(refused))):
                run_policy(instance, "booking", options, engine="kernel")
            continue
        fast = run_policy(instance, "booking", options, engine="kernel")
        assert list(fast.run.contacts.rows()) == list(plain.run.contacts.rows()), seed
        assert fast == plain, seed
        sent += sum(plain.copies)
    assert sent > 1_000


@pytest.mark.parametrize("busy", ["queue", "wait"])
@pytest.mark.parametrize("report", ["at_once", "at_contact"])
@pytest.mark.parametrize("compute", ["available", "reliable"])
def test_machine_code_books_the_same_calls_of_drawn_volunteers(compute: str, report: str, busy: str) -> None:
    options = Options(first="spread", copies_lambda=2, busy=busy, report=report)
    instance = paper(
        workers=60, tasks=4, deadline_s=4 * 3600, c=3600, batches=12, first_day=25, habits=VolunteerParameters(days=30)
    )
    instance = instance.replace(compute=compute)
    plain, fast = (run_policy(instance, "booking", options, engine=engine) for engine in ("plain", "kernel"))
    assert list(fast.run.contacts.rows()) == list(plain.run.contacts.rows())
    assert fast == plain
    assert max(plain.copies) > 4
