import json
import pickle
from copy import deepcopy
from dataclasses import asdict, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsched.instances import Chain, InputError
from hindsched.instances.coupled import Configuration, Instance, Schedule, read_instance, write_instance
from hindsched.instances.coupled.generate import small
from hindsched.instances.states import from_letters

CHAIN = Chain(((0.9, 0.1, 0), (0.5, 0.5, 0), (0, 0, 1)))
OTHER_CHAIN = Chain(((0.8, 0.2, 0), (0.5, 0.5, 0), (0, 0, 1)))


def pair(**changes):
    fields = {
        "tasks": 2,
        "iterations": 3,
        "n_com": 1,
        "t_prog": 2,
        "t_data": 1,
        "w": (1, 2),
        "mu": (None, 4),
        "states": from_letters(["uurd", "uduu"]),
        "chains": (CHAIN, None),
    }
    return Instance(**{**fields, **changes})


#: A change of every field, and of every part of a field that the fingerprint could omit by mistake.
CHANGES = [
    {"tasks": 3},
    {"iterations": 2},
    {"n_com": 2},
    {"n_com": None},
    {"t_prog": 1},
    {"t_data": 0},
    {"w": (2, 1)},
    {"mu": (4, None)},
    {"mu": (None, None)},
    {"mu": (2, 4)},
    {"states": from_letters(["uurd", "uudu"])},
    {"states": from_letters(["uur", "udu"])},
    {"states": from_letters(["uurdu", "uduuu"])},
    {"chains": (None, CHAIN)},
    {"chains": (OTHER_CHAIN, None)},
    {"chains": ()},
    {"past": from_letters(["uu", "ud"])},
    {"past": from_letters(["uu", "uu"])},
]


def test_the_fingerprint_depends_on_every_field():
    instances = [pair(), *(pair(**change) for change in CHANGES)]
    content = {field.name for field in fields(Instance)} - {"source", "names"} | {"states"}
    assert {name for change in CHANGES for name in change} == content
    assert len({instance.fingerprint for instance in instances}) == len(instances)
    assert len(set(instances)) == len(instances)


def test_names_are_kept_but_are_not_part_of_the_content():
    named = pair().replace(names=("east", "west"))
    assert named == pair()
    assert [named.name_of(0), pair().name_of(1)] == ["east", "worker 1"]
    again = read_instance(json.loads(write_instance(named)))
    assert again.names == pickle.loads(pickle.dumps(named)).names == ("east", "west")
    with pytest.raises(InputError, match=r"^names: 1 values, expected one per worker, 2$"):
        pair().replace(names=("east",))
    with pytest.raises(InputError, match=r"^workers\[1\]\.name: 'a\\nb', expected one line of text$"):
        pair().replace(names=("east", "a\nb"))


def test_the_same_letters_in_another_shape_are_another_instance():
    tall = Instance.from_letters(["u", "r", "d", "u"], w=[1] * 4, tasks=1)
    assert tall.states.tobytes() == Instance.from_letters(["ur", "du"], w=[1] * 2, tasks=1).states.tobytes()
    assert len({tall, Instance.from_letters(["ur", "du"], w=[1] * 2, tasks=1)}) == 2


def test_equality_follows_content():
    assert pair() == pair(w=[1, 2], mu=[None, 4], chains=[CHAIN, None], tasks=np.int64(2))
    assert hash(pair()) == hash(pair(w=[np.int32(1), 2]))
    assert pair() != pair().fingerprint
    assert pair().replace(tasks=1) == pair(tasks=1)


def test_a_fingerprint_does_not_change_between_versions():
    # files, caches and schedules depend on it
    assert pair().fingerprint == "sha256:aa44077714ab93872270e5bb98d50816bae1a6d0f382b96067ada7f6ad82ee20"


@given(some.integers(0, 200), some.integers(1, 5), some.integers(1, 70))
def test_copies_are_equal_and_read_only(seed, p, slots):
    instance = small(seed, p=p, slots=slots)
    for copy in (pickle.loads(pickle.dumps(instance)), deepcopy(instance), instance.replace()):
        assert copy == instance
        assert copy.fingerprint == instance.fingerprint
        assert (copy.states == instance.states).all()
        assert not copy.states.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            copy.states[0, 0] = 2


def test_an_instance_cannot_be_changed():
    states = from_letters(["uurd", "uduu"])
    view = states[:]
    view.setflags(write=False)
    instances = [pair(states=states), pair(states=view), pair(states=np.asfortranarray(states))]
    states[:] = 2
    for instance in instances:
        assert instance == pair()
        assert instance.states.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            instance.states[0, 0] = 2
        with pytest.raises(AttributeError):
            instance.tasks = 7


