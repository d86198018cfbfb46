"""ENCD and its two reductions: properties of problems and witnesses, and errors."""

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsched.bench.coupled.bicliques import WAYS, decide, largest_biclique
from hindsched.bench.coupled.verify.graphs import Case, small
from hindsched.bench.coupled.verify.theorem import CounterExampleError, check_case, verify
from hindsched.instances import InputError, check
from hindsched.instances.coupled import Configuration, Schedule
from hindsched.offline.limits import Limits
from hindsched.reductions import (
    REDUCTIONS,
    Biclique,
    Decision,
    Encd,
    Measure,
    ToMu1,
    ToMuInf,
    from_matrix,
    largest,
    solve_encd,
)
from hindsched.reductions.branch_and_bound import enumerate_all
from hindsched.reductions.largest_biclique import size_of
from hindsched.reductions.to_coupled import with_down


@st.composite
def encds(draw: st.DrawFn) -> Encd:
    num_v, num_w = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    cells = draw(st.lists(st.lists(st.booleans(), min_size=num_w, max_size=num_w), min_size=num_v, max_size=num_v))
    return Encd(from_matrix(cells), draw(st.integers(1, num_v + 1)), draw(st.integers(1, num_w + 1)))


@given(encds())
def test_the_direct_search_agrees_with_all_sets_of_nodes(problem: Encd) -> None:
    decision = solve_encd(problem)
    assert decision.exists == (next(enumerate_all(problem), None) is not None)
    if decision.biclique is not None:
        problem.check(decision.biclique)


@settings(deadline=None)
@given(encds())
def test_both_reductions_map_problems_and_witnesses(problem: Encd) -> None:
    check_case(Case("drawn", problem))


