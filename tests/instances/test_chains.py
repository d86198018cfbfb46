import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsched.instances import Chain, InputError, fit
from hindsched.instances.chains import StateStream
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, RECLAIMED, UP

STATES = (UP, RECLAIMED, DOWN)
ALWAYS_UP = Chain(((1, 0, 0), (0.2, 0.5, 0.3), (1, 0, 0)))
PAPER = Chain(((0.92, 0.04, 0.04), (0.02, 0.96, 0.02), (0.005, 0.005, 0.99)))


WEIGHTS = some.sampled_from([0, 0, 1, 2, 5])


@some.composite
def chains(draw, weights=WEIGHTS):
    """Draw chains with many zeros: transient, absorbing and periodic ones."""
    rows = []
    for _ in STATES:
        row = draw(some.tuples(weights, weights, weights).filter(any))
        rows.append(tuple(weight / sum(row) for weight in row))
    return Chain(tuple(rows))


def draw_states(chain, slots, *name, start=UP):
    return StateStream(chain, stream("test", *name), start).take(slots)


# ---------------------------------------------------------------- invalid chains, equality


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (((1, 0, 0), (0, 1, 0)), "markov: expected 3 rows of 3 probabilities"),
        (((1, 0), (0, 1), (0, 0)), "markov: expected 3 rows of 3 probabilities"),
        (((1, 0, 0), (0.5, 0.6, -0.1), (0, 0, 1)), "markov[1]: -0.1, expected a probability in [0, 1]"),
        (((1, 0, 0), (0, 1, 0), (0, 0, 1.5)), "markov[2]: 1.5, expected a probability in [0, 1]"),
        (((math.nan, 0, 1), (0, 1, 0), (0, 0, 1)), "markov[0]: nan, expected a probability in [0, 1]"),
        (((1, 0, 0), (0, 1, 0), (0.3, 0.3, 0.3)), "markov[2]: probabilities sum to 0.8999999999999999, expected 1"),
        (((1, 0, 0), (0, 1 - 1e-8, 0), (0, 0, 1)), "markov[1]: probabilities sum to 0.99999999, expected 1"),
    ],
)
def test_an_invalid_chain_is_refused(rows, message):
    with pytest.raises(InputError) as caught:
        Chain(rows)
    assert message in str(caught.value)


def test_a_row_may_differ_from_1_by_rounding():
    assert Chain(((0.9, 0.1 + 1e-10, 0), (0, 1, 0), (0, 0, 1))).rows[0] == (0.9, 0.1 + 1e-10, 0.0)


def test_chains_with_equal_numbers_are_equal():
    assert repr(Chain(((-0.0, 1, 0), (0, 1, -0.0), (0, 0, 1)))) == repr(Chain(((0, 1, 0), (0, 1, 0), (0, 0, 1))))


# ---------------------------------------------------------------- stationary shares


@given(chains(weights=some.integers(1, 100)))
def test_stationary_is_the_eigenvector_of_eigenvalue_1(chain):
    values, vectors = np.linalg.eig(np.array(chain.rows).T)
    vector = np.real(vectors[:, np.argmin(abs(values - 1))])
    for start in STATES:
        np.testing.assert_allclose(chain.stationary(start), vector / vector.sum(), rtol=1e-9)


@given(chains(), some.sampled_from(STATES))
def test_stationary_is_the_limit_of_the_mean_share(chain, start):
    # the lazy chain (I + P) / 2 has the same shares and no period; all leaving probabilities here are 0 or >= 1/11
    lazy = (np.eye(3) + np.array(chain.rows)) / 2
    np.testing.assert_allclose(chain.stationary(start), np.linalg.matrix_power(lazy, 4096)[start], atol=1e-9)


