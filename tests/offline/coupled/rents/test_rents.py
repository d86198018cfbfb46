"""The bound by rents: kernels against the plain twin, never above the optimum, and judged by the evaluator."""

import numpy as np
import pytest

import offline.coupled
from bench.coupled.studies.rent_bounds import small_instance
from instances import check
from instances.coupled import Instance
from offline.coupled.rents.carry import can_carry
from offline.coupled.rents.graph import FAR
from offline.coupled.rents.plain import Plain
from offline.coupled.rents.search import SCALE, Graph, RentBound, _divide


def run_down(generator):
    for _ in generator:
        pass


def kernels(instance, horizon, pi, seed):
    """Distances by the kernels, without a limit of halvings, and the rents: those of the search, drawn at random."""
    bound = RentBound(instance, instance.iterations)
    run_down(bound._tabulate(horizon))
    bound._halvings = 1000
    graph = Graph(bound._tables, instance.iterations, horizon)
    if graph.is_empty:
        return None, None, graph
    shares = np.random.default_rng(seed).dirichlet(np.ones(instance.iterations), len(bound._tables.owner)).T
    rents = _divide(np.vstack([np.zeros(shares.shape[1]), shares]), graph.caps(np.array([0, *pi])))
    run_down(bound._sweep(graph, np.array([0, *pi]), rents))
    found = [{t: int(d) for t, d in enumerate(level.far) if d < FAR} for level in bound._levels]
    tables = bound._tables
    by_life = {(int(tables.owner[l]), int(tables.first[l])): rents[1:, l].tolist() for l in range(rents.shape[1])}
    return found, by_life, graph


@pytest.mark.parametrize("block", range(4))
def test_kernels_and_twin_agree_value_for_value(block):
    reached = 0
    for number in range(10 * block, 10 * block + 10):
        instance = small_instance(number, seed=5)
        pi = np.random.default_rng(number).integers(SCALE // 4, 2 * SCALE, instance.iterations).tolist()
        horizon = min(instance.slots, 16)
        found, rents, graph = kernels(instance, horizon, pi, number)
        plain = Plain(instance, horizon)
        if found is None:
            assert plain.early[-1] is None or plain.early[-1] > horizon
            continue
        assert graph.early == plain.early
        assert graph.late == plain.late
        assert found == plain.distances(pi, rents)
        reached += bool(found[-1])
    assert reached


@pytest.mark.parametrize("block", range(4))
def test_never_above_the_optimum_and_every_certificate_holds(block):
    raised = met = 0
    for number in range(60 * block, 60 * block + 60):
        instance = small_instance(number, seed=6)
        answer = offline.coupled.solve(instance, solver="native")
        optimum = instance.slots + 1 if answer.value is None else answer.value
        bound = RentBound(instance, instance.iterations)
        for _ in range(400):
            if not bound.work(0, instance.slots + 1):
                break
        assert bound.bound <= optimum
        met += bound.bound == optimum
        certificate = bound.certificate()
        if certificate is not None:
            raised += 1
            verdict = check(instance, certificate)
            assert verdict.is_valid
            assert bound.bound == certificate.bound <= verdict.outcome.value <= optimum
    assert raised >= 5
    assert met >= 20
