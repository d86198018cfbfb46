"""Files of instances: reading, writing, errors that name the place, and the fingerprint."""

import hashlib
import json
import pickle

import numpy as np
import pytest

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance, read_instance, write_instance
from tests.cases.grid import random_instance

GOOD = {"format": "grid/1", "nodes": 3, "slot_s": 60, "jobs": [[0, 1, 5], [2, 3, 1]]}


def test_a_written_instance_reads_back_equal():
    for seed in range(20):
        instance = random_instance(seed)
        assert read_instance(json.loads(write_instance(instance))) == instance
    empty = Instance(1, 1, [], [], [])
    assert read_instance(json.loads(write_instance(empty))) == empty
    assert (len(empty), empty.area, empty.horizon) == (0, 0, 0)


def test_the_fingerprint_is_the_digest_of_the_compact_text():
    instance = read_instance(GOOD)
    digest = hashlib.sha256(b"grid/1\0[3,60,[[0,1,5],[2,3,1]]]").hexdigest()
    assert instance.fingerprint == f"sha256:{digest}"
    assert pickle.loads(pickle.dumps(instance)) == instance
    assert len({instance, read_instance(GOOD), Instance(3, 61, [0, 2], [1, 3], [5, 1])}) == 2


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"format": "grid/2"}, "format"),
        ({"format": None}, "format"),
        ({"speed": 1}, "speed"),
        ({"nodes": 0}, "nodes"),
        ({"nodes": 3.0}, "nodes"),
        ({"nodes": True}, "nodes"),
        ({"nodes": "3"}, "nodes"),
        ({"nodes": 2**31}, "nodes"),
        ({"slot_s": -1}, "slot_s"),
        ({"slot_s": 1.0}, "slot_s"),
        ({"jobs": {}}, "jobs"),
        ({"jobs": [[0, 1]]}, "jobs[0]"),
        ({"jobs": [[0, 1, 1, 1]]}, "jobs[0]"),
        ({"jobs": [[0, 1.0, 1]]}, "jobs[0]"),
        ({"jobs": [[0, 1, 1], [0, True, 1]]}, "jobs[1]"),
        ({"jobs": [[0, 1, 1], None]}, "jobs[1]"),
        ({"jobs": [[0, 1, 10**30]]}, "jobs[0].length"),
        ({"jobs": [[0, -(2**61), 1]]}, "jobs[0].width"),
        ({"jobs": [[-1, 1, 1]]}, "jobs[0].submit"),
        ({"jobs": [[5, 1, 1], [4, 1, 1]]}, "jobs[1].submit"),
        ({"jobs": [[5, 1, 1], [-4, 1, 1]]}, "jobs[1].submit"),
        ({"jobs": [[0, 0, 1]]}, "jobs[0].width"),
        ({"jobs": [[0, 1, 1], [0, 4, 1]]}, "jobs[1].width"),
        ({"jobs": [[0, 1, 0]]}, "jobs[0].length"),
        ({"jobs": [[0, 4, 0], [-1, 1, 1]]}, "jobs[0].width"),
        ({"jobs": [[2**60, 1, 2**60]]}, "jobs"),
    ],
)
def test_errors_name_the_place(change, place):
    with pytest.raises(InputError) as caught:
        read_instance(GOOD | change)
    assert caught.value.place == place
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", sorted(GOOD))
def test_a_missing_key_is_named(key):
    document = dict(GOOD)
    del document[key]
    with pytest.raises(InputError, match="missing key") as caught:
        read_instance(document)
    assert caught.value.place == key


def test_arrays_are_checked_and_read_only():
    instance = Instance(3, 60, np.array([0, 2]), [1, 3], np.array([5, 1], dtype=np.uint8))
    assert instance == read_instance(GOOD)
    with pytest.raises(ValueError, match="read-only"):
        instance.submit[0] = 1
    with pytest.raises(InputError, match="float64"):
        Instance(3, 60, np.array([0.0]), [1], [1])
    with pytest.raises(InputError, match=r"jobs\[1\].width"):
        Instance(3, 60, [0, 0], [1, True], [1, 1])
    with pytest.raises(InputError, match="width: 1 values"):
        Instance(3, 60, [0, 0], [1], [1, 1])
