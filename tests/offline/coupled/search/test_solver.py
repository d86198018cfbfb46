"""The native search: it agrees with the other exact solvers, reads states on demand, and keeps bounds when stopped."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hindsched import offline
from hindsched.instances import check
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper, small
from hindsched.instances.state_sources import KnownStates
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.search.portfolio import warm_up
from hindsched.offline.results import Status
from hindsched.online import coupled as online_coupled

SETTINGS = [(objective, stand_by) for objective in ("makespan", "iterations") for stand_by in (True, False)]


def answer(instance: Instance, objective: str = "makespan", **options) -> tuple[str, int | None]:
    result = offline.solve(instance, objective, solver="native", **options)
    if result.schedule is not None:
        verdict = check(instance, result.schedule)
        assert verdict.is_valid
        assert result.value == (verdict.outcome.makespan if objective == "makespan" else verdict.outcome.iterations)
    assert result.value == result.bound
    return str(result.status), result.value


@pytest.mark.parametrize("block", range(10))
def test_all_exact_solvers_agree_on_general_instances(block):
    for seed in range(12 * block, 12 * block + 12):
        shape = {"p": 1 + seed % 4, "slots": 8 + seed % 9, "tasks": 1 + seed % 3, "iterations": 1 + seed % 3}
        instance = small(seed, **shape, up=(0.6, 0.75, 0.9)[seed % 3], down=(0.0, 0.1)[seed % 2])
        for objective, stand_by in SETTINGS:
            ours = answer(instance, objective, stand_by=stand_by)
            is_tiny = shape["p"] < 4 and shape["slots"] < 13
            for solver in ("cpsat", "cpsat-whole", "brute") if is_tiny else ("cpsat",):
                theirs = offline.solve(instance, objective, solver=solver, stand_by=stand_by)
                assert ours == (str(theirs.status), theirs.value), (seed, objective, stand_by, solver)


@pytest.mark.parametrize("n_com", [1, 3, 20])
@pytest.mark.parametrize("stand_by", [True, False])
def test_paper_instances_agree_with_cpsat(n_com, stand_by):
    for trial in range(2):
        instance = paper(m=5, n_com=n_com, wmin=1, scenario=trial, trial=trial, slots=600, iterations=3)
        theirs = offline.solve(instance, solver="cpsat", stand_by=stand_by)
        assert theirs.status is Status.OPTIMAL
        assert answer(instance, stand_by=stand_by) == ("optimal", theirs.value)


@pytest.mark.parametrize("trial", range(4))
def test_the_optimum_lies_between_the_bound_and_every_heuristic(trial):
    instance = paper(m=5, n_com=5, wmin=1, scenario=2, trial=trial, slots=3000)
    status, optimum = answer(instance)
    assert status == "optimal"
    assert offline_coupled.free_prefetch_bound(instance, "makespan") <= optimum
    assert optimum <= answer(instance, stand_by=False)[1]
    for name in ("IE", "Y-IE", "P-IP"):
        makespan = online_coupled.simulate(instance, online_coupled.make_policy(name)).makespan
        assert makespan is None or makespan >= optimum


@settings(max_examples=30)
@given(some.integers(0, 10**6), some.booleans())
def test_workers_may_be_renumbered(seed, stand_by):
    instance = small(seed, p=5, slots=30, tasks=3, iterations=2)
    order = np.random.default_rng(seed).permutation(5)
    renumbered = instance.replace(
        w=[instance.w[q] for q in order],
        mu=[instance.mu[q] for q in order],
        states=instance.states[order],
        chains=(),
    )
    for objective in ("makespan", "iterations"):
        assert answer(instance, objective, stand_by=stand_by) == answer(renumbered, objective, stand_by=stand_by)


@settings(max_examples=30)
@given(some.integers(0, 10**6), some.booleans())
def test_more_never_hurts(seed, stand_by):
    instance = small(seed, p=5, slots=30, tasks=3, iterations=2)
    most = answer(instance, "iterations", stand_by=stand_by)[1]
    draw = np.random.default_rng(seed)
    better = instance.states.copy()
    better[draw.random(better.shape) < 0.1] = UP
    better[(better == DOWN) & (draw.random(better.shape) < 0.2)] = RECLAIMED
    longer = np.concatenate([instance.states, draw.integers(0, 3, size=(5, 4), dtype=np.uint8)], axis=1)
    for richer in (
        instance.replace(states=better),
        instance.replace(states=longer),
        instance.replace(n_com=instance.channels + 1),
        instance.replace(mu=(None,) * 5),
    ):
        assert answer(richer, "iterations", stand_by=stand_by)[1] >= most


def test_makespan_and_iterations_agree():
    instance = paper(m=5, n_com=3, wmin=1, scenario=1, trial=1, slots=400, iterations=4)
    _, makespan = answer(instance)
    within = instance.replace(states=KnownStates(instance.prefix(makespan).copy()))
    short = instance.replace(states=KnownStates(instance.prefix(makespan - 1).copy()))
    assert answer(within, "iterations")[1] == 4
    assert answer(short, "iterations")[1] == 3
    assert answer(short) == ("infeasible", None)


def test_states_are_read_only_as_far_as_needed():
    instance = paper(m=5, n_com=10, wmin=1, scenario=0, trial=0, slots=1_000_000, drawn=True)
    result = offline.solve(instance, solver="native")
    assert result.status is Status.OPTIMAL
    assert result.counts["slots"] < 2000
    assert instance.source._states.shape[1] < 5000


def test_more_workers_than_bits_in_a_word():
    instance = paper(m=8, n_com=70, wmin=1, scenario=0, trial=0, slots=2000, p=70, iterations=3)
    few = instance.replace(
        w=instance.w[:40], mu=instance.mu[:40], chains=instance.chains[:40], states=instance.states[:40]
    )
    assert answer(instance)[1] <= answer(few)[1]


@pytest.mark.parametrize("limits", [{"time_limit_s": 0.05}, {"memory_limit_mb": 0.3}])
@pytest.mark.parametrize("objective", ["makespan", "iterations"])
def test_a_stopped_search_has_valid_bounds(limits, objective):
    warm_up()
    instance = paper(m=20, n_com=5, wmin=1, scenario=0, trial=0, slots=20_000, p=100, iterations=10)
    result = offline.solve(instance, objective, solver="native", **limits)
    assert result.status in (Status.FEASIBLE, Status.UNKNOWN)
    assert result.termination.limit == ("time" if "time_limit_s" in limits else "memory")
    assert result.bound is not None
    if result.value is not None:
        sign = 1 if objective == "makespan" else -1
        assert sign * (result.value - result.bound) > 0


def test_the_answer_does_not_depend_on_chance():
    instance = paper(m=5, n_com=3, wmin=1, scenario=0, trial=0, slots=2000, iterations=5)
    first, second = (offline.solve(instance, solver="native", seed=seed, threads=1 + seed) for seed in (0, 1))
    assert first.schedule == second.schedule
    assert first.counts == second.counts


def test_auto_is_native():
    assert offline.solve(small(1)).solver == "native"
