"""LEVEL and PACE: cases computed by hand, and the properties that docs/bags/model.md states."""

import numpy as np
import pytest

from hindsched.instances.bags import check
from hindsched.instances.bags.generate import paper
from hindsched.instances.errors import InputError
from hindsched.online.bags import make_policy, run_policy, simulate
from hindsched.online.bags.checkpoints import PARTS
from hindsched.online.bags.visible import Ledger, Problem, Visible
from tests.cases.bags import letters


def runs(instance: object, policy: str, **options: object) -> list[tuple[object, ...]]:
    run = run_policy(instance, policy, engine="plain", **options)  # type: ignore[arg-type]
    assert run.schedule is not None
    assert check(instance, run.schedule).is_valid  # type: ignore[arg-type]
    return [(r.machine, r.task, r.start, r.end, r.origin) for r in run.schedule.runs]


def test_level_takes_copies_back_at_ends_of_segments_and_keeps_tasks_level() -> None:
    lone = letters("uuuuuuuu", ticks=[2], slot=1, tasks=2, segments=2)
    assert runs(lone, "LEVEL") == [(0, 0, 0, 2, 0), (0, 1, 2, 4, 0), (0, 0, 4, 6, 1), (0, 1, 6, 8, 1)]


def test_level_moves_a_task_to_the_machine_that_ends_its_segment_first() -> None:
    # at 3 machine 1 would end the segment at 5, machine 0 at 9; at 5 it takes the next one
    pair = letters("uuuuu", "duuuu", ticks=[9, 2], slot=3, segments=2)
    assert runs(pair, "LEVEL") == [(0, 0, 0, 7, 0), (1, 0, 3, 5, 0), (1, 0, 5, 7, 1)]


def test_level_replicates_where_it_is_behind_up_to_max_copies() -> None:
    # machine 1 is behind machine 0, but machine 0 may fail
    pair = letters("uuuu", "uuuu", ticks=[4, 9], slot=4)
    assert runs(pair, "LEVEL") == [(0, 0, 0, 4, 0), (1, 0, 0, 4, 0)]
    assert runs(pair, "LEVEL", max_copies=1) == [(0, 0, 0, 4, 0)]


def test_pace_matches_rests_to_speeds() -> None:
    problem = Problem.of(letters("u", "u", "u", ticks=[2, 8, 4], tasks=3, segments=4))
    ledger = Ledger(problem)
    ledger.history.append(np.zeros(3, dtype=np.uint8))
    for task, saved in ((1, 2), (2, 3)):
        ledger.checkpoints.save(task, 0, saved * PARTS)
    # rests are 4, 2 and 1: all could be done by tau = 7 / (1/2 + 1/4 + 1/8) = 8
    chosen = {q: make_policy("PACE").choose(q, 0, Visible(ledger, q, 0)) for q in range(3)}
    assert chosen == {0: 0, 1: 2, 2: 1}  # 3 * 2 = 8 - 2; only nothing fits 8 - 8; 1 * 4 = 8 - 4
    assert {make_policy("LEVEL").choose(q, 0, Visible(ledger, q, 0)) for q in range(3)} == {0}


def test_pace_word_by_word() -> None:
    pair = letters("u" * 6, "u" * 6, ticks=[2, 8], slot=2, tasks=2, segments=3)
    assert runs(pair, "PACE") == [
        (0, 0, 0, 2, 0),
        (1, 1, 0, 8, 0),  # tau is 9; two more segments do not fit into the rest, but no other task waits
        (0, 0, 2, 4, 1),
        (0, 0, 4, 6, 2),
        (0, 1, 6, 8, 0),  # not ahead, but one copy is not enough
        (0, 1, 8, 10, 1),
        (1, 1, 8, 12, 1),
        (0, 1, 10, 12, 2),  # ahead
    ]


@pytest.mark.parametrize("policy", ["LEVEL", "PACE"])
def test_private_stores_are_refused(policy: str) -> None:
    private = letters("u", ticks=[1], store="private")
    with pytest.raises(InputError, match=f"store: private, expected shared for {policy}"):
        simulate(private, make_policy(policy))
    with pytest.raises(InputError, match=f"store: private, expected shared for {policy}"):
        run_policy(private, policy, engine="kernel")


def test_on_the_paper_s_machines_they_are_far_ahead_with_nine_checkpoints() -> None:
    sums = dict.fromkeys(("FCFS-TR", "LEVEL", "PACE"), 0)
    for seed in range(8):
        instance = paper("M04", checkpoints=9, start=240 + 37 * seed, slots=600, seed=300 + seed)
        for policy in sums:
            turnaround = run_policy(instance, policy, schedule=False).turnaround
            assert turnaround is not None
            sums[policy] += turnaround
    assert sums["PACE"] < sums["LEVEL"] < sums["FCFS-TR"]
