"""Moves of a checkpoint that cost time: cases computed by hand, for both simulators and the checker."""

from fractions import Fraction

import pytest

from hindsched.instances.bags import Instance, Run, Save, Schedule, check
from hindsched.online.bags import run_policy
from tests.cases.bags import letters


def runs(instance: Instance, policy: str, **options: object) -> list[tuple[object, ...]]:
    run = run_policy(instance, policy, **options)
    assert run == run_policy(instance, policy, engine="plain", **options)
    assert run.schedule is not None
    assert check(instance, run.schedule).is_valid
    return [(r.machine, r.task, r.start, r.end, r.origin) for r in run.schedule.runs]


def test_a_machine_fetches_what_it_has_not_saved() -> None:
    # machine 0 saves a segment and fails at 3; machine 1 fetches it for 2 ticks and needs 1 for the second segment
    pair = letters("uuudddddd", "dddduuuuu", ticks=[2, 1], segments=2, move=2)
    assert runs(pair, "FCFS") == [(0, 0, 0, 3, 0), (1, 0, 4, 7, 1)]
    assert runs(pair.replace(move=0), "FCFS") == [(0, 0, 0, 3, 0), (1, 0, 4, 5, 1)]


def test_a_machine_that_has_saved_the_state_resumes_at_once() -> None:
    lone = letters("uuuduu", ticks=[2], segments=2, move=5)
    assert runs(lone, "FCFS") == [(0, 0, 0, 3, 0), (0, 0, 4, 6, 1)]


def test_a_fetch_waits_while_the_machine_is_reclaimed() -> None:
    pair = letters("uuddddddd", "ddduruuuu", ticks=[2, 1], segments=2, move=2)
    assert runs(pair, "FCFS") == [(0, 0, 0, 2, 0), (1, 0, 3, 7, 1)]


def test_level_pays_for_each_move_but_not_for_going_on() -> None:
    # two tasks in turn on one machine: it has saved both itself
    lone = letters("uuuuuuuu", ticks=[2], tasks=2, segments=2, move=9)
    assert [run[2:4] for run in runs(lone, "LEVEL")] == [(0, 2), (2, 4), (4, 6), (6, 8)]
    # two machines exchange their tasks at 2 and 4 as if nothing were paid: a tick of fetching each
    pair = letters("u" * 9, "u" * 9, ticks=[2, 1], tasks=2, segments=2, move=1)
    first = run_policy(pair, "LEVEL").turnaround
    assert first is not None
    free = run_policy(pair.replace(move=0), "LEVEL").turnaround
    assert free is not None
    assert first > free


def test_saves_on_demand_while_a_state_is_fetched_save_nothing_new() -> None:
    # the predictor warns in every slot; machine 1 fetches at 3 and 4
    pair = letters("uuudddddd", "ddduuuuuu", ticks=[2, 2], segments=2, move=2, on_demand=True)
    run = run_policy(pair, "FCFS-PRDCT-DMD", predictor="always", max_copies=1)
    assert run == run_policy(pair, "FCFS-PRDCT-DMD", predictor="always", max_copies=1, engine="plain")
    assert run.schedule is not None
    assert [(save.machine, save.instant) for save in run.schedule.saves] == [(0, 1), (1, 6)]
    assert run.turnaround == 7
    assert check(pair, run.schedule).is_valid


@pytest.mark.parametrize(("end", "is_valid"), [(7, True), (6, False)])
def test_the_checker_counts_the_fetch(end: int, is_valid: bool) -> None:
    pair = letters("uuudddddd", "dddduuuuu", ticks=[2, 1], segments=2, move=2)
    found = check(pair, Schedule(None, (Run(0, 0, 0, 3, 0), Run(1, 0, 4, end, 1)), turnaround=end))
    assert (found.is_valid, found.rule) == (is_valid, None if is_valid else "complete")


def test_the_checker_lets_a_machine_start_from_its_own_smaller_state() -> None:
    # machine 1 has saved one segment, machine 0 two; machine 1 may do the second again, or fetch it
    pair = letters("uuuu" + "d" * 6, "uuddduuuuu", ticks=[2, 2], segments=3, move=2)
    again = (Run(0, 0, 0, 4, 0), Run(1, 0, 0, 2, 0), Run(1, 0, 5, 9, 1))
    fetched = (*again[:2], Run(1, 0, 5, 9, 2))
    for chosen in (again, fetched):
        assert check(pair, Schedule(None, chosen, turnaround=9)).is_valid
    assert check(pair, Schedule(None, (*fetched[:2], Run(1, 0, 5, 8, 2)), turnaround=8)).rule == "complete"


def test_a_save_on_demand_is_the_machine_s_own() -> None:
    lone = letters("uudu", ticks=[3], on_demand=True, move=4)
    runs_of = (Run(0, 0, 0, 2, 0), Run(0, 0, 3, 4, Fraction(2, 3)))
    assert check(lone, Schedule(None, runs_of, (Save(0, 2),), turnaround=4)).is_valid


def test_private_stores_and_single_segments_pay_nothing() -> None:
    for changes in ({"store": "private"}, {"segments": 1}):
        free = letters("uuduuuuuuu", "uuuuuduuuu", ticks=[2, 3], tasks=3, **{"segments": 2, **changes})
        paid = free.replace(move=3)
        assert not paid.is_move_paid
        for policy in ("FCFS", "FCFS-TR", "WQR-FT"):
            assert run_policy(paid, policy).turnaround == run_policy(free, policy).turnaround