@given(chains(), some.sampled_from(STATES))
def test_stationary_is_invariant_under_a_step(chain, start):
    share = chain.stationary(start)
    np.testing.assert_allclose(share @ np.array(chain.rows), share, atol=1e-12)
    assert share.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("rows", "start", "share"),
    [
        (ALWAYS_UP.rows, UP, [1, 0, 0]),
        (((1, 0, 0), (0, 1, 0), (0, 0, 1)), DOWN, [0, 0, 1]),
        (((0.9, 0, 0.1), (0.5, 0.5, 0), (0, 0, 1)), UP, [0, 0, 1]),  # absorbed
        (((0.5, 0.2, 0.3), (0, 1, 0), (0, 0, 1)), UP, [0, 0.4, 0.6]),  # absorbed in one of two states
        (((0, 1, 0), (1, 0, 0), (0, 0, 1)), UP, [0.5, 0.5, 0]),  # period 2
        (((0, 1, 0), (0, 0, 1), (1, 0, 0)), UP, [1 / 3, 1 / 3, 1 / 3]),  # period 3
        (((0.5, 0.5, 0), (0, 0.5, 0.5), (0, 0.25, 0.75)), UP, [0, 1 / 3, 2 / 3]),  # UP is transient
    ],
)
def test_stationary_of_chains_with_zeros_is_exact(rows, start, share):
    np.testing.assert_allclose(Chain(rows).stationary(start), share, rtol=1e-15, atol=0)


def test_stationary_of_rare_failures_is_precise():
    rare, repair = 1e-9, 3e-9
    share = Chain(((1 - rare, 0, rare), (1, 0, 0), (repair, 0, 1 - repair))).stationary()
    up = Fraction(repair) / (Fraction(rare) + Fraction(repair))
    np.testing.assert_allclose(share, [float(up), 0, float(1 - up)], rtol=1e-15)
    share = Chain(((1, 1e-200, 0), (1e-200, 1, 0), (1e-300, 0, 1))).stationary(DOWN)
    assert share.tolist() == [0.5, 0.5, 0]


# ---------------------------------------------------------------- the fit


@given(some.lists(some.sampled_from(STATES), min_size=2, max_size=60), chains())
def test_fit_has_the_largest_likelihood(states, other):
    def likelihood(chain):
        return math.prod(Fraction(chain.rows[x][y]) for x, y in pairwise(states))

    assert likelihood(fit(states)) >= likelihood(other) * (1 - Fraction(1, 10**12))


@given(some.lists(some.sampled_from(STATES), min_size=2, max_size=60))
def test_fit_counts_transitions(states):
    rows = fit(states).rows
    for x in STATES:
        followers = [b for a, b in pairwise(states) if a == x]
        if followers:
            assert rows[x] == tuple(followers.count(y) / len(followers) for y in STATES)


def test_fit_recovers_the_chain_of_a_long_trace():
    fitted = fit(draw_states(PAPER, 400_000, "fit"))
    np.testing.assert_allclose(fitted.rows, PAPER.rows, atol=0.005)


@pytest.mark.parametrize(
    ("states", "rows"),
    [
        ([UP] * 5, ((1, 0, 0), (1, 0, 0), (1, 0, 0))),
        ([DOWN] * 5, ((1 / 3, 1 / 3, 1 / 3), (1, 0, 0), (0, 0, 1))),
        ([DOWN, DOWN, UP], ((1 / 3, 1 / 3, 1 / 3), (1, 0, 0), (0.5, 0, 0.5))),
        ([UP, UP, RECLAIMED], ((0.5, 0.5, 0), (1, 0, 0), (1, 0, 0))),
    ],
)
def test_a_state_without_observed_transition_gets_a_row(states, rows):
    assert fit(states).rows == rows


def test_an_always_up_worker_is_always_up_in_the_long_run():
    assert fit([UP] * 9).stationary().tolist() == [1, 0, 0]


@pytest.mark.parametrize("states", [[], [UP], [[UP, UP]], [UP, 3], [-1, UP]])
def test_fit_refuses_invalid_states(states):
    with pytest.raises(InputError, match=r"^fit: "):
        fit(states)


