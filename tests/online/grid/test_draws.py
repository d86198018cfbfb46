"""Random draws: words of streams, numbers below n, samples; the same in kernels."""

import numpy as np

from hindsched.instances.random_streams import stream
from hindsched.online.grid.draws import WORDS_PER_JOB, Draws, words
from hindsched.online.grid.kernels.node_schedules import below
from tests.cases.grid import raw_words


def test_words_are_those_of_numpys_generator():
    assert words(5, "grid", "overlay", 3, 17).tolist() == raw_words(5, "grid", "overlay", 3, 17)
    assert words(2, "grid", "job", 0).tolist() == [0xDBFD90E083AE69EE, 0xF8BA93674DBFFDB1]
    assert words(1, "grid", "shuffle", 0, 1).tolist() == raw_words(1, "grid", "shuffle", 0, 1)


def test_numbers_below():
    top = 2**64 - 1
    draws = Draws([0, top, 2**63, 2**63 - 1, top, 12345])
    assert [draws.below(n) for n in (7, 7, 2, 2, 1, 1)] == [0, 6, 1, 0, 0, 0]


def test_samples_swap_from_the_front():
    # pool a b c d: the word of 3/4 picks index 3 of 4, then 2/3 of the three left picks index 1 + 2
    third = 2**64 * 2 // 3 + 1
    assert Draws([3 * 2**62, third]).some(2, [10, 11, 12, 13]) == [13, 10]
    assert Draws([0, 0]).some(5, [4, 5]) == [4, 5]  # one word each, also for the last
    assert Draws([]).some(3, []) == []
    assert Draws([]).some(0, [1]) == []


def test_the_kernel_draws_equal_numbers():
    for word in raw_words(200, "a", "name"):
        for n in (1, 2, 7, 4999, 2**31 - 1):
            assert below(np.uint64(word), n) == Draws([word]).below(n)
    for word in (0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1):
        assert below(np.uint64(word), 2**31 - 1) == Draws([word]).below(2**31 - 1)


def test_words_of_a_block_of_jobs_are_found_without_those_before():
    whole = words(WORDS_PER_JOB * 10, "grid", "job", 5)
    generator = stream("grid", "job", 5).bit_generator
    generator.advance(7 * WORDS_PER_JOB // 4)
    assert generator.random_raw(WORDS_PER_JOB).tolist() == whole[7 * WORDS_PER_JOB : 8 * WORDS_PER_JOB].tolist()
