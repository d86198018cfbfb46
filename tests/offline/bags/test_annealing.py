"""Random numbers of the annealing: in range, of full period, and equal in machine code and plain Python."""

import numpy as np

from hindsched.offline.bags.kernels.annealing import random_step

MULTIPLIER = 1_932_734_418


def test_no_step_leaves_63_bits() -> None:
    most = MULTIPLIER * 2**32 - 2  # the greatest state of the cycle
    for state in (1, 2**32 - 1, 2**32, 2**62 + 12345, most):
        after = MULTIPLIER * (state % 2**32) + state // 2**32
        assert random_step.py_func(state) == random_step(state) == after
        assert 0 < after < 2**63


def test_the_inverse_step_multiplies_by_2_to_the_32() -> None:
    # the cycle of such a generator is that of multiplication by 2^32 modulo a prime: 2^32 next = state
    modulus = MULTIPLIER * 2**32 - 1
    state = 987654321
    for _ in range(1000):
        after = random_step.py_func(state)
        assert after * 2**32 % modulus == state
        state = after


def test_bits_are_spread_evenly() -> None:
    state, drawn = 1, []
    for _ in range(20_000):
        state = random_step(state)
        drawn.append(state & (2**32 - 1))
    low, high = np.array(drawn) % 7, np.array(drawn) >> 29
    for digits, values in ((low, 7), (high, 8)):
        counts = np.bincount(digits, minlength=values)
        assert abs(counts - 20_000 / values).max() < 5 * (20_000 / values) ** 0.5