def test_unbounded_numbers_are_replaced_by_sufficient_bounds():
    assert pair().capacities == (2, 2)
    assert pair(mu=(1, 1)).capacities == (1, 1)
    assert (pair().channels, pair(n_com=None).channels, pair(n_com=7).channels) == (1, 2, 2)
    assert (pair().num_workers, pair().slots) == (2, 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tasks": 0}, "tasks: 0, expected an integer >= 1"),
        ({"tasks": 2.0}, "tasks: 2.0, expected an integer >= 1"),
        ({"tasks": True}, "tasks: True, expected an integer >= 1"),
        ({"tasks": None}, "tasks: None, expected an integer >= 1"),
        ({"tasks": 2**31}, "tasks: 2147483648, expected an integer <= 2147483647"),
        ({"iterations": 0}, "iterations: 0, expected"),
        ({"n_com": 0}, "n_com: 0, expected an integer >= 1"),
        ({"t_prog": -1}, "t_prog: -1, expected an integer >= 0"),
        ({"t_data": "1"}, "t_data: '1', expected an integer >= 0"),
        ({"w": (1, 0)}, "workers[1].w: 0, expected an integer >= 1"),
        ({"w": (1, 1.5)}, "workers[1].w: 1.5, expected an integer >= 1"),
        ({"mu": (-1, None)}, "workers[0].mu: -1, expected an integer >= 0"),
        ({"mu": (False, None)}, "workers[0].mu: False, expected"),
        ({"mu": (1, 0)}, "tasks: 2 tasks, expected at most 1, the sum of the workers' mu"),
        ({"mu": (None,)}, "mu: 1 values, expected one per worker, 2"),
        ({"chains": (None,)}, "markov: 1 values, expected one per worker, 2"),
        ({"w": (), "mu": (), "chains": ()}, "workers: no worker, expected at least one"),
        ({"states": from_letters(["u"])}, "states: 1 rows, expected one per worker, 2"),
        ({"states": from_letters(["", ""])}, "workers[0].states: no slot, expected at least one"),
        ({"states": from_letters(["u", "u"]) + np.uint8(3)}, "states: another code, expected 0"),
        ({"states": [[0], [-1]]}, "states: another code, expected 0"),
        ({"states": np.zeros((2, 3))}, "states: shape (2, 3) of float64, expected workers by slots"),
        ({"states": np.zeros(2, dtype=np.uint8)}, "states: shape (2,) of uint8, expected workers by slots"),
    ],
)
def test_invalid_values_are_refused_with_worker_and_field(changes, message):
    with pytest.raises(InputError) as caught:
        pair(**changes)
    assert str(caught.value).startswith(message)


# ---------------------------------------------------------------- schedules


def test_schedules_are_equal_by_content():
    schedule = Schedule("f", ("P.", "IC"), (Configuration(0, {1: 2, 0: 0}), Configuration(1, {})))
    same = Schedule("f", ["P.", "IC"], [Configuration(0, {0: 0, 1: 2}), Configuration(1, {})])
    assert schedule == same == pickle.loads(pickle.dumps(schedule))
    assert hash(schedule) == hash(same)
    assert schedule != Schedule("f", ("P.", "IC"), (Configuration(0, {1: 2}), Configuration(1, {})))
    assert list(schedule.configurations[0].tasks) == [0, 1]
    with pytest.raises(TypeError):
        schedule.configurations[0].tasks[0] = 1
    assert (schedule.slots, Schedule("f", (), ()).slots) == (2, 0)


@pytest.mark.parametrize(
    ("letters", "entries", "message"),
    [
        (["PP", "P"], [], "letters[1]: 1 slots, expected 2 as for letters[0]"),
        (["P", "c"], [], "letters[1]: letter 'c' in slot 0, expected one of P, D, C, I and ."),
        (["PP"], [(1, {0: 1}), (1, {})], "configurations[1].slot: slot 1, expected above 1"),
        (["PP"], [(-1, {})], "configurations[0].slot: slot -1, expected above -1"),
        (["PP"], [(0, {1: 1})], "configurations[0].tasks: worker 1, expected 0 to 0"),
        (["PP"], [(0, {0: -1})], "configurations[0].tasks[0]: -1 tasks, expected 0 or more"),
    ],
)
def test_an_invalid_schedule_is_refused(letters, entries, message):
    with pytest.raises(InputError) as caught:
        Schedule("f", tuple(letters), tuple(Configuration(*entry) for entry in entries))
    assert str(caught.value).startswith(message)


def test_integers_of_every_type_are_codes():
    rows = [[0, 1, 2, 0], [2, 0, 0, 1]]
    same = {pair(states=states) for states in (rows, np.array(rows), np.array(rows, dtype=np.uint8))}
    assert len(same) == 1
    assert same.pop().states.dtype == np.uint8


def test_a_schedule_can_be_converted_to_plain_values():
    schedule = Schedule("sha256:0", ("PC", "C."), (Configuration(0, {1: 2, 0: 1}),))
    plain = asdict(schedule)
    assert plain["configurations"] == ({"slot": 0, "tasks": {0: 1, 1: 2}},)
    assert pickle.loads(pickle.dumps(schedule)) == deepcopy(schedule) == schedule
    assert len({schedule, deepcopy(schedule)}) == 1
    with pytest.raises(TypeError, match="cannot be changed"):
        schedule.configurations[0].tasks[0] = 5
