"""Predictors: one by one, and all answers at once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instances.bags import write_instance
from instances.bags.generate import paper
from instances.errors import InputError
from instances.states import DOWN
from online.bags import Problem, make_predictor
from online.bags.predictors import Clairvoyant, Hour, Seen, _mix
from tests.cases.bags import letters, randoms


def test_splitmix64() -> None:
    # the first outputs of splitmix64 seeded with 0, as published with the generator
    assert _mix(0) == 0xE220A8397B1DCDAF
    assert _mix(0x9E3779B97F4A7C15) == 0x6E789E6AA1B965F4


def test_answers_one_by_one_and_all_at_once() -> None:
    for instance in randoms(60, seed=2):
        clocked = instance.replace(clock_s=4321)
        training = paper(slots=3000, seed=9)
        for text in ("never", "always", "oracle", "noisy:700,200,5", "hour"):
            predictor: Any = make_predictor(text, training=training)
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


def test_hours_are_learnt_from_other_states() -> None:
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sometimes", "expected one of hour, hour:FILE, never, always, oracle"),
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
