"""Metrics and utilisation against tables of slots."""

import numpy as np
import pytest

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance
from hindsched.online.grid import Dgs, Run, run_policy
from tests.cases.grid import random_instance


def test_metrics_by_hand():
    jobs = Instance(3, 60, [0, 1, 1, 4], [1, 1, 1, 1], [2, 3, 1, 2])
    run = Run.of("mine", jobs, [0, 5, None, 4], [[0], [1], [], [2]])
    metrics = run.metrics()
    assert (metrics.jobs, metrics.failed, metrics.total_wait, metrics.total_response) == (4, 1, 4, 11)
    assert (metrics.max_wait, metrics.median_wait, metrics.ends) == (4, 0, 8)
    even = Run.of("mine", jobs, [1, 4, None, None], [[0], [1], [], []]).metrics()
    assert even.median_wait == 2
    odd = Run.of("mine", jobs, [1, 5, None, None], [[0], [1], [], []]).metrics()
    assert odd.median_wait == 2.5


def test_metrics_where_nothing_runs():
    jobs = Instance(3, 60, [0, 1], [1, 1], [2, 3])
    metrics = Run.of("mine", jobs, [None, None], [[], []]).metrics()
    assert (metrics.failed, metrics.total_wait, metrics.total_response) == (2, 0, 0)
    assert (metrics.max_wait, metrics.median_wait, metrics.ends) == (0, None, 0)
    empty = Run.of("mine", Instance(3, 60, [], [], []), [], [])
    assert empty.metrics().median_wait is None
    assert empty.utilisation(5).requested.tolist() == []


def test_utilisation_against_a_table():
    for seed in range(40):
        instance = random_instance(seed, jobs=20, nodes=8)
        run = run_policy(instance, Dgs(degree=3), engine="plain")
        for period in (1, 3, 10):
            found = run.utilisation(period)
            slots = np.zeros((2, 400), dtype=int)
            for j, (submit, width, length) in enumerate(instance.rows()):
                slots[0, submit] += width * length
                if run.starts[j] >= 0:
                    slots[1, run.starts[j] : run.starts[j] + length] += width
            count = len(found.requested)
            assert count * period >= max(run.metrics().ends, int(instance.submit[-1]) + 1) > (count - 1) * period
            table = slots[:, : count * period].reshape(2, count, period).sum(axis=2)
            assert found.requested.tolist() == table[0].tolist()
            assert found.executed.tolist() == table[1].tolist()
            assert found.capacity == period * instance.nodes
    assert run.utilisation().capacity == 1440 * instance.nodes
    with pytest.raises(InputError):
        run.utilisation(0)
