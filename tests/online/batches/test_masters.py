"""The masters and the simulator on small instances; every number here is computed by hand."""

from __future__ import annotations

from math import ceil

import pytest

from hindsched.instances import InputError
from hindsched.instances.batches import Instance
from hindsched.online.batches import POLICIES, Options, run_policy
from hindsched.online.batches.periods import period, poisson_tail, requests_for


def always(workers: int, end: int = 1000) -> list[list[tuple[int, int]]]:
    return [[(0, end)] for _ in range(workers)]


def rows(instance: Instance, policy: str, **options) -> list[tuple]:
    return list(run_policy(instance, policy, Options(**options), engine="plain").run.contacts.rows())


def periods(instance: Instance, policy: str, **options) -> tuple:
    return run_policy(instance, policy, Options(**options), engine="plain").run.periods


def test_requests_of_the_paper() -> None:
    assert [requests_for(tasks, 0.99) for tasks in (1024, 2048, 4096)] == [1100, 2155, 4247]


def test_requests_are_the_least_that_do() -> None:
    from scipy.stats import poisson

    for tasks, k, copies in [(1, 0.5, 1), (3, 0.99, 2), (40, 0.9, 1), (1024, 0.99, 2), (7, 0.01, 1)]:
        found = requests_for(tasks, k, copies)
        assert poisson.sf(tasks * copies - 1, found) >= k
        assert found == 1 or poisson.sf(tasks * copies - 1, found - 1) < k
        assert poisson_tail(found, tasks * copies) == pytest.approx(poisson.sf(tasks * copies - 1, found), rel=1e-9)


def test_the_period_is_rounded_down_and_at_least_one() -> None:
    assert period(10, 7 * 4, 4, 3) == 21
    assert period(1, 1, 4, 3) == 1
    assert period(10, -50, 4, 3) == 1


def test_algorithm_1_misses_a_deadline_that_theorem_1_promises() -> None:
    """N = 4, P = 2, C = 1, D - S = 2: the calls are planned at 0, 1/3, 2/3, 1, that is 0, 1, 1, 1."""
    instance = Instance(tasks=4, batches=[(1, 3), (8, 10)], c=[1, 1], up=always(2), start=0)
    found = run_policy(instance, "A1", engine="plain")
    first = [row for row in found.run.contacts.rows() if len(row) == 5 and row[2] == 0]
    assert max(row[4] for row in first) == 4
    assert found.satisfied[0] == 3


@pytest.mark.parametrize("busy", ["queue", "wait"])
def test_theorem_1_repaired_for_some(busy: str) -> None:
    for tasks in range(1, 6):
        for p in range(1, 7):
            for c in (1, 3):
                for length in range(c, c + 8):
                    batches = [(5, 5 + length), (5 + length, 5 + 2 * length)]
                    instance = Instance(tasks=tasks, batches=batches, c=[c] * p, up=always(p), start=0)
                    found = run_policy(instance, "A1", Options(busy=busy), engine="plain")
                    meets = found.satisfied == (tasks, tasks)
                    assert meets == (p >= tasks or p * (length - c) >= c * (tasks - 1)), (tasks, p, c, length)


def test_algorithm_1_plans_calls_evenly() -> None:
    instance = Instance(tasks=3, batches=[(10, 20)], c=[4, 5], up=always(2))
    assert rows(instance, "A1") == [  # the margin is 2 * 10 - 9 = 11: R = 10, 10 + ceil(11 / 4), 10 + ceil(22 / 4)
        (0, 0),
        (0, 1),
        (10, 0, 0, 0, 14),
        (13, 1, 0, 1, 18),
        (16, 0, 0, 2, 20),
    ]
    assert [ceil(k * 11 / 4) for k in range(3)] == [0, 3, 6]


def test_algorithm_1_drops_unsent_tasks_but_not_its_plan() -> None:
    instance = Instance(tasks=2, batches=[(2, 5), (5, 9)], c=[2], up=[[(0, 1), (6, 30)]])
    assert rows(instance, "A1") == [(0, 0), (6, 0, 0, 0, 8), (7, 0, 0, 1, None), (8, 0, 1, 0, None)]
    assert rows(instance, "A1", overdue="drop") == [(0, 0), (6, 0, 1, 0, 8), (7, 0, 1, 1, None), (8, 0)]


