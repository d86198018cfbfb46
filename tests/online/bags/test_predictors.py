"""Predictors, with single answers and with all answers at once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hindsched.instances.bags import write_instance
from hindsched.instances.bags.generate import paper
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, States
from hindsched.online.bags import Problem, make_predictor, run_policy
from hindsched.online.bags.predictors import Bits, Clairvoyant, Hour, Never, Seen, _mix
from tests.cases.bags import letters, randoms


def test_splitmix64() -> None:
    # the first outputs of splitmix64 seeded with 0, as published with the generator
    assert _mix(0) == 0xE220A8397B1DCDAF
    assert _mix(0x9E3779B97F4A7C15) == 0x6E789E6AA1B965F4


def test_answers_one_by_one_and_all_at_once() -> None:
    for instance in randoms(60, seed=2):
        clocked = instance.replace(clock_s=4321)
        training = paper(slots=3000, seed=9)
        for text in ("never", "always", "oracle", "noisy:700,200,5", "hour", "past"):
            predictor: Any = make_predictor(text, training=None if text == "past" else training)
            if isinstance(predictor, Clairvoyant):
                predictor = predictor.knowing(clocked.states)
            problem = Problem.of(clocked)
            answers = predictor.answers(problem, clocked.states)
            for q in range(clocked.num_machines):
                for t in range(clocked.slots):
                    seen = Seen(problem, clocked.states[:, : t + 1])
                    assert predictor.predict(q, t, seen) == answers[q, t]


def test_the_truth_and_its_extremes() -> None:
    instance = letters("uduud", "uuduu", ticks=[1, 1])
    problem = Problem.of(instance)
    truth = np.zeros((2, 5), dtype=bool)
    truth[:, :-1] = instance.states[:, 1:] == DOWN
    for text, expected in (("oracle", truth), ("noisy:1000,0,3", truth), ("noisy:0,1000,3", ~truth)):
        predictor: Any = make_predictor(text)
        assert np.array_equal(predictor.answers(problem, instance.states), expected)


def test_noise_has_its_rates() -> None:
    instance = paper(slots=5000, seed=1)
    truth = instance.states[:, 1:] == DOWN
    predictor: Any = make_predictor("noisy:600,50,11")
    answers = predictor.answers(Problem.of(instance), instance.states)[:, :-1]
    assert answers[truth].mean() == pytest.approx(0.6, abs=0.01)
    assert answers[~truth].mean() == pytest.approx(0.05, abs=0.005)


def test_hours_are_trained_on_other_states() -> None:
    # slots of half an hour from Monday 00:00; 100 UP slots, and one failure, in hour 1
    training = letters("uu" + "ud" + "u" * 100, ticks=[1], slot=1_800_000, clock_s=0)
    hour = Hour.trained(training)
    # the only failure of 102 is that of the slot that begins at 1:30; of two before slots of hour 1 one failed
    assert [w for w in range(168) if hour.hours[w]] == [1]
    problem = Problem.of(letters("u", ticks=[1], slot=1_800_000, clock_s=3000))
    states = np.zeros((1, 3), dtype=np.uint8)
    assert [hour.predict(0, t, Seen(problem, states)) for t in range(3)] == [True, True, False]  # 1:20, 1:50, 2:20


@pytest.mark.parametrize(("slot", "tick_ms", "clock_s"), [(120_000, 1, 28_800), (2**31 - 1, 2**31 - 1, 604_799)])
def test_hours_of_all_slots_at_once(slot: int, tick_ms: int, clock_s: int) -> None:
    problem = Problem.of(letters("u", ticks=[1], slot=slot, tick_ms=tick_ms, clock_s=clock_s))
    every = Hour("all", tuple(hour % 5 < 2 for hour in range(168)))
    states = np.zeros((1, 3000), dtype=np.uint8)
    seen = Seen(problem, states)
    assert every.answers(problem, states)[0].tolist() == [every.predict(0, t, seen) for t in range(3000)]


def test_noise_takes_every_seed_of_64_bits() -> None:
    assert make_predictor(f"noisy:1,2,{2**64 - 1}").name.endswith(str(2**64 - 1))
    with pytest.raises(InputError):
        make_predictor(f"noisy:1,2,{2**64}")


def test_hour_from_a_file(tmp_path: Path) -> None:
    training = paper(slots=900, seed=9)
    file = tmp_path / "other.json"
    file.write_text(write_instance(training))
    made = make_predictor(f"hour:{file}")
    assert isinstance(made, Hour)
    assert made.hours == Hour.trained(training).hours


def test_hours_are_not_trained_on_later_states(tmp_path: Path) -> None:
    trace = paper(slots=3 * 5040, seed=9)
    file = tmp_path / "whole.json"
    file.write_text(write_instance(trace))
    own = paper(slots=300, seed=9, start=5040 + 700, on_demand=True, tasks=3, checkpoints=1)
    for engine in ("plain", "kernel"):
        with pytest.raises(InputError, match=r"whole\.json: trained on the instance's own states, expected others"):
            run_policy(own, "FCFS-PRDCT-DMD", predictor=f"hour:{file}", engine=engine)
    flipped = own.states.copy()
    flipped[5, 299] = 2 - flipped[5, 299]
    for other in (
        own.replace(clock_s=own.clock_s + 120),
        own.replace(states=flipped),
        own.replace(states=own.states[1:], ticks=own.ticks[1:]),
        own.replace(slot=own.slot // 2),
        paper(slots=300, seed=8, start=5040 + 700, on_demand=True),
    ):
        run_policy(other, "FCFS-PRDCT-DMD", predictor=f"hour:{file}")


@pytest.mark.parametrize("slot", [1, 7, 195_000, 2**31 - 1])
def test_where_the_clocks_agree(slot: int) -> None:
    rows = ["".join("ud"[mix >> 5 & 1] for mix in (_mix(q << 20 | t) for t in range(400))) for q in range(2)]
    trace = letters(*rows, ticks=[1, 1], slot=slot, tick_ms=1000, clock_s=604_000)
    for start in (0, 3, 390):
        clock_s = (604_000 + start * slot) % 604_800
        own = letters(
            *(row[start : start + 10] for row in rows), ticks=[1, 1], slot=slot, tick_ms=1000, clock_s=clock_s
        )
        hour = Hour.trained(trace)
        with pytest.raises(InputError, match="own states"):
            hour.expect_fit(own)
        hour.expect_fit(own.replace(clock_s=(clock_s + 1) % 604_800))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sometimes", "expected one of hour, hour:FILE, past, past:FILE, never, always, oracle"),
        ("noisy:1001,0,1", "expected noisy:H,F,S"),
        ("noisy:1,0", "expected noisy:H,F,S"),
        ("hour:/nowhere.json", "/nowhere.json: no such file"),
    ],
)
def test_bad_predictors(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make_predictor(text)
    assert message in str(caught.value)


def test_hours_need_clocks() -> None:
    with pytest.raises(InputError, match="clock_s: null"):
        Hour.trained(letters("uud", ticks=[1]))
    hour = Hour.trained(letters("uud", ticks=[1], clock_s=0))
    with pytest.raises(InputError, match="clock_s: null"):
        hour.predict(0, 0, Seen(Problem.of(letters("uu", ticks=[1])), np.zeros((1, 1), dtype=np.uint8)))


def test_a_predictor_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "class Mine:\n    name = 'mine'\n    def predict(self, machine, slot, seen):\n        return True\n"
    )
    assert make_predictor(f"{file}:Mine").name == "mine"


class Peeping:
    """A user's predictor with a method ``answers``, as built-in predictors have."""

    name = "peeping"

    def predict(self, machine: int, slot: int, seen: Seen) -> bool:
        assert seen.states.shape[1] == slot + 1
        return slot % 2 == 0

    def answers(self, problem: Problem, states: States) -> Bits:
        raise AssertionError("shown states that are yet to come")


