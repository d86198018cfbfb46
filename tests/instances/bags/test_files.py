"""Files of instances: reading, writing, and messages for invalid files."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

from hindsched.instances.bags import Instance, Store, read_instance, write_instance
from hindsched.instances.errors import InputError
from tests.cases.bags import randoms

GOOD: dict[str, Any] = {
    "format": "bags/1",
    "slot": 3,
    "tasks": 2,
    "segments": 1,
    "store": "shared",
    "machines": [{"segment": 2, "states": "uud"}, {"segment": 1, "states": "uru"}],
}


def test_a_file_reads_back_equal() -> None:
    for instance in randoms(40):
        again = read_instance(json.loads(write_instance(instance)))
        assert again == instance
        assert again.fingerprint == instance.fingerprint
        assert pickle.loads(pickle.dumps(instance)) == instance


def test_defaults_of_keys_that_may_be_left_out() -> None:
    instance = read_instance(GOOD)
    assert (instance.on_demand, instance.tick_ms, instance.reference_s, instance.clock_s) == (False, 1, 1800, None)
    assert instance.states.tolist() == [[0, 0, 2], [0, 1, 0]]


def test_a_price_of_moves_is_written_only_where_there_is_one() -> None:
    free = read_instance(GOOD)
    assert free.move == 0
    assert "move" not in json.loads(write_instance(free))
    assert free == read_instance({**GOOD, "move": 0})
    paid = read_instance({**GOOD, "move": 7})
    assert paid.move == 7
    assert paid.fingerprint != free.fingerprint
    assert read_instance(json.loads(write_instance(paid))) == paid


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "coupled/1"}, 'format: "coupled/1", expected "bags/1"'),
        ({"store": "public"}, "store: 'public', expected one of shared, private"),
        ({"tasks": 0}, "tasks: 0, expected an integer >= 1"),
        ({"tasks": True}, "tasks: true, expected an integer"),
        ({"segments": 1.0}, "segments: 1.0, expected an integer"),
        ({"slot": "3"}, 'slot: "3", expected an integer'),
        ({"slot": 2**31}, "slot: 2147483648, expected an integer <= 2147483647"),
        ({"on_demand": 1}, "on_demand: 1, expected true or false"),
        ({"clock_s": 604_800}, "clock_s: 604800, expected an integer <= 604799"),
        ({"clock_s": -1}, "clock_s: -1, expected an integer >= 0"),
        ({"move": -1}, "move: -1, expected an integer >= 0"),
        ({"tick_ms": 0}, "tick_ms: 0, expected an integer >= 1"),
        ({"reference_s": None}, "reference_s: null, expected an integer"),
        ({"workers": []}, "unknown key workers"),
        ({"machines": []}, "machines: no machine, expected at least one"),
        ({"machines": [{"segment": 2}]}, "machines[0]: missing key states"),
        ({"machines": [{"segment": 2, "states": "u", "w": 1}]}, "machines[0]: unknown key w"),
        ({"machines": [{"segment": 0, "states": "u"}]}, "machines[0].segment: 0, expected an integer >= 1"),
        ({"machines": [{"segment": 1, "states": ""}]}, "machines[0].states: no slot, expected at least one"),
        (
            {"machines": [{"segment": 1, "states": "uu"}, {"segment": 1, "states": "u"}]},
            "machines[1].states: 1 slots, expected 2 as in machines[0]",
        ),
        (
            {"machines": [{"segment": 1, "states": "uu"}, {"segment": 1, "states": "ux"}]},
            "machines[1].states: letter 'x' in slot 1, expected one of u (UP), r (RECLAIMED), d (DOWN)",
        ),
    ],
)
def test_errors_name_machine_and_field(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_instance({**copy.deepcopy(GOOD), **change})
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["format", "slot", "tasks", "segments", "store", "machines"])
def test_missing_keys(key: str) -> None:
    document = {name: value for name, value in GOOD.items() if name != key}
    with pytest.raises(InputError, match=f"missing key {key}"):
        read_instance(document)


def test_the_fingerprint_follows_every_field() -> None:
    instance = read_instance(GOOD)
    other = np.array(instance.states)
    other[0, 0] = 2
    changes: list[dict[str, Any]] = [
        {"tasks": 3},
        {"segments": 2},
        {"slot": 4},
        {"ticks": (2, 2)},
        {"store": Store.PRIVATE},
        {"on_demand": True},
        {"tick_ms": 2},
        {"reference_s": 1},
        {"clock_s": 0},
        {"states": other},
    ]
    prints = {instance.replace(**change).fingerprint for change in changes} | {instance.fingerprint}
    assert len(prints) == len(changes) + 1


def test_states_are_copied_and_read_only() -> None:
    states = np.zeros((1, 3), dtype=np.uint8)
    instance = Instance(tasks=1, segments=1, slot=1, ticks=[1], states=states)
    states[0, 0] = 2
    assert instance.states[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        instance.states[0, 0] = 2
