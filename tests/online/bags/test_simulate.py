"""The plain simulator: cases computed by hand, one or more for every rule."""

from fractions import Fraction
from typing import Any

import pytest

from hindsched.instances.bags import Instance, check
from hindsched.instances.errors import InputError
from hindsched.online.bags import Visible, make_policy, simulate
from hindsched.online.bags.policies import FcfsPrdctDmd
from hindsched.online.bags.predictors import Seen
from tests.cases.bags import letters


class Warns:
    """A predictor that warns in given slots."""

    name = "given"

    def __init__(self, *where: tuple[int, int]) -> None:
        self.where = where

    def predict(self, machine: int, slot: int, seen: Seen) -> bool:
        assert seen.states.shape[1] == slot + 1
        return (machine, slot) in self.where


def runs(instance: Instance, policy: Any = "FCFS", **options: Any) -> tuple[list[tuple[Any, ...]], int | None]:
    """Return machine, task, start, end, from of each run, and the turnaround."""
    handover = options.pop("handover", "immediate")
    made = make_policy(policy, **options) if isinstance(policy, str) else policy
    done = simulate(instance, made, handover=handover)
    assert done.schedule is not None
    assert check(instance, done.schedule).is_valid
    return [(r.machine, r.task, r.start, r.end, r.origin) for r in done.schedule.runs], done.turnaround


def test_b1_shared_a_copy_on_a_machine_that_fails_moves_to_the_next_idle_machine() -> None:
    pair = letters("uduu", "duuu", ticks=[2, 2], slot=3, segments=2)
    # machine 0 saves at 2, fails at 3; machine 1 takes over from there
    assert runs(pair) == ([(0, 0, 0, 3, 0), (1, 0, 3, 5, 1)], 5)


def test_b1_private_a_copy_stays_and_falls_back_to_the_disk() -> None:
    pair = letters("uduu", "duuu", ticks=[2, 2], slot=3, segments=2, store="private")
    # the master does not know that machine 0 is DOWN, so machine 1 gets no task
    assert runs(pair) == ([(0, 0, 0, 3, 0), (0, 0, 6, 8, 1)], 8)


def test_b1_private_a_copy_without_a_save_is_lost() -> None:
    lone = letters("uduuuu", ticks=[5], slot=3, store="private")
    assert runs(lone) == ([(0, 0, 0, 3, 0), (0, 0, 6, 11, 0)], 11)


def test_a_run_goes_through_reclaimed_slots() -> None:
    assert runs(letters("uruu", ticks=[5], slot=3)) == ([(0, 0, 0, 8, 0)], 8)


def test_b2_a_deadline_removes_a_copy_on_a_reclaimed_machine_with_its_unsaved_work() -> None:
    # base 5, tolerance 20 %: the deadline is 6, seen at 6; the machine comes back at 9
    pair = letters("urruuu", "dduuuu", ticks=[5, 5], slot=3)
    assert runs(pair, "FCFS-AT") == ([(0, 0, 0, 6, 0), (1, 0, 6, 11, 0)], 11)
    assert runs(pair, "FCFS") == ([(0, 0, 0, 11, 0)], 11)


def test_b2_a_deadline_between_boundaries_is_seen_at_the_next_one() -> None:
    # base 4, deadline ceil(4.8) = 5, seen at 6
    pair = letters("urruuu", "ududuu", ticks=[4, 4], slot=3)
    assert runs(pair, "FCFS-AT") == ([(0, 0, 0, 6, 0), (1, 0, 6, 9, 0), (0, 0, 9, 13, 0)], 13)


def test_b2_private_a_deadline_removes_a_copy_on_a_down_machine() -> None:
    pair = letters("udduuu", "duuuuu", ticks=[5, 5], slot=3, store="private")
    assert runs(pair, "FCFS-AT")[0] == [(0, 0, 0, 3, 0), (1, 0, 6, 11, 0)]