class Changed(Never):
    """A subclass of a built-in predictor with other answers."""

    def predict(self, machine: int, slot: int, seen: Seen) -> bool:
        return slot % 2 == 0


def test_the_future_is_hidden_from_users_predictors() -> None:
    changed = 0
    for instance in randoms(40, seed=13, on_demand=True):
        mine = run_policy(instance, "FCFS-PRDCT-DMD", predictor=Peeping())
        for predictor in (Peeping(), Changed()):
            assert run_policy(instance, "FCFS-PRDCT-DMD", predictor=predictor, engine="plain") == mine
            with pytest.raises(InputError, match="engine"):
                run_policy(instance, "FCFS-PRDCT-DMD", predictor=predictor, engine="kernel")
        assert run_policy(instance, "FCFS-PRDCT-DMD", predictor=Changed()) == mine
        changed += mine != run_policy(instance, "FCFS-PRDCT-DMD", predictor="never")
    assert changed  # their answers matter


class Saying:
    """A predictor with a given answer."""

    name = "saying"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict(self, machine: int, slot: int, seen: Seen) -> Any:
        return self.answer


@pytest.mark.parametrize("answer", ["maybe", 1, None, 0.7])
def test_an_answer_is_true_or_false(answer: Any) -> None:
    instance = letters("uuuuuuuu", ticks=[4], slot=2, tasks=2, segments=2, on_demand=True)
    assert run_policy(instance, "FCFS-PRDCT-DMD", predictor=Saying(np.bool_(True))) == run_policy(
        instance, "FCFS-PRDCT-DMD", predictor="always"
    )
    with pytest.raises(InputError) as caught:
        run_policy(instance, "FCFS-PRDCT-DMD", predictor=Saying(answer))
    assert str(caught.value) == f"predictor saying, slot 1: {answer!r}, expected True or False"


