"""The linear program has valid bounds and cuts; local searches make no schedule worse."""

from itertools import combinations

import numpy as np
import pytest

from hindsched.instances.grid import Instance, check
from hindsched.instances.grid.generate import NARROW_MIX, generate
from hindsched.offline.grid import brute, order_search
from hindsched.offline.grid.blocks import fits, pieces
from hindsched.offline.grid.job_prices import SCALE, certificate
from hindsched.offline.grid.kernels.pricing import lift, pack
from hindsched.offline.grid.knapsack_cuts import Cuts
from hindsched.offline.grid.large_neighbourhood import refined
from hindsched.offline.grid.linear_program import linear_program_prices
from hindsched.offline.grid.order_search import best_of_rules, improved, total_wait
from hindsched.offline.grid.subgradient import subgradient_prices
from hindsched.offline.limits import Limits, Stopwatch
from tests.cases.grid import random_instance

WATCH = Stopwatch(Limits())


def _fitting_sets(instance):
    jobs = range(len(instance))
    sets = (chosen for k in range(len(instance) + 1) for chosen in combinations(jobs, k))
    return [list(chosen) for chosen in sets if instance.width[list(chosen)].sum() <= instance.nodes]


def test_cuts_are_valid_and_violated():
    made = 0
    for seed in range(30):
        instance = random_instance(seed, jobs=8, nodes=5 + seed % 6, span=5)
        sets = _fitting_sets(instance)
        random = np.random.default_rng(seed)
        running = random.random((len(instance), 6))
        over = instance.width @ running > instance.nodes
        running[:, over] *= instance.nodes / (instance.width @ running[:, over])  # as the program has it
        cuts = Cuts(instance, seed)
        for cut, slot in cuts.violated(running, 0.01, lambda: False):
            assert cuts.loads[cut] @ running[:, slot] > cuts.limits[cut]
        for loads, limit in zip(cuts.loads, cuts.limits, strict=True):
            assert max(loads[chosen].sum() for chosen in sets) == limit  # and it is not larger than necessary
        made += len(cuts.limits)
    assert made > 30


def test_without_a_cut_the_fractions_are_a_convex_combination():
    from scipy.optimize import linprog

    mixtures = 0
    for seed in range(25):
        instance = random_instance(seed, jobs=6, nodes=6, span=5)
        sets = _fitting_sets(instance)
        random = np.random.default_rng(seed)
        shares = random.random(len(instance)) * 0.9 * instance.nodes / instance.width.sum()
        shares = np.minimum(1.0, shares * random.choice([1.0, 1.3]))
        cuts = Cuts(instance, seed)
        found = cuts.violated(shares[:, None], 1e-6, lambda: False)
        columns = np.array([[1.0 if j in chosen else 0.0 for chosen in sets] for j in range(len(instance))])
        answer = linprog(np.zeros(len(sets)), A_ub=-columns, b_ub=-shares, A_eq=np.ones((1, len(sets))), b_eq=[1.0])
        assert bool(found) == (answer.status == 2)  # infeasible
        mixtures += answer.status == 0
    assert mixtures > 0


def test_knapsack_and_lifting():
    width, gain = np.array([2, 3, 4], dtype=np.int64), np.array([1.0, 2.0, 2.5])
    taken = np.zeros(3, dtype=np.int64)
    assert pack(width, gain, 6, np.empty((4, 7)), taken) == pytest.approx(3.5)
    assert taken.tolist() == [1, 0, 1]
    loads = np.array([1, 1, 0], dtype=np.int64)
    assert lift(width, loads, np.arange(3), 4, np.empty(5, dtype=np.int64)) == 1
    assert loads.tolist() == [1, 1, 1]


def test_bounds_of_programs_agree_with_their_certificates():
    better = 0
    for seed in range(40):
        instance = random_instance(seed, jobs=7, nodes=3 + seed % 5, span=6)
        best = brute.solve(instance, Limits())
        starts = np.array(best.starts)
        found = linear_program_prices(instance, best_of_rules(instance), WATCH, None, seed)
        all_jobs = np.arange(len(instance))
        verdict = check(instance, certificate(instance, [(all_jobs, found)]))
        assert verdict.is_valid
        assert verdict.outcome.value == max(0, -(-found.scaled_value() // SCALE))
        assert verdict.outcome.value <= total_wait(instance, starts)
        nodes_only = subgradient_prices(instance, starts, WATCH, None)
        better += found.scaled_value() > nodes_only.scaled_value() + SCALE // 100
        # an optimal schedule lies within the windows that its own wait leaves
        slack = SCALE * total_wait(instance, starts) - found.scaled_value()
        for start, windows in zip(starts.tolist(), found.windows(slack, 10**6), strict=True):
            assert any(first <= start <= last for first, last in windows)
    assert better > 5


def test_groups_have_resources_of_their_own():
    instance = random_instance(3, jobs=12, nodes=5, span=12)
    starts = best_of_rules(instance)
    parts = pieces(instance, starts, 5)
    assert np.concatenate(parts).tolist() == list(range(len(instance)))
    assert max(map(len, parts)) <= 5
    groups = []
    for part in parts:
        alone = instance.subset(part)
        groups.append((part, linear_program_prices(alone, best_of_rules(alone), WATCH, None, 0)))
    verdict = check(instance, certificate(instance, groups))
    assert verdict.is_valid
    assert 0 < verdict.outcome.value <= total_wait(instance, starts)


def _busy(jobs: int) -> Instance:
    return generate(nodes=40, slot_s=60, jobs=jobs, load=1.3, seed=1, mix=NARROW_MIX)


def test_the_order_search_never_makes_schedules_worse_and_depends_on_the_seed_alone(monkeypatch):
    monkeypatch.setattr(order_search, "_PARAMETERS", order_search.OrderParameters(most_work=4_000_000, segment=60))
    for jobs in (50, 200):  # as a whole, and in segments
        instance = _busy(jobs)
        starts = best_of_rules(instance)
        first, rounds = improved(instance, starts, 5, WATCH, None)
        again, _ = improved(instance, starts, 5, WATCH, None)
        assert rounds > 0
        assert fits(instance, first)
        assert (first >= instance.submit).all()
        assert total_wait(instance, first) < total_wait(instance, starts)
        assert first.tolist() == again.tolist()


def test_neighbourhoods_never_make_schedules_worse_and_depend_on_the_seed_alone():
    instance = _busy(30)
    starts = best_of_rules(instance)
    counts: dict[str, int] = {}
    first = refined(instance, starts, Limits(seed=3), WATCH, None, counts)
    assert fits(instance, first)
    assert (first >= instance.submit).all()
    assert total_wait(instance, first) <= total_wait(instance, starts)
    assert counts["steps"] == 60
    assert first.tolist() == refined(instance, starts, Limits(seed=3), WATCH, None, {}).tolist()
