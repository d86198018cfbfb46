"""WQR, WQR-FT, EXCL-S1 and EXCL-S1-DUP: cases computed by hand."""

import pytest

from hindsched.instances.bags import Instance, check
from hindsched.instances.bags.generate import paper
from hindsched.online.bags import run_policy
from hindsched.online.bags.work_queues import slow_machines
from tests.cases.bags import letters


def runs(instance: Instance, policy: str, **options: object) -> list[tuple[object, ...]]:
    run = run_policy(instance, policy, engine="plain", **options)
    assert run.schedule is not None
    assert check(instance, run.schedule).is_valid
    return [(r.machine, r.task, r.start, r.end, r.origin) for r in run.schedule.runs]


def test_wqr_ft_replicates_the_task_with_the_fewest_copies_by_index() -> None:
    # machine 2 has no task of its own; tasks 0 and 1 have a copy each, although task 1 would end later
    trio = letters("uuuu", "uuuu", "uuuu", ticks=[2, 4, 2], tasks=2)
    assert runs(trio, "WQR-FT") == [(0, 0, 0, 2, 0), (1, 1, 0, 4, 0), (2, 0, 0, 2, 0), (0, 1, 2, 4, 0), (2, 1, 2, 4, 0)]
    assert runs(trio, "WQR-FT", max_copies=1) == [(0, 0, 0, 2, 0), (1, 1, 0, 4, 0)]
    # FCFS-TR takes the task that is expected to end last
    assert (2, 1, 0, 2, 0) in runs(trio, "FCFS-TR")


def test_wqr_ft_resubmits_a_failed_task_first_and_from_its_checkpoint() -> None:
    # machine 0 has saved one segment of task 0 when it fails at 3; machine 1 takes task 0 before task 2
    pair = letters("uuuddddddd", "uuuuuuuuuu", ticks=[2, 2], tasks=3, segments=2)
    assert runs(pair, "WQR-FT", max_copies=1) == [
        (0, 0, 0, 3, 0),
        (1, 1, 0, 4, 0),
        (1, 0, 4, 6, 1),
        (1, 2, 6, 10, 0),
    ]


def test_wqr_gives_up_a_task_whose_copies_have_all_failed() -> None:
    pair = letters("uddddddddd", "uuuuuuuuuu", ticks=[2, 1], tasks=2, segments=2)
    run = run_policy(pair, "WQR", engine="plain")
    assert (run.turnaround, run.completed) == (None, 1)
    assert run_policy(pair, "WQR-FT").turnaround == 4


def test_wqr_ignores_checkpoints() -> None:
    # a second copy starts from nothing at 2, although a segment is saved
    pair = letters("uuuuuu", "duuuuu", ticks=[2, 1], slot=3, segments=3)
    assert runs(pair, "WQR") == [(0, 0, 0, 6, 0), (1, 0, 3, 6, 0)]
    assert runs(pair, "WQR-FT") == [(0, 0, 0, 5, 0), (1, 0, 3, 5, 1)]
    # and with a private store a copy that its machine interrupts begins again
    lone = letters("uuduuu", ticks=[1], segments=3, store="private")
    assert runs(lone, "WQR") == [(0, 0, 0, 2, 0), (0, 0, 3, 6, 0)]
    assert run_policy(lone, "WQR-FT").turnaround == 4


def test_slow_machines_of_the_paper_are_those_of_type_a() -> None:
    assert slow_machines(paper("M04", slots=1).ticks) == frozenset(range(8))
    assert slow_machines(paper("M01", slots=1).ticks) == frozenset()


def test_exclusion_leaves_slow_machines_idle() -> None:
    four = letters("uuuuuuuu", "uuuuuuuu", "uuuuuuuu", "duuuuuuu", ticks=[8, 2, 2, 2], tasks=3)
    assert slow_machines(four.ticks) == {0}
    assert runs(four, "EXCL-S1") == [(1, 0, 0, 2, 0), (2, 1, 0, 2, 0), (3, 2, 1, 3, 0)]
    duplicated = [(1, 0, 0, 2, 0), (2, 1, 0, 2, 0), (3, 2, 1, 3, 0), (1, 2, 2, 3, 0), (2, 2, 2, 3, 0)]
    assert runs(four, "EXCL-S1-DUP") == duplicated
    assert run_policy(four, "FCFS").turnaround == 8


@pytest.mark.parametrize("policy", ["EXCL-S1", "EXCL-S1-DUP"])
def test_a_bag_waits_while_only_excluded_machines_are_up(policy: str) -> None:
    four = letters("uuuu", "dddd", "dddd", "dddd", ticks=[8, 1, 1, 1])
    assert run_policy(four, policy).completed == 0
