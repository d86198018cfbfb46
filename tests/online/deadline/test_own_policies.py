"""Policies of users: what they see, that they see no future, and one line for what they do wrong."""

import gc

import numpy as np
import pytest

from hindsched.instances import InputError
from hindsched.instances.deadline import Kind
from hindsched.instances.deadline.generate import generate
from hindsched.online.deadline import RunOptions, make_policy, run_policy
from hindsched.online.deadline.isolated import IsolatedPolicy
from tests.cases.deadline import DEMAND, SPOT, job, letters


class Mine:
    """Chooses what a function of the visible slot returns."""

    name = "mine"

    def __init__(self, choose):
        self._choose = choose

    def choose(self, visible):
        return self._choose(visible)


def test_a_policy_sees_the_past_and_the_present_slot():
    seen = []

    def choose(visible):
        seen.append(
            (
                *(visible.slot, visible.done_s, visible.left_s, visible.home, visible.last, visible.current),
                *(visible.spot.tolist(), visible.prices[0].tolist(), visible.elapsed_s, visible.slots_left),
                *(visible.work_left_s, visible.has_spot(), visible.price(0, Kind.ON_DEMAND), visible.kind),
            )
        )
        return SPOT if visible.slot < 2 else DEMAND

    instance = job("1101", work_s=30, overhead_s=14)
    run = run_policy(instance, Mine(choose), guard="none")
    assert letters(run.schedule.runs, 4) == "ssoo"
    assert seen[0][:6] == (0, 0, 0, None, None, None)
    assert seen[1][:6] == (1, 0, 4, 0, SPOT, SPOT)
    # spot is lost in slot 2: the last placement is before preemption, the current one after
    assert seen[2] == (
        *(2, 6, 0, 0, SPOT, None),
        *([[True, True, False]], [[1, 1, 1], [3, 3, 3]], 20, 2),
        *(24, False, 3, None),
    )


def test_the_job_has_no_spot_and_no_prices():
    def choose(visible):
        assert not any(isinstance(getattr(visible.job, name), np.ndarray) for name in visible.job.__slots__)
        return DEMAND

    assert run_policy(generate(3, slots=20), Mine(choose)).finish is not None


def test_what_is_visible_reaches_no_later_slot():
    """From everything that the policy sees, no array of the instance and no later bit can be reached."""
    instance = generate(3, slots=20, up=1)
    own = {id(each) for each in (instance.spot, instance.prices, *(zone.spot for zone in instance.zones))}

    def reachable(start):
        found, waiting = {}, [start]
        while waiting:
            each = waiting.pop()
            if id(each) in found or isinstance(each, type) or callable(each):
                continue
            found[id(each)] = each
            waiting += gc.get_referents(each)
            if isinstance(each, np.ndarray) and each.base is not None:
                waiting.append(each.base)
        return found

    def choose(visible):
        found = reachable(visible) | reachable(visible.spot) | reachable(visible.prices)
        assert not own & set(found)
        arrays = [each for each in found.values() if isinstance(each, np.ndarray) and each.shape[-1] == 20]
        assert arrays
        assert not any(array[..., visible.slot + 1 :].any() for array in arrays)

    run_policy(instance, Mine(choose), guard="none")


def test_what_a_policy_sees_cannot_be_changed():
    def choose(visible):
        for array in (visible.spot, visible.prices):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        visible.done_s, visible.left_s, visible.current, visible.last = 10**6, 0, DEMAND, DEMAND
        return DEMAND

    instance = job("0000", work_s=30, overhead_s=5)
    run = run_policy(instance, Mine(choose), guard="step")
    assert (run.finish, run.launches, run.cost, run.overhead_s) == (4, 1, 120, 5)


@pytest.mark.parametrize(
    "answer", ["s", 0, (0,), (0, "x"), (0, None), (1, "s"), (-1, "o"), (True, "s"), (0.0, "s"), (0, "s", 1), {0: "s"}],
    ids=repr,
)  # fmt: skip
def test_illegal_choices_are_named_with_policy_and_slot(answer):
    with pytest.raises(InputError) as error:
        run_policy(job("11", work_s=20), Mine(lambda visible: answer if visible.slot else None), guard="none")
    said = str(error.value)
    assert said.startswith("policy mine: slot 1: ")
    assert 'expected None or (zone, kind) with zone 0 to 0 and kind "s" or "o"' in said
    assert "\n" not in said


def test_letters_are_kinds_and_spot_that_is_not_there_is_nothing():
    run = run_policy(job("01", work_s=20), Mine(lambda visible: [0, "s"]), guard="none")
    assert letters(run.schedule.runs, 2) == ".s"


def test_an_error_of_a_policy_is_one_line():
    def choose(visible):
        raise RuntimeError("two\nlines")

    with pytest.raises(InputError, match=r"policy mine: slot 0: .*raised RuntimeError: two lines"):
        run_policy(job("11", work_s=20), Mine(choose))


def test_objects_are_checked():
    with pytest.raises(InputError, match="expected an object with a name and a method choose"):
        run_policy(job("11", work_s=20), type("Nameless", (), {"name": "x"})())
    with pytest.raises(InputError, match="expected an object of it"):
        make_policy(Mine)
    with pytest.raises(InputError, match="the kernel runs the built-in policies"):
        run_policy(job("11", work_s=20), Mine(lambda visible: None), engine="kernel")


FILE = """
class Patient:
    name = "patient"

    def __init__(self):
        self.waited = 0

    def choose(self, visible):
        if visible.has_spot(visible.job.num_zones - 1) and visible.spot.mean() > 0.2 and visible.prices[0, 0, -1] > 0:
            return visible.job.num_zones - 1, "s"
        self.waited += 1
        return visible.current if self.waited % 3 else (0, "o")


class Wrong:
    name = "wrong"

    def choose(self, visible):
        if visible.slot == 2:
            import os

            os._exit(7)
        return (0, "q") if visible.slot == 1 else None
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(FILE)
    return str(path)


@pytest.mark.parametrize("zones", [1, 3])
def test_an_isolated_policy_runs_as_in_this_process(file, zones):
    instance = generate(5, zones=zones, slots=40, overhead_s=400, move_delay_s=30, move_cost=5)
    plain = run_policy(instance, make_policy(f"{file}:Patient"))
    assert plain.launches > 1
    with IsolatedPolicy(f"{file}:Patient", RunOptions()) as isolated:
        assert run_policy(instance, isolated) == plain
    for name in ("greedy", "sliced:3") if zones == 1 else ("up_s",):
        with IsolatedPolicy(name, RunOptions(bank="yes")) as isolated:
            assert run_policy(instance, isolated, guard="none").schedule == (
                run_policy(instance, name, guard="none", bank="yes").schedule
            )


def test_an_isolated_policy_that_errs_is_named(file):
    with (
        IsolatedPolicy(f"{file}:Wrong", RunOptions()) as isolated,
        pytest.raises(InputError, match=r"policy wrong: slot 1: .*expected None or \(zone, kind\)"),
    ):
        run_policy(job("111", work_s=10), isolated, guard="none")
    with pytest.raises(InputError, match="expected a name or path"):
        IsolatedPolicy(Mine(None), RunOptions())
