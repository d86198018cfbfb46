"""Two segments: the greedy matching against the blossom algorithm, the optimum against the chain model."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import pytest

from hindsched.instances.bags import check
from hindsched.instances.random_streams import stream
from hindsched.offline.bags import solve
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.matching import most_seconds, pairs_by, two_segments
from tests.cases.bags import chained


@pytest.mark.parametrize("most", [6, 12, 40])
def test_greedy_choice_is_a_largest_matching(most: int) -> None:
    for i in range(150):
        draw = stream("tests", "matching", most, i)
        starts = draw.integers(0, most, size=int(draw.integers(1, 25)))
        ends = starts + draw.integers(1, int(draw.integers(2, most + 1)), size=starts.size)
        graph = nx.Graph()
        graph.add_edges_from((u, v) for u, v in combinations(range(starts.size), 2) if ordered(starts, ends, u, v))
        expected = len(nx.max_weight_matching(graph, maxcardinality=True))
        assert len(most_seconds(starts.tolist(), ends.tolist())) == expected


def ordered(starts, ends, u, v) -> bool:
    return bool(ends[u] <= starts[v] or ends[v] <= starts[u])


def test_optimum_equals_the_chain_model() -> None:
    for instance in chained(25, seed=2, segments=2):
        periods = AvailabilityPeriods.of_states(instance.states, instance.ticks, instance.slot)
        expected = solve(instance, solver="chains")
        assert two_segments(periods, instance.tasks) == expected.value
        found = solve(instance)
        assert (found.status, found.value, found.lower) == (expected.status, expected.value, expected.lower)
        if found.schedule is not None:
            assert check(instance, found.schedule).is_valid


def test_an_instant_too_early_has_no_pairs() -> None:
    instance = next(chained(1, seed=3, segments=2, up=1.0, down=0.0, slots=60))
    periods = AvailabilityPeriods.of_states(instance.states, instance.ticks, instance.slot)
    best = two_segments(periods, instance.tasks)
    assert best is not None
    assert len(pairs_by(periods, instance.tasks, best)) == instance.tasks
    with pytest.raises(ValueError, match="tasks by"):
        pairs_by(periods, instance.tasks, best - 1)
