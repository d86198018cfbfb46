"""The checker as a whole: a long schedule by hand, and the outcome of complete and incomplete schedules."""

from dataclasses import dataclass, field

import pytest

from hindsched.instances import InputError, Verdict, check
from hindsched.instances.coupled import Configuration, Instance, Outcome, Schedule
from hindsched.instances.files import is_made_for

Tasks = dict[int, int]
AGAIN = {0: {0: 1}, 2: {0: 1}}


@dataclass(frozen=True)
class Text:
    """Letters, one word per worker, and entries by slot."""

    letters: str
    entries: dict[int, Tasks] = field(default_factory=lambda: {0: {0: 1}})

    def check(self, instance: Instance) -> Verdict:
        return check(instance, self.schedule(instance))

    def schedule(self, instance: Instance) -> Schedule:
        entries = tuple(Configuration(slot, tasks) for slot, tasks in self.entries.items())
        return Schedule(instance.fingerprint, tuple(self.letters.split()), entries)


# A schedule like the paper's Figure 1, with its numbers: five tasks on workers with speeds 1 to 5.
# Worker 0 is DOWN at first. Workers 1, 2 and 3 take 2, 2 and 1 tasks (W = 6). In slot 3 worker 2 is RECLAIMED; worker 3
# idles although a channel is free. In slot 8 the computation is suspended. In slot 10 worker 3 goes DOWN after three of
# six slots of computation. Worker 0 is UP and takes its task, so the computation starts again when worker 0 has program
# and data. It is suspended again in slot 15.
FIGURE = Instance.from_letters(
    [
        "ddddduuuuuuuuuuuuuuuuuuu",
        "uuuuuuuuuuuuuuuruuuuuuuu",
        "uuuruuuuruuuuuuuuuuuuuuu",
        "uuuuuuuuuudduuuuuuuuuuuu",
        "uuuuuuuuuuuuuuuuuuuuuuuu",
    ],
    w=[1, 2, 3, 4, 5],
    tasks=5,
    n_com=2,
    t_prog=2,
    t_data=1,
)
FIGURE_TEXT = Text(
    """
    ..........PPDCCICCCC
    PPDDIICCICIIICCICCCC
    PPIIDDCCICIIICCICCCC
    IIPIPDCCIC..........
    ....................
    """,
    {0: {1: 2, 2: 2, 3: 1}, 10: {0: 1, 1: 2, 2: 2}},
)


def test_a_schedule_like_figure_1_is_accepted() -> None:
    assert FIGURE_TEXT.check(FIGURE) == Verdict(None, None, None, Outcome(ends=(20,), wanted=1))


@pytest.mark.parametrize(
    ("q", "slot", "letter", "rule"),
    [
        (3, 1, "P", "R3"),  # a third worker is served
        (2, 3, "D", "R3"),  # served while RECLAIMED
        (1, 8, "C", "R4"),  # computing while worker 2 is RECLAIMED
        (4, 9, "C", "R2"),  # computing without being enrolled
        (3, 10, "I", "R1"),  # enrolled although DOWN
        (1, 11, "C", "R3"),  # computing while worker 0 lacks the program
        (0, 19, "I", "R4"),  # idle where all can compute
    ],
)
def test_a_schedule_like_figure_1_with_one_letter_changed_is_refused(q: int, slot: int, letter: str, rule: str) -> None:
    rows = FIGURE_TEXT.letters.split()
    rows[q] = rows[q][:slot] + letter + rows[q][slot + 1 :]
    verdict = Text(" ".join(rows), FIGURE_TEXT.entries).check(FIGURE)
    assert (verdict.time, verdict.rule) == (slot, rule), verdict


LONE = Instance.from_letters(["uuuuuu"], w=[1], tasks=1, iterations=2)


@pytest.mark.parametrize(
    ("text", "iterations", "makespan"),
    [
        (Text("", {}), 0, None),
        (Text("..", {}), 0, None),
        (Text("C"), 1, None),
        (Text("C.C", AGAIN), 2, 3),
        (Text("C.C...", AGAIN), 2, 3),
        (Text("CCC.C", {slot: {0: 1} for slot in (0, 1, 2, 4)}), 4, 2),
    ],
    ids=["no slot", "no enrolled worker", "unfinished", "finished", "further slots", "further iterations"],
)
def test_all_iterations_are_counted_and_the_makespan_is_that_of_iteration_k(
    text: Text, iterations: int, makespan: int | None
) -> None:
    letters = tuple(text.letters.split()) or ("",)
    entries = tuple(Configuration(slot, tasks) for slot, tasks in text.entries.items())
    verdict = check(LONE, Schedule(LONE.fingerprint, letters, entries))
    assert verdict.is_valid
    assert (verdict.outcome.iterations, verdict.outcome.makespan) == (iterations, makespan)


def test_a_broken_schedule_keeps_the_iterations_before_the_violation() -> None:
    verdict = Text("CCC", {0: {0: 1}, 1: {0: 1}}).check(LONE)
    assert (verdict.time, verdict.rule, verdict.outcome.iterations, verdict.outcome.makespan) == (2, "R5", 2, 2)


def test_slots_beyond_the_instance_break_r1() -> None:
    verdict = Text(".......", {}).check(LONE)
    assert (verdict.time, verdict.rule, verdict.reason) == (6, "R1", "no state is known from slot 6 on")
    assert Text(".C.....", {}).check(LONE).time == 1  # an earlier violation comes first


def test_an_entry_after_the_last_letter_may_enrol_no_worker() -> None:
    assert Text("C", {0: {0: 1}, 1: {}}).check(LONE).is_valid
    assert Text("C", {0: {0: 1}, 9: {}}).check(LONE).is_valid
    for slot in (1, 9):
        verdict = Text("C", {0: {0: 1}, slot: {0: 1}}).check(LONE)
        assert (verdict.time, verdict.rule) == (slot, "R2")


@pytest.mark.parametrize("letters", ["C C", "C . ."])
def test_a_schedule_needs_one_row_per_worker(letters: str) -> None:
    with pytest.raises(InputError, match=r"^letters: [23] rows, expected one per worker, 1$"):
        Text(letters).check(LONE)


def test_a_schedule_for_another_instance_is_recognised_and_still_replayed() -> None:
    other = LONE.replace(iterations=1)
    schedule = Text("C").schedule(other)
    assert is_made_for(other, schedule)
    assert not is_made_for(LONE, schedule)
    assert check(LONE, schedule).is_valid
