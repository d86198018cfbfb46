"""The local search: its kernels against their plain twin, and its schedules against the optimum."""

import threading
from contextlib import suppress
from itertools import pairwise, product

import numpy as np
import pytest

from hindsched.bench.coupled.verify.general_agreement import general_instance
from hindsched.instances import check
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.local_search.annealing import NUM_MOVES, AnnealingSettings, anneal
from hindsched.offline.coupled.local_search.local_search import LocalSearch
from hindsched.offline.coupled.local_search.parameters import LocalSearchParameters
from hindsched.offline.coupled.local_search.plain_state import State, Window, moves, violations
from hindsched.offline.coupled.local_search.repair import list_periods, total_assignment
from hindsched.offline.coupled.objectives import Objective
from hindsched.offline.coupled.plans import emit
from hindsched.offline.coupled.search import portfolio
from hindsched.offline.coupled.search.beam import Beam
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.modes import NO_STAND_BY, STAND_BY
from hindsched.offline.coupled.search.parameters import PortfolioParameters
from hindsched.offline.coupled.search.portfolio import Portfolio
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.workspace import Workspace
from hindsched.offline.limits import Limits
from hindsched.offline.results import Status


def narrow(number: int, *, p: int = 12, iterations: int = 4) -> Instance:
    """Return a random instance whose channel binds, with a known optimum that a beam can reach."""
    return paper(m=6, n_com=2, wmin=1, scenario=0, trial=number, slots=3_000, p=p, iterations=iterations)


def started(instance: Instance, mode: int = STAND_BY, width: int = 1) -> tuple[Workspace, Incumbent]:
    """Return a workspace with the schedule of a beam as incumbent."""
    workspace = Workspace(instance, Limits())
    incumbent = Incumbent(workspace, instance.iterations)
    Beam(workspace, mode, instance.iterations, width).work(incumbent)
    return workspace, incumbent


def state_of(local_search: LocalSearch, windows: object) -> State:
    """Return the state of an annealing run as a plain state."""
    works = local_search.problem.work
    return State(
        tuple(
            Window(int(first), int(works[iw]), frozenset(int(t) for t in row if t >= 0))
            for first, iw, row in zip(windows.first, windows.work, windows.pauses, strict=True)
        ),
        tuple(frozenset(np.flatnonzero(row).tolist()) for row in windows.sent),
    )


def at_temperature(local_search: LocalSearch, temperature: float, moves: int) -> AnnealingSettings:
    """Return the settings of a run of this many moves at a constant temperature."""
    parameters = LocalSearchParameters(moves=moves, initial_temperature=temperature, final_temperature=temperature)
    return local_search._settings._replace(parameters=parameters)


def test_violations_of_a_state_are_those_of_its_plain_twin():
    violated = 0
    for number in range(6):
        instance = narrow(number)
        workspace, incumbent = started(instance)
        local_search = LocalSearch(workspace.problem, STAND_BY, instance.iterations, seed=number)
        table, problem, effort = workspace.table, workspace.problem, np.array([0, NEVER, 0])
        local_search.set_start(table, incumbent.cost, incumbent.plan)
        local_search.run(table, effort)
        state = local_search._state
        for moves_made in range(5, 305, 5):
            effort[2] = NEVER
            settings = at_temperature(local_search, 9.0, moves_made)
            anneal(table, problem, state, settings, -1, incumbent.cost, effort)
            n = list_periods(problem, state.now, state.limits, state.assignment, effort)
            total_assignment(problem, state.now, state.limits, state.assignment, n)
            for k, found in enumerate(violations(instance, state_of(local_search, state.now))):
                excess = problem.n_com * (state.assignment.channel_excess[k] - state.assignment.idle[k])
                assert found.tasks == max(0, problem.m - state.assignment.tasks[k])
                assert found.units == pytest.approx(max(0.0, excess), abs=1e-6)
                violated += found != (0, 0)
    assert violated > 100


