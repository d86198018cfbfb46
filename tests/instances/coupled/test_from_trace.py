import re

import numpy as np
import pytest

from hindsched.instances import Chain, InputError, fit
from hindsched.instances.coupled.from_trace import from_trace
from hindsched.instances.intervals import Interval, Presence
from hindsched.instances.states import to_letters
from hindsched.instances.traces import Trace


def trace(**rows):
    """Return a trace with one row of letters per node, a second each: ``u``, ``d``, ``r`` (claimed)."""
    kinds = {"u": Presence.AVAILABLE, "d": Presence.UNAVAILABLE, "r": Presence.CLAIMED}
    intervals = [tuple(Interval(t, t + 1, kinds[x]) for t, x in enumerate(row)) for row in rows.values()]
    return Trace(tuple(rows), tuple(intervals))


THREE = trace(a="uduuuurruuddu", b="uuuuuuuuuuuuu", c="dddddddddddud")


def test_a_window_becomes_an_instance():
    instance = from_trace(THREE, tasks=4, slot_s=2, iterations=3, n_com=2, t_prog=5, t_data=1, w=[1, 2, 3], mu=2)
    assert to_letters(instance.states) == ["duurud", "uuuuuu", "dddddd"]
    assert (instance.tasks, instance.iterations, instance.n_com, instance.t_prog, instance.t_data) == (4, 3, 2, 5, 1)
    assert (instance.w, instance.mu, instance.chains) == ((1, 2, 3), (2, 2, 2), (None,) * 3)
    assert not instance.states.flags.writeable


def test_an_absent_node_is_down_or_reclaimed():
    instance = from_trace(THREE, tasks=1, slot_s=1, absent="reclaimed", nodes=["c", "a"], mu=[None, 1])
    assert to_letters(instance.states) == ["rrrrrrrrrrrur", "uruuuurruurru"]
    assert instance.mu == (None, 1)


def test_chains_come_from_the_slots_just_before_the_window():
    instance = from_trace(THREE, tasks=1, slot_s=1, train_slots=9, start=10, slots=2)
    assert to_letters(instance.states) == ["dd", "uu", "du"]
    training = THREE.states(slot_s=1, start=1, slots=9)
    assert instance.chains == tuple(fit(row) for row in training)


def test_chains_do_not_depend_on_the_window():
    other = trace(a="uduuuurrudddd", b="uuuuuuuuudddd", c="dddddddddrrrr")
    choice = {"tasks": 1, "slot_s": 1, "train_slots": 9}
    one, two = from_trace(THREE, **choice), from_trace(other, **choice)
    assert one.slots == two.slots == 4
    assert (one.states != two.states).any(axis=1).all()
    assert one.chains == two.chains


def test_without_a_start_the_training_begins_as_early_as_the_nodes_allow():
    instance = from_trace(THREE, tasks=1, slot_s=1, train_slots=4, slots=5, nodes=2)
    assert (instance.states == THREE.states(slot_s=1, start=4, slots=5, nodes=["a", "b"])).all()
    assert from_trace(THREE, tasks=1, slot_s="0.5", train_slots=4).slots == 22
    assert from_trace(THREE, tasks=1, slot_s=1, train_slots=4, start="1970-01-01 00:00:05").slots == 8


def test_nodes_with_few_changes_have_chains():
    instance = from_trace(THREE, tasks=1, slot_s=1, train_slots=11, nodes=["b", "c"])
    always_up, never_up = instance.chains
    assert always_up == Chain(((1, 0, 0), (1, 0, 0), (1, 0, 0)))
    assert always_up.stationary().tolist() == [1, 0, 0]
    assert never_up == Chain(((1 / 3, 1 / 3, 1 / 3), (1, 0, 0), (0, 0, 1)))


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"train_slots": 13}, "slots: 13, expected more than train_slots, 13"),
        ({"train_slots": 1}, "train_slots: 1, expected 0 (no chains) or at least 2"),
        ({"train_slots": -1}, "train_slots: -1, expected 0"),
        ({"slots": 0}, "slots: 0, expected an integer >= 1"),
        ({"start": 3, "train_slots": 4}, "node 'a': not observed during all of slot 0, which starts at -1 s"),
        ({"nodes": 4}, "nodes: 4, expected 1 to 3"),
        ({"w": [1, 2]}, "w: 2 values, expected one per worker, 3"),
        ({"mu": [1, 2]}, "mu: 2 values, expected one per worker, 3"),
        ({"mu": 0}, "tasks: 1 tasks, expected at most 0"),
    ],
)
def test_invalid_choices_are_refused(choice, message):
    with pytest.raises(InputError, match="^" + re.escape(message)):
        from_trace(THREE, **{"tasks": 1, "slot_s": 1, **choice})


def test_long_windows_of_many_nodes():
    rng = np.random.default_rng(1)
    rows = {f"n{q}": "".join(rng.choice(list("uurd"), size=50)) for q in range(40)}
    instance = from_trace(trace(**rows), tasks=1, slot_s="0.01", train_slots=1000)
    assert instance.states.shape == (40, 4000)
    assert to_letters(instance.states[:, ::100]) == [row[10:] for row in rows.values()]