# ---------------------------------------------------------------- the stream of states


@given(chains(), some.lists(some.integers(0, 40), max_size=6), some.integers(0, 9), some.sampled_from(STATES))
def test_states_do_not_depend_on_the_sizes_of_drawn_blocks(chain, sizes, seed, start):
    blocks = StateStream(chain, stream("test", seed), start)
    drawn = [blocks.take(size).tolist() for size in sizes]
    assert [len(block) for block in drawn] == sizes
    assert [state for block in drawn for state in block] == draw_states(chain, sum(sizes), seed, start=start).tolist()


@given(chains(), some.integers(0, 9), some.sampled_from(STATES))
def test_states_follow_the_slot_by_slot_rule(chain, seed, start):
    """The rule compares one number per slot with the probability to stay, then with those of the other states."""
    numbers = stream("test", seed).random(199)
    expected = [start]
    for number in numbers:
        x = expected[-1]
        order = [x, *(y for y in STATES if y != x)]
        bounds = np.cumsum([chain.rows[x][y] for y in order])
        possible = [y for y in order if chain.rows[x][y] > 0]
        below = [y for y, bound in zip(order, bounds, strict=True) if number < bound]
        expected.append(below[0] if below else possible[-1])
    assert draw_states(chain, 200, seed, start=start).tolist() == expected


@given(chains(), some.integers(0, 99))
def test_no_transition_of_probability_0_is_taken(chain, seed):
    states = draw_states(chain, 300, seed)
    assert all(chain.rows[x][y] > 0 for x, y in pairwise(states.tolist()))


@given(some.sampled_from([-1e-10, 1e-10]), some.integers(0, 5))
def test_rounding_of_rows_adds_no_transition(slip, seed):
    chain = Chain(((0.5, 0.5 + slip, 0), (0.4, 0.6 + slip, 0), (0, 0, 1)))
    assert DOWN not in draw_states(chain, 20_000, seed)
    stuck = Chain(((1 + min(slip, 0), 0, 0), (0, 1, 0), (0, 0, 1)))

    class Ones:
        def random(self, size):
            return np.full(size, np.nextafter(1, 0))

    assert StateStream(stuck, Ones()).take(5).tolist() == [UP] * 5
    assert StateStream(chain, Ones()).take(4).tolist() == [UP, RECLAIMED, UP, RECLAIMED]


@pytest.mark.parametrize(
    ("rows", "start", "states"),
    [
        (((1, 0, 0), (0, 1, 0), (0, 0, 1)), DOWN, [2, 2, 2, 2, 2, 2]),
        (((0, 1, 0), (1, 0, 0), (0, 0, 1)), UP, [0, 1, 0, 1, 0, 1]),
        (((0, 1, 0), (0, 0, 1), (1, 0, 0)), RECLAIMED, [1, 2, 0, 1, 2, 0]),
        (((0, 0, 1), (0, 1, 0), (0, 0, 1)), UP, [0, 2, 2, 2, 2, 2]),
    ],
)
def test_certain_chains(rows, start, states):
    assert draw_states(Chain(rows), 6, "certain", start=start).tolist() == states


@pytest.mark.parametrize(
    "chain", [PAPER, Chain(((0, 0.3, 0.7), (0.5, 0, 0.5), (0.1, 0.9, 0)))], ids=["paper", "restless"]
)
def test_transitions_have_their_probabilities(chain):
    states = draw_states(chain, 200_000, "frequencies").astype(int)
    counts = np.bincount(states[:-1] * 3 + states[1:], minlength=9).reshape(3, 3)
    for x in STATES:
        total = counts[x].sum()
        for y in STATES:
            p = chain.rows[x][y]
            assert abs(counts[x][y] - total * p) <= 5 * math.sqrt(total * p * (1 - p))
    np.testing.assert_allclose(np.bincount(states) / states.size, chain.stationary(), atol=0.03)
