"""The schedulers agree with a third implementation, written from the model's page alone."""

import dataclasses
import random

import pytest

from hindsched.online.grid import make_policy, run_policy
from hindsched.online.grid.options import CHOICES
from tests.cases import grid_law
from tests.cases.grid import random_dgs, random_instance, raw_words

ENGINES = ("plain", "kernel")


def test_the_streams_are_the_same():
    words = grid_law.Words("grid", "shuffle", -3, 7)
    assert [words.next() for _ in range(11)] == raw_words(11, "grid", "shuffle", -3, 7)


@pytest.mark.parametrize("seed", range(150))
def test_dgs(seed):
    draw = random.Random(seed)
    if seed % 10:
        instance = random_instance(seed, jobs=14, nodes=9, span=(0, 4, 15, 30)[seed % 4], longest=(1, 6, 20)[seed % 3])
    else:
        instance = random_instance(seed, jobs=40, nodes=25, span=60, longest=25, widest=12)
    options = dataclasses.replace(random_dgs(seed), degree=draw.choice([1, 2, 4, 8, 40]))
    jobs = list(instance.rows())
    starts, held, counters = grid_law.dgs(instance.nodes, jobs, **dataclasses.asdict(options))
    for engine in ENGINES:
        run = run_policy(instance, options, engine=engine)
        assert [None if start < 0 else start for start in run.starts.tolist()] == starts
        assert [run.nodes(j) for j in range(len(jobs))] == held
        assert dataclasses.asdict(run.counters) == counters


@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        ("asap_counted", "length"),
        ("fcfs", "length"),
        ("easy", "length"),
        *(("queue", rule) for rule in CHOICES["rule"]),
    ],
)
def test_centralised_schedulers(policy, rule):
    for seed in range(60):
        instance = random_instance(seed, jobs=16, nodes=(1, 3, 6, 20)[seed % 4], span=(0, 12)[seed % 2], longest=9)
        starts = grid_law.with_a_centre(instance.nodes, list(instance.rows()), policy, rule)
        for engine in ENGINES:
            assert run_policy(instance, make_policy(policy, rule=rule), engine=engine).starts.tolist() == starts