def test_b3_saves_on_demand_and_the_task_is_replicated_first() -> None:
    # tasks 0 and 1 on machines 0 and 1; machine 2 comes at 3, machine 1 is about to fail
    three = letters("uuuuu", "uuddd", "duuuu", ticks=[20, 7, 7], slot=3, tasks=2, on_demand=True)
    made, turnaround = runs(three, FcfsPrdctDmd(Warns((1, 1))))
    part = Fraction(3 * 10**9 // 7, 10**9)
    # Parts are rounded down: a part remains after four ticks, and it takes a fifth tick.
    assert made == [(0, 0, 0, 15, 0), (1, 1, 0, 6, 0), (2, 1, 3, 8, part), (2, 0, 8, 15, 0)]
    assert turnaround == 15
    # without the warning task 0, which is expected last, is replicated
    assert runs(three, FcfsPrdctDmd(Warns()))[0][2] == (2, 0, 3, 10, 0)


def test_b3_a_task_is_endangered_though_nothing_greater_was_saved_and_only_until_the_slot_ends() -> None:
    # machine 0 restarts at 6 from its disk with nothing new to save when the warning comes
    pair = letters("udu", "uuu", ticks=[9, 4], slot=3, tasks=2, store="private", on_demand=True)
    done = simulate(pair, FcfsPrdctDmd(Warns((0, 2))))
    assert done.schedule is not None
    assert done.schedule.saves == ()


def test_b4_longest_idle_first() -> None:
    # at 6 machine 1 has been UP since 3, machine 0 since 6; one task is left
    machines = letters("ddu", "dud", "uuu", ticks=[1, 9, 7], slot=3, tasks=2)
    assert (1, 1, 3, 6, 0) in runs(machines)[0]  # it requested first, at 3
    late = letters("ddu", "ruu", "uuu", ticks=[1, 1, 4], slot=3, tasks=2, segments=1)
    assert runs(late)[0][:2] == [(2, 0, 0, 4, 0), (1, 1, 3, 4, 0)]


def test_b4_reclaimed_breaks_idleness() -> None:
    class One:
        name = "one"

        def choose(self, machine: int, instant: int, visible: Visible) -> int | None:
            asked.append((machine, instant))
            return None

    asked: list[tuple[int, int]] = []
    simulate(letters("uru", "duu", ticks=[1, 1], slot=3), One())
    assert asked == [(0, 0), (1, 3), (1, 6), (0, 6)]


def test_b6_a_freed_machine_is_served_at_once_or_at_the_boundary() -> None:
    lone = letters("uuu", ticks=[2], slot=5, tasks=2)
    assert runs(lone) == ([(0, 0, 0, 2, 0), (0, 1, 2, 4, 0)], 4)
    assert runs(lone, handover="boundary") == ([(0, 0, 0, 2, 0), (0, 1, 5, 7, 0)], 7)


def test_b6_a_completion_at_the_boundary_waits_for_the_states_of_the_next_slot() -> None:
    pair = letters("ud", "uu", ticks=[3, 3], slot=3, tasks=3)
    assert runs(pair) == ([(0, 0, 0, 3, 0), (1, 1, 0, 3, 0), (1, 2, 3, 6, 0)], 6)


def test_b6_all_copies_of_a_completed_task_go_and_freed_machines_are_served_by_index() -> None:
    # task 0 on machines 0 (slow), replicated on 1 and 2 when they come; 2 completes it
    three = letters("uuuuuuu", "duuuuuu", "duuuuuu", ticks=[30, 9, 3], slot=3, tasks=1)
    made, turnaround = runs(three, "FCFS-TR")
    assert turnaround == 6
    assert made == [(0, 0, 0, 6, 0), (1, 0, 3, 6, 0), (2, 0, 3, 6, 0)]


def test_b6_segments_that_end_at_the_instant_of_a_handover_count() -> None:
    # both machines end at 4; machine 1 completes task 1, then takes task 0 from the segment machine 0 has just saved
    pair = letters("uuuuu", "uuuuu", ticks=[4, 2], slot=3, tasks=2, segments=2)
    assert runs(pair, "FCFS-TR") == ([(0, 0, 0, 6, 0), (1, 1, 0, 4, 0), (1, 0, 4, 6, 1)], 6)


def test_tr_fewest_copies_then_expected_last_then_index() -> None:
    # expected ends: task 0 at 10, task 1 at 12, task 2 at 12; machine 3 takes 1, machine 4 takes 2, then 0
    six = letters("uuuuuu", "uuuuuu", "uuuuuu", "duuuuu", "duuuuu", "duuuuu", ticks=[10, 12, 12, 99, 99, 99], slot=3)
    made, _ = runs(six.replace(tasks=3), "FCFS-TR")
    assert [(q, task) for q, task, start, _, _ in made if start == 3] == [(3, 1), (4, 2), (5, 0)]


def test_tr_most_copies() -> None:
    four = letters("uuuuuu", "uuuuuu", "uuuuuu", "uuuuuu", ticks=[10] * 4, slot=3)
    for most in (1, 2, 3, 4):
        made, _ = runs(four, "FCFS-TR", max_copies=most)
        assert len(made) == most


def test_the_slots_run_out() -> None:
    assert runs(letters("ud", ticks=[5], slot=3, store="private")) == ([(0, 0, 0, 3, 0)], None)
    assert runs(letters("ur", ticks=[5], slot=3)) == ([(0, 0, 0, 6, 0)], None)


def test_prdct_needs_on_demand_and_its_usual_predictor_a_clock() -> None:
    with pytest.raises(InputError, match="on_demand: false, expected true for FCFS-PRDCT-DMD"):
        simulate(letters("u", ticks=[1]), make_policy("FCFS-PRDCT-DMD", predictor="never"))
    with pytest.raises(InputError, match="clock_s: null, expected a clock for the predictor hour"):
        simulate(letters("uuu", ticks=[4], slot=3, on_demand=True), make_policy("FCFS-PRDCT-DMD"))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (1.5, "policy bad, instant 0: 1.5, expected a task or None"),
        (2, "policy bad, instant 0: task 2, expected 0 to 1"),
        (-1, "policy bad, instant 0: task -1, expected 0 to 1"),
        (KeyError("x"), "policy bad, instant 0: choose raised KeyError"),
    ],
)
def test_bad_choices(answer: object, message: str) -> None:
    class Bad:
        name = "bad"

        def choose(self, machine: int, instant: int, visible: Visible) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    with pytest.raises(InputError) as caught:
        simulate(letters("u", ticks=[1], tasks=2), Bad())
    assert str(caught.value).startswith(message)