def test_the_past_by_hand() -> None:
    # two machines, slots of an hour from Monday 00:00; machine 0 is DOWN in the slot that begins at 6:00 on every day
    rows = ["".join("d" if t % 24 == 6 else "u" for t in range(80)), "u" * 80]
    trace = letters(*rows, ticks=[1, 1], slot=3_600_000, clock_s=0)
    answers = make_predictor("past").answers(Problem.of(trace), trace.states)  # type: ignore[attr-defined]

    def ratio(slot: int, chosen: Any) -> Any:
        """Return the ratio of a group of (machine, slot, age) among the transitions known in a slot."""
        ages = [[(t if t < 6 else t - 6 - 24 * ((t - 6) // 24) - 1) + 1 for t in range(80)], list(range(1, 81))]
        known = [(q, t) for q in range(2) for t in range(slot) if rows[q][t] == "u"]
        lost = [rows[q][t + 1] == "d" for q, t in known]
        mine = [i for i, (q, t) in enumerate(known) if chosen(q, t, ages[q][t])]
        expected = len(mine) * sum(lost) / len(known)
        return (sum(lost[i] for i in mine) + 1) / (expected + 1)

    for slot in (29, 53, 77):  # 5:00 on Tuesday, Wednesday and Thursday; the period of machine 0 is 23 slots old
        machine = ratio(slot, lambda q, t, age: q == 0)
        age = ratio(slot, lambda q, t, age: 16 <= age < 32)
        hour = ratio(slot, lambda q, t, age: t % 24 == 5)
        assert answers[0, slot] == (machine * age * hour > 2)
    assert answers[0, [29, 53, 77]].tolist() == [False, True, True]
    assert not answers[1].any()  # a machine that has never failed


def test_the_past_is_that_of_the_same_machines_up_to_the_run(tmp_path: Path) -> None:
    trace = paper(slots=3000, seed=9)
    own = paper(slots=300, seed=9, start=2000, on_demand=True, tasks=9, checkpoints=1)
    past = trace.replace(states=trace.states[:, :2000])
    whole: Any = make_predictor("past")
    split: Any = make_predictor("past", training=past)
    problem = Problem.of(own)
    answers = split.answers(problem, own.states)
    assert np.array_equal(answers, whole.answers(Problem.of(trace), trace.states)[:, 2000:2300])
    assert np.array_equal(split.answers(problem, own.states[:, :50]), answers[:, :50])  # whatever comes later
    assert answers.any()
    file = tmp_path / "past.json"
    file.write_text(write_instance(past))
    run = run_policy(own, "FCFS-PRDCT-DMD", predictor=f"past:{file}")
    assert run == run_policy(own, "FCFS-PRDCT-DMD", predictor=split, engine="plain")
    for history, message in (
        (past.replace(states=past.states[1:], ticks=past.ticks[1:]), "31 machines, expected 32"),
        (trace.replace(states=trace.states[:, :1999]), "does not end where the run begins"),
        (past.replace(slot=60_000), "slots of 60000 ms, expected those of the instance"),
    ):
        with pytest.raises(InputError, match=message):
            run_policy(own, "FCFS-PRDCT-DMD", predictor="past", training=history)