@pytest.mark.parametrize("solver", ["cpsat", "highs", "cbc", "plain", "brute"])
@pytest.mark.parametrize("via", list(REDUCTIONS))
def test_all_back_ends_agree(via: str, solver: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(6):
        matrix = rng.random((5, 6)) < 0.6
        problem = Encd(from_matrix(matrix), int(rng.integers(1, 5)), int(rng.integers(1, 5)))
        assert decide(problem, via, solver).exists == solve_encd(problem).exists


def test_every_small_graph_is_mapped_correctly() -> None:
    counts = verify("small", most=3)
    assert (counts.graphs, counts.yes, counts.no) == (92, 246, 832)


def test_random_larger_graphs_are_mapped_correctly() -> None:
    kinds = ("random", "planted", "near-miss", "power-law", "blocks")
    counts = {kind: verify(kind, graphs=40, seed=11) for kind in kinds}
    assert all(count.graphs == 40 for count in counts.values())
    assert (counts["planted"].yes, counts["near-miss"].yes, counts["near-miss"].no) == (40, 40, 40)


def test_the_small_graphs_have_one_of_each_class() -> None:
    """The numbers are those of 0/1 matrices up to permutations of rows and of columns, OEIS A028657."""
    sizes: dict[tuple[int, int], int] = {}
    for cases in small(4):
        problem = cases[0].problem
        shape = len(problem.v), len(problem.w)
        sizes[shape] = sizes.get(shape, 0) + 1
    assert [sizes[n, n] for n in range(5)] == [1, 2, 7, 36, 317]
    assert sizes[3, 4] == sizes[4, 3] == 87


@pytest.mark.parametrize(
    ("a", "b", "mu1", "muinf"), [(2, 3, (4, 5), (4, 11)), (9, 9, (5, 5), (4, 11)), (4, 5, (4, 5), (4, 11))]
)
def test_sizes_are_as_stated(a: int, b: int, mu1: tuple[int, int], muinf: tuple[int, int]) -> None:
    problem = Encd(from_matrix(np.ones((4, 5))), a, b)
    for reduction, expected in ((ToMu1(), mu1), (ToMuInf(), muinf)):
        instance, _ = reduction.apply(problem)
        assert (instance.num_workers, instance.slots) == expected
        assert (reduction.size(problem).workers, reduction.size(problem).slots) == expected


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
@pytest.mark.parametrize("via", WAYS)
def test_a_graph_with_an_empty_side_is_a_no_instance(via: str, shape: tuple[int, int]) -> None:
    assert decide(Encd(from_matrix(np.ones(shape)), 1, 1), via).exists is False


def test_no_worker_can_compute_two_tasks_if_mu_is_unbounded() -> None:
    instance, _ = ToMuInf().apply(Encd(from_matrix(np.ones((2, 3))), 4, 3))
    assert 2 * instance.w[0] > instance.slots
    assert decide(Encd(from_matrix(np.ones((2, 3))), 4, 3), "muinf").exists is False


PROBLEM = Encd(from_matrix([[1, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 1]]), a=2, b=2)


@pytest.mark.parametrize("name", list(REDUCTIONS))
def test_witnesses_of_any_form_map_back(name: str) -> None:
    """Valid witnesses may have late starts, an abandoned configuration, a worker on stand-by and a longer text."""
    reduction = REDUCTIONS[name]
    instance, data = reduction.apply(PROBLEM)
    w = instance.w[0]
    start = instance.slots - w
    late = "." * start + "C" * w
    changed = {"mu1": ("C...", "CCC.", ".CC."), "muinf": ("C........", "CCCCCCCC.", ".CCCCCCC.")}[name]
    idle = {"mu1": ("I..", "ICC", ".CC"), "muinf": ("I.......", "ICCCCCCC", ".CCCCCCC")}[name]
    for rows, entries in (
        (("." * instance.slots, late, late), [Configuration(start, {1: 1, 2: 1})]),
        (changed, [Configuration(0, {0: 1, 1: 1}), Configuration(1, {1: 1, 2: 1}), Configuration(1 + w, {})]),
        (idle, [Configuration(0, {0: 1, 1: 0}), Configuration(1, {1: 1, 2: 1})]),
    ):
        schedule = Schedule(instance.fingerprint, rows, tuple(entries))
        verdict = check(instance, schedule)
        assert verdict.outcome.makespan is not None, verdict
        found = reduction.backward(schedule, data)
        PROBLEM.check(found)
        assert found.v == (1, 2)


@pytest.mark.parametrize("name", list(REDUCTIONS))
def test_invalid_witnesses_are_refused(name: str) -> None:
    reduction = REDUCTIONS[name]
    instance, data = reduction.apply(PROBLEM)
    good = reduction.forward(Biclique((0, 1), (3, 4)), data)
    PROBLEM.check(reduction.backward(good, data))
    bad = [
        Schedule(instance.fingerprint, tuple(row[:-1] for row in good.letters), good.configurations),
        Schedule(instance.fingerprint, (good.letters[0], good.letters[2], good.letters[1]), good.configurations),
    ]
    for schedule in bad:
        with pytest.raises(InputError, match="expected a schedule that completes the iteration"):
            reduction.backward(schedule, data)
    for v, w in (((0,), (3, 4)), ((0, 0), (3, 4)), ((0, 1), (3, 5)), ((0, 3), (4, 5)), ((0, 1), (3, 4, 6))):
        with pytest.raises(InputError, match="expected"):
            reduction.forward(Biclique(v, w), data)


def test_a_yes_instance_is_lost_with_down() -> None:
    problem = Encd(from_matrix([[1, 0, 1]]), 1, 2)
    for reduction in REDUCTIONS.values():
        instance, data = reduction.apply(problem)
        schedule = reduction.forward(Biclique((0,), (1, 3)), data)
        assert check(instance, schedule).outcome.makespan is not None
        assert check(with_down(instance), schedule).rule == "R1"
    assert check_case(Case("drawn", problem)) == (Biclique((0,), (1, 3)), 2)


def test_a_case_with_a_wrong_answer_is_a_counter_example(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CounterExampleError, match="made to have answer False"):
        check_case(Case("drawn", PROBLEM, answer=False))
    honest = ToMu1.backward
    monkeypatch.setattr(ToMu1, "backward", lambda self, witness, data: Biclique(honest(self, witness, data).v, ()))
    with pytest.raises(CounterExampleError, match="mu1: w: 0 nodes, expected 2"):
        check_case(Case("drawn", PROBLEM))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Encd(nx.Graph([(0, 1)]), 1, 1), "node 0: bipartite = None, expected 0"),
        (lambda: Encd(nx.DiGraph(), 1, 1), "expected a simple graph"),
        (lambda: Encd(from_matrix([[1]]), 0, 1), "a: 0, expected an integer >= 1"),
        (lambda: Encd(from_matrix([[1]]), 1, True), "b: True, expected an integer >= 1"),
        (lambda: Encd(from_matrix([[1]]), 1, 1.5), "b: 1.5, expected an integer >= 1"),  # type: ignore[arg-type]
    ],
)
def test_invalid_problems_are_refused(make: Callable[[], Encd], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_an_edge_within_a_side_is_refused() -> None:
    graph = from_matrix([[1, 1]]).to_networkx()
    graph.add_edge(1, 2)
    with pytest.raises(InputError, match="edge 1, 2: on one side"):
        Encd(graph, 1, 1)


def test_a_problem_does_not_follow_later_changes_of_its_graph() -> None:
    graph = from_matrix([[1, 1]]).to_networkx()
    problem = Encd(graph, 1, 2)
    graph.remove_edge(0, 1)
    assert solve_encd(problem).exists


def by_enumeration(graph: nx.Graph, measure: Measure) -> int:  # type: ignore[type-arg]
    best = 0
    num_v, num_w = (len(side) for side in (Encd(graph, 1, 1).v, Encd(graph, 1, 1).w))
    for a in range(1, num_v + 1):
        for b in range(1, num_w + 1):
            found = next(enumerate_all(Encd(graph, a, b)), None)
            if found is not None and (measure is not Measure.BALANCED or a == b):
                best = max(best, size_of(measure, found))
    return best


@settings(max_examples=40, deadline=None)
@given(encds(), st.sampled_from(Measure))
def test_the_largest_biclique_agrees_with_enumeration(problem: Encd, measure: Measure) -> None:
    found = largest(problem.graph, measure).biclique
    expected = by_enumeration(problem.graph, measure)
    assert (0 if found is None else size_of(measure, found)) == expected
    if found is not None:
        Encd(problem.graph, len(found.v), len(found.w)).check(found)


@settings(max_examples=30, deadline=None)
@given(encds())
def test_the_largest_number_of_nodes_agrees_with_a_matching(problem: Encd) -> None:
    """By Koenig's theorem, for each choice of one node of each side: a biclique is independent in the complement."""
    best = 0
    graph = problem.graph.to_networkx()
    for i, j in graph.edges:
        v, w = (i, j) if i in problem.v else (j, i)
        left, right = set(graph[w]), set(graph[v])
        complement = nx.Graph()
        complement.add_nodes_from(left | right)
        complement.add_edges_from((x, y) for x in left for y in right if not graph.has_edge(x, y))
        matching = nx.bipartite.hopcroft_karp_matching(complement, top_nodes=left)
        best = max(best, len(left) + len(right) - len(matching) // 2)
    found = largest(problem.graph, Measure.NODES, is_matched=False).biclique
    matched = largest(problem.graph, Measure.NODES).biclique
    assert (0 if matched is None else size_of(Measure.NODES, matched)) == best
    assert (0 if found is None else size_of(Measure.NODES, found)) == best


def by_subsets(graph: "nx.Graph[Any]", measure: Measure) -> int:
    """Return the largest size over all sets of nodes of V with all their common neighbours; 0 if there is none."""
    best = 0
    matrix = Encd(graph, 1, 1).matrix
    for chosen in range(1, 2 ** len(matrix)):
        rows = [i for i in range(len(matrix)) if chosen >> i & 1]
        a, b = len(rows), int(matrix[rows].all(axis=0).sum())
        if b:
            best = max(best, {"edges": a * b, "nodes": a + b, "balanced": 2 * min(a, b)}[measure])
    return best


@pytest.mark.parametrize("measure", Measure)
def test_the_largest_biclique_of_every_small_graph(measure: Measure) -> None:
    for cases in small(4):
        if not cases:
            continue
        graph = cases[0].problem.graph
        expected = by_subsets(graph, measure)
        ways = WAYS if max(len(cases[0].problem.v), len(cases[0].problem.w)) <= 3 else ("direct",)
        decisions = [largest(graph, measure), largest(graph, measure, is_matched=False)]
        for decision in decisions + [largest_biclique(graph, measure, via) for via in ways]:
            assert decision.exists == (expected > 0)
            assert (0 if decision.biclique is None else size_of(measure, decision.biclique)) == expected


@pytest.mark.parametrize("seed", range(4))
def test_the_largest_biclique_of_larger_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(15):
        matrix = rng.random((int(rng.integers(1, 11)), int(rng.integers(1, 70)))) < rng.uniform(0.1, 0.95)
        graph = from_matrix(matrix)
        for measure in Measure:
            found = largest_biclique(graph, measure).biclique
            assert (0 if found is None else size_of(measure, found)) == by_subsets(graph, measure)


@pytest.mark.parametrize("measure", [Measure.EDGES, Measure.BALANCED])
@pytest.mark.parametrize("via", ["direct", "mu1"])
def test_the_largest_biclique_is_unknown_without_time(measure: Measure, via: str) -> None:
    graph = from_matrix(np.random.default_rng(0).random((60, 200)) < 0.5)
    assert largest_biclique(graph, measure, via, limits=Limits(time_limit_s=1e-9)) == Decision(None, None)


@pytest.mark.parametrize("via", WAYS)
@pytest.mark.parametrize("measure", Measure)
def test_the_largest_biclique_of_the_southern_women(measure: Measure, via: str) -> None:
    graph = nx.davis_southern_women_graph()
    women, events = Encd(graph, 1, 1).v, Encd(graph, 1, 1).w
    best = 0
    for chosen in range(1, 2 ** len(events)):
        w = [event for j, event in enumerate(events) if chosen >> j & 1]
        a = sum(all(graph.has_edge(woman, event) for event in w) for woman in women)
        if a:
            best = max(best, {"edges": a * len(w), "nodes": a + len(w), "balanced": 2 * min(a, len(w))}[measure])
    found = largest_biclique(graph, measure, via).biclique
    assert found is not None
    assert size_of(measure, found) == best


def test_a_stopped_search_has_no_decision() -> None:
    graph = from_matrix(np.random.default_rng(0).random((60, 200)) < 0.5)
    assert solve_encd(Encd(graph, 12, 12), time_limit_s=1e-6).exists is None