def test_algorithm_2_has_one_call_per_worker_and_period() -> None:
    # lambda = 5 for one task in 0.99; T = 9 * 2 * (2 * 40 - 4) / (10 * 5 * 2) = 13
    instance = Instance(tasks=1, batches=[(20, 60), (60, 100)], c=[2, 2], up=always(2), start=0)
    assert requests_for(1, 0.99) == 5
    found = run_policy(instance, "A2", engine="plain")
    assert found.run.periods[0] == (0, 13)
    assert [row for row in found.run.contacts.rows() if row[0] < 40] == [
        (0, 0),
        (0, 1),
        (13, 0),
        (13, 1),
        (26, 0, 0, 0, 28),
        (26, 1),
        (39, 0),
        (39, 1),
    ]
    # when task 0 is sent at 26 worker 1 has not called in this second, but at 13: both are active
    assert found.run.periods[1] == (26, 13)
    assert found.satisfied == (1, 1)
    assert found.latency == (8, 7)
    assert found.requests[0] == 6


def test_connections_count_every_contact() -> None:
    instance = Instance(tasks=1, batches=[(20, 60), (60, 100)], c=[2, 2], up=always(2), start=0)
    # at 26 contacts in (0, 26]: 13, 13 and 26
    assert periods(instance, "A2", active="connections")[1] == (26, 9 * 3 * 76 // 100)


def test_shifting_keeps_the_period_at_a_new_batch_and_changes_it_at_deadlines() -> None:
    instance = Instance(tasks=1, batches=[(20, 60), (60, 100)], c=[2, 2], up=always(2), start=0)
    # X_0 counts 26, 26, 39, 39, 52, 52: 10 * 6 > 11, T = 13 * 6; no worker calls after 60
    assert periods(instance, "A2-shift") == ((0, 13), (60, 78), (100, 13 * 6 * 2))
    # at 65 two workers call that received their call time at 52
    found = run_policy(instance, "A2-shift", engine="plain")
    assert found.requests == (6, 2)


def test_algorithm_3_copies_go_round() -> None:
    instance = Instance(tasks=2, batches=[(0, 12)], c=[6, 6, 6], up=always(3))
    found = rows(instance, "A3-copies", copies=2, p0=1)
    assert periods(instance, "A3-copies", p0=1)[0] == (0, 1)
    assert [row[2:4] for row in found if len(row) == 5] == [(0, 0), (0, 1), (0, 0), (0, 1)]
    assert [row for row in found if row[0] <= 1 and len(row) == 5][-1] == (1, 0, 0, 1, 12)


def test_algorithm_3_speed_sends_the_least_certain_task() -> None:
    # mean 3, c = 1, 2, 6: s = 0.99, 0.99, 0 where 6 > D - now, else 1.0 -> 0.99
    instance = Instance(tasks=2, batches=[(0, 8)], c=[1, 2, 6], up=always(3))
    found = rows(instance, "A3-speed", p0=1)
    assert found[:4] == [(0, 0, 0, 0, 1), (0, 1, 0, 1, 2), (0, 2, 0, 0, 6), (1, 0, 0, 1, 2)]
    assert found[4:6] == [(1, 1, 0, 1, 4), (1, 2, 0, 1, None)]
    # task 0 is done at 1, both by 2: the batch is closed then
    assert all(len(row) == 2 for row in found[6:])


def test_a_slow_worker_gets_nothing_when_the_deadline_is_near() -> None:
    instance = Instance(tasks=3, batches=[(2, 9)], c=[6, 1], up=[[(4, 20)], [(0, 1)]])
    assert all(len(row) == 2 for row in rows(instance, "A3-speed"))
    assert any(len(row) == 5 for row in rows(instance, "A3-copies"))


def test_history_looks_at_the_same_hours_of_the_past() -> None:
    day = 86_400
    often = [(x * day, x * day + 100) for x in range(9)] + [(9 * day, 9 * day + 200)]
    seldom = [(x * day, x * day + 10) for x in range(9)] + [(9 * day, 9 * day + 200)]
    instance = Instance(tasks=2, batches=[(9 * day, 9 * day + 90)], c=[50, 50], up=[often, seldom], start=9 * day)
    sent = [row[1] for row in rows(instance, "A3-history", p0=1) if len(row) == 5]
    assert set(sent) == {0}
    assert {row[1] for row in rows(instance, "A3-speed", p0=1) if len(row) == 5} == {0, 1}
    # half of the replays missed is not more than half
    half = [(x * day, x * day + (10 if x in (6, 8) else 100)) for x in range(1, 9)] + [(9 * day, 9 * day + 200)]
    instance = instance.replace(up=[often, half])
    sent = [row[1] for row in rows(instance, "A3-history", p0=1, replays=3) if len(row) == 5]
    assert set(sent) == {0, 1}


def test_waiting_workers_call_when_their_queue_is_empty() -> None:
    instance = Instance(tasks=4, batches=[(0, 30)], c=[9], up=always(1))
    queue = rows(instance, "A3-copies", p0=1, copies=1)
    wait = rows(instance, "A3-copies", p0=1, copies=1, busy="wait")
    assert [row[0] for row in queue if len(row) == 5] == [0, 1, 2, 3]
    assert [row[0] for row in wait if len(row) == 5] == [0, 9, 18, 27]
    assert wait[-1] == (27, 0, 0, 3, None)


def test_the_master_hears_at_contacts() -> None:
    # worker 1 ends task 0 at 2, but is away until 7: the master sends it again
    instance = Instance(tasks=1, batches=[(0, 10)], c=[3, 2], up=[[(5, 20)], [(0, 1), (7, 20)]], compute="reliable")
    once = rows(instance, "A3-copies", p0=1)
    late = rows(instance, "A3-copies", p0=1, report="at_contact")
    assert [row for row in once if len(row) == 5] == [(0, 1, 0, 0, 2)]
    assert [row for row in late if len(row) == 5] == [(0, 1, 0, 0, 2), (5, 0, 0, 0, 8)]
    assert periods(instance, "A3-copies", p0=1, report="at_contact")[1][0] == 7
    assert periods(instance, "A3-copies", p0=1)[1][0] == 2


def test_algorithm_3_closes_a_batch_at_its_deadline_by_default() -> None:
    instance = Instance(tasks=1, batches=[(0, 4), (4, 9)], c=[5, 1], up=[[(0, 20)], [(0, 1)]])
    instance = instance.replace(up=[[(0, 20)], []])
    assert [row[2:] for row in rows(instance, "A3-copies") if len(row) == 5][:2] == [(0, 0, 5), (0, 0, None)]
    carried = [row for row in rows(instance, "A3-speed", overdue="carry") if len(row) == 5]
    dropped = [row for row in rows(instance, "A3-speed") if len(row) == 5]
    assert carried == []
    assert [row[2] for row in dropped] == [1] * len(dropped)
    assert dropped


def test_a_spread_begin() -> None:
    instance = Instance(tasks=1, batches=[(50, 100)], c=[2, 2, 2], up=always(3), start=10)
    first = periods(instance, "A2", first="spread", p0=9)[0][1]
    begins = {row[1]: row[0] for row in reversed(rows(instance, "A2", first="spread", p0=9))}
    for j in range(3):
        assert begins[j] == 10 + 2654435761 * j % 2**32 * first // 2**32


def test_the_first_p_counts_workers_of_the_week_before() -> None:
    week = 604_800
    up = [
        [(week - 1, week)],
        [(week, week + 5)],
        [(2 * week - 1, 2 * week + 9)],
        [(0, 5 * week)],
        [(2 * week, 3 * week)],
    ]
    instance = Instance(tasks=1, batches=[(2 * week, 2 * week + 90)], c=[2] * 5, up=up)
    margin = 5 * 90 - 10
    assert periods(instance, "A2")[0] == (0, period(3, margin, 5, 5))
    assert periods(instance.replace(start=2 * week), "A2")[0][1] == period(1, margin, 5, 5)
    assert periods(instance.replace(start=2 * week - 1), "A2")[0][1] == period(2, margin, 5, 5)


def test_batches_without_a_margin_are_refused() -> None:
    instance = Instance(tasks=1, batches=[(0, 9), (10, 13)], c=[3, 3], up=always(2))
    for policy in POLICIES:
        if policy == "A1":
            run_policy(instance, policy)
        else:
            with pytest.raises(InputError, match=r"batches\[1\]"):
                run_policy(instance, policy)
    with pytest.raises(InputError, match=r"batches\[1\]"):
        run_policy(instance.replace(c=[3, 4]), "A1")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", "1"),
        ("p0", "month"),
        ("p0", "0"),
        ("copies", "0"),
        ("busy", "often"),
        ("colour", "red"),
        ("replays", "1.5"),
    ],
)
def test_unknown_readings_are_refused(name: str, value: str) -> None:
    with pytest.raises(InputError) as caught:
        Options.parse({name: value})
    assert caught.value.place == name
