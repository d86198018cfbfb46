import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from hindsched.instances.random_streams import stream

PARTS = some.lists(some.one_of(some.integers(), some.text(max_size=5)), max_size=4)


@given(PARTS, some.lists(some.integers(0, 20), max_size=5))
def test_a_stream_does_not_depend_on_the_sizes_of_blocks(name, sizes):
    blocks = stream(*name)
    drawn = [blocks.random(size) for size in sizes]
    assert np.concatenate([np.empty(0), *drawn]).tolist() == stream(*name).random(sum(sizes)).tolist()


@given(PARTS, PARTS)
def test_another_name_is_another_stream(name, other):
    is_same = [(type(part), part) for part in name] == [(type(part), part) for part in other]
    assert (stream(*name).random(4).tolist() == stream(*other).random(4).tolist()) == is_same


def test_a_stream_is_the_same_in_every_process():
    program = "from hindsched.instances.random_streams import stream; print(stream('states', 7, 'a').random().hex())"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert float.fromhex(printed) == stream("states", 7, "a").random()


def test_numbers_are_uniform():
    shares, _ = np.histogram(stream("uniform").random(40_000), bins=10, range=(0, 1))
    assert abs(shares - 4_000).max() < 5 * (40_000 * 0.1 * 0.9) ** 0.5