def test_moves_are_those_of_the_plain_twin():
    instance = narrow(0)
    workspace, incumbent = started(instance)
    local_search = LocalSearch(workspace.problem, STAND_BY, instance.iterations)
    local_search.set_start(workspace.table, incumbent.cost, incumbent.plan)
    state, works = local_search._state, tuple(workspace.problem.work.tolist())
    effort = np.array([0, NEVER, NEVER])
    local_search.run(workspace.table, np.array([0, NEVER, 0]))
    other = 0
    for _ in range(300):
        before = state_of(local_search, state.now)
        until = int(state.counts[NUM_MOVES]) + 1
        settings = at_temperature(local_search, 1e9, until)
        anneal(workspace.table, workspace.problem, state, settings, -1, NEVER, effort)
        after = state_of(local_search, state.now)
        assert all(one.last < other.first for one, other in pairwise(after.windows))
        if [w.slots for w in after.windows] != [w.slots for w in before.windows]:
            longest = max(3, before.windows[-1].last // (16 * len(before.windows)))
            reached = ([w.slots for w in windows] for windows in moves(before, works, longest))
            assert [w.slots for w in after.windows] in reached
            other += 1
    assert other > 50


def test_schedules_are_valid_and_reach_the_optimum_more_often_than_a_beam():
    by_beam = by_local_search = tried = 0
    for number, mode in product(range(12), (STAND_BY, NO_STAND_BY)):
        instance = narrow(number)
        best = offline_coupled.solve(instance, solver="native", stand_by=mode == STAND_BY)
        workspace, incumbent = started(instance, mode)
        start = incumbent.cost
        LocalSearch(workspace.problem, mode, instance.iterations).work(workspace, incumbent, 4_000)
        verdict = check(instance, emit(instance, incumbent.plan, slots=incumbent.cost))
        assert verdict.is_valid
        assert verdict.outcome.makespan == incumbent.cost
        assert best.status is Status.OPTIMAL
        assert best.value <= incumbent.cost <= start
        by_beam += start == best.value
        by_local_search += incumbent.cost == best.value
        tried += 1
    assert by_beam < by_local_search, (by_beam, by_local_search)
    assert by_local_search > 0.6 * tried, (by_local_search, tried)


def test_tiny_instances_of_every_shape_keep_their_optimum():
    tried = 0
    for number in range(60):
        instance = general_instance(number, seed=5)
        for mode in (STAND_BY, NO_STAND_BY):
            workspace, incumbent = started(instance, mode, width=2)
            if instance.t_prog == 0 or instance.channels >= instance.num_workers or not incumbent.plan:
                continue
            LocalSearch(workspace.problem, mode, instance.iterations).work(workspace, incumbent, 50)
            verdict = check(instance, emit(instance, incumbent.plan, slots=incumbent.cost))
            assert verdict.is_valid
            assert verdict.outcome.makespan == incumbent.cost
            assert incumbent.cost >= offline_coupled.solve(instance, stand_by=mode == STAND_BY).value
            tried += 1
    assert tried > 10


def test_the_same_seed_gives_the_same_run():
    instance = narrow(3)
    found = []
    for seed, steps in ((1, (400,)), (1, (100, 100, 100, 100)), (2, (400,))):
        workspace, incumbent = started(instance)
        local_search = LocalSearch(workspace.problem, STAND_BY, instance.iterations, seed)
        for share in steps:
            local_search.work(workspace, incumbent, share)
        found.append(
            (int(local_search._state.counts[NUM_MOVES]), local_search._state.now.first.tolist(), incumbent.cost)
        )
    assert found[0] != found[2]
    assert found[0][2] == found[1][2]


@pytest.mark.parametrize("threads", [1, 2])
def test_two_threads_prove_the_same(threads):
    for number in range(8):
        instance = narrow(number, p=10, iterations=3)
        expected = offline_coupled.solve(instance, solver="native")
        parameters = PortfolioParameters(first_round=5)
        result = Portfolio(instance, Limits(threads=threads), parameters=parameters).solve(
            Objective.MAKESPAN, stand_by=True
        )
        assert (result.status, result.value, result.bound) == (expected.status, expected.value, expected.bound)
        assert result.schedule is None or check(instance, result.schedule).is_valid
    assert not [thread for thread in threading.enumerate() if thread.name == "improve"]


def test_an_interrupt_leaves_no_thread_behind():
    whole = Portfolio(narrow(1, p=40), Limits(threads=2), parameters=PortfolioParameters(first_round=1))
    looks = iter(range(400))

    def check_interrupted() -> None:
        if next(looks, None) is None:
            raise KeyboardInterrupt

    whole.workspace.check = check_interrupted
    with suppress(KeyboardInterrupt):
        whole.solve(Objective.MAKESPAN, stand_by=True)
    assert not [thread for thread in threading.enumerate() if thread.name == "improve"]


def test_an_easy_instance_never_loads_the_local_search(monkeypatch):
    def refuse(*arguments: object) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(portfolio.Portfolio, "_improve", refuse)
    instance = paper(m=5, n_com=5, wmin=1, scenario=0, trial=0, slots=5_000, iterations=5)
    assert offline_coupled.solve(instance, solver="native").status is Status.OPTIMAL