def test_a_task_that_is_done_cannot_be_chosen() -> None:
    class First:
        name = "first"

        def choose(self, machine: int, instant: int, visible: Visible) -> int:
            return 0

    with pytest.raises(InputError, match="policy first, instant 1: task 0 is done"):
        simulate(letters("uu", ticks=[1], tasks=2), First())


def test_states_are_seen_up_to_now_and_not_with_private_stores() -> None:
    class Looks:
        name = "looks"

        def choose(self, machine: int, instant: int, visible: Visible) -> None:
            shapes.append(visible.states.shape)

    shapes: list[tuple[int, ...]] = []
    pair = letters("uu", "ud", ticks=[1, 1])
    simulate(pair, Looks())
    assert shapes == [(2, 1), (2, 1), (2, 2)]
    with pytest.raises(InputError, match="states are not known with private stores"):
        simulate(pair.replace(store="private"), Looks())


def test_a_policy_from_a_file(tmp_path: Any) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "class Last:\n    def __init__(self, max_copies, own=0):\n        self.name = f'last-{max_copies}-{own}'\n"
        "    def choose(self, machine, instant, visible):\n        return max(visible.waiting, default=None)\n"
    )
    policy = make_policy(f"{file}:Last", max_copies=2, own={"own": 7})
    assert policy.name == "last-2-7"
    assert runs(letters("uu", ticks=[1], tasks=2), policy)[0] == [(0, 1, 0, 1, 0), (0, 0, 1, 2, 0)]
    with pytest.raises(InputError, match=r"expected a policy of bags: did you mean FCFS\?"):
        make_policy("FCFS-XX")
    with pytest.raises(InputError, match="max_copies: 0, expected an integer >= 1"):
        make_policy("FCFS", max_copies=0)
