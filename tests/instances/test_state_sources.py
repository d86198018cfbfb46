"""Sources of states: known or drawn, with the same states for every order of reading."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsched.instances import Chain, InputError
from hindsched.instances.state_sources import DrawnStates, KnownStates

CHAINS = [
    Chain(((0.9, 0.05, 0.05), (0.2, 0.7, 0.1), (0.3, 0.3, 0.4))),
    Chain(((0.5, 0.5, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))),
]


@given(some.lists(some.integers(1, 3000), max_size=6))
def test_states_do_not_depend_on_the_order_of_reading(looks):
    source = DrawnStates(CHAINS, ("test", 1), 3000)
    for slots in looks:
        seen = source.prefix(slots)
        assert seen.shape == (2, slots)
        assert (seen == DrawnStates(CHAINS, ("test", 1), slots).prefix(slots)).all()


def test_only_the_slots_that_are_read_are_drawn():
    source = DrawnStates(CHAINS, ("test", 2), 2**31 - 1)
    assert source.prefix(1000).shape == (2, 1000)
    assert source.shape == (2, 2**31 - 1)


def test_states_that_were_read_do_not_change():
    source = DrawnStates(CHAINS, ("test", 3), 5000)
    first = source.prefix(10)
    kept = first.copy()
    source.prefix(5000)
    assert (first == kept).all()
    with pytest.raises(ValueError, match="read-only"):
        source.prefix(5000)[0, 0] = 1


def test_drawn_states_are_pickled_without_states():
    source = DrawnStates(CHAINS, ("test", 4), 10**9)
    source.prefix(2000)
    text = pickle.dumps(source)
    assert len(text) < 1500
    again = pickle.loads(text)
    assert again.identity == source.identity
    assert (again.prefix(700) == source.prefix(700)).all()


def test_identities_distinguish_sources():
    sources = [
        DrawnStates(CHAINS, ("test", 5), 10),
        DrawnStates(CHAINS, ("test", 5), 11),
        DrawnStates(CHAINS, ("test", "5"), 10),
        DrawnStates(CHAINS[::-1], ("test", 5), 10),
        KnownStates(np.zeros((2, 10), dtype=np.uint8)),
        KnownStates(np.ones((2, 10), dtype=np.uint8)),
    ]
    assert len({source.identity for source in sources}) == len(sources)


def test_a_prefix_ends_with_the_slots():
    assert DrawnStates(CHAINS, ("test", 6), 5).prefix(100).shape == (2, 5)
    assert KnownStates(np.zeros((3, 5), dtype=np.uint8)).prefix(100).shape == (3, 5)


def test_a_source_needs_a_slot():
    with pytest.raises(InputError, match="slots: 0"):
        DrawnStates(CHAINS, ("test", 7), 0)


def test_a_stationary_start_changes_slot_0_but_not_later_numbers():
    chain = Chain(((0.5, 0.3, 0.2), (0.2, 0.6, 0.2), (0.3, 0.3, 0.4)))
    chains = [chain] * 3000
    first = DrawnStates(chains, ("test", 8), 1, start="stationary").prefix(1)[:, 0]
    shares = np.bincount(first, minlength=3) / len(chains)
    assert np.abs(shares - chain.stationary()).max() < 0.03
    two = [DrawnStates(chains[:50], ("test", 8), 400, start=start).prefix(400) for start in ("up", "stationary")]
    met = (two[0] == two[1]).cumsum(axis=1)
    assert (two[1][:, 0] == first[:50]).all()
    assert (met[:, -1] > 100).all()  # with the same numbers, two chains that meet mostly stay together


def test_a_never_down_worker_does_not_start_down():
    chain = Chain(((0.5, 0.5, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)))
    assert DrawnStates([chain] * 500, ("test", 9), 1, start="stationary").prefix(1).max() == 1


def test_an_unknown_start_is_refused():
    with pytest.raises(InputError, match=r"^start: 'down', expected one of up, stationary$"):
        DrawnStates(CHAINS, ("test", 7), 5, start="down")


def test_a_start_is_part_of_the_identity_and_survives_pickling():
    up, stationary = (DrawnStates(CHAINS, ("test", 10), 50, start=start) for start in ("up", "stationary"))
    assert up.identity != stationary.identity
    again = pickle.loads(pickle.dumps(stationary))
    assert again.identity == stationary.identity
    assert (again.prefix(50) == stationary.prefix(50)).all()
