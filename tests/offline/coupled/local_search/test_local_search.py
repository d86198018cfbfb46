"""The walks around the best schedule: the kernels against their plain statement, and schedules that get better."""

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
from hindsched.offline.coupled.local_search.annealing import MOVES, anneal
from hindsched.offline.coupled.local_search.local_search import Improver
from hindsched.offline.coupled.local_search.plain_state import State, Window, faults, moves
from hindsched.offline.coupled.local_search.repair import add_up, list_stays
from hindsched.offline.coupled.objectives import Objective
from hindsched.offline.coupled.plans import emit
from hindsched.offline.coupled.search import portfolio
from hindsched.offline.coupled.search.beam import Beam
from hindsched.offline.coupled.search.constants import NEVER, OWN, STAND_BY
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.portfolio import Portfolio
from hindsched.offline.coupled.search.workspace import Workspace
from hindsched.offline.limits import Limits
from hindsched.offline.results import Status


def narrow(number: int, *, p: int = 12, iterations: int = 4) -> Instance:
    """A random instance whose channel binds, with a known optimum within reach of a beam."""
    return paper(m=6, n_com=2, wmin=1, scenario=0, trial=number, slots=3_000, p=p, iterations=iterations)


def begun(instance: Instance, mode: int = STAND_BY, width: int = 1) -> tuple[Workspace, Incumbent]:
    """What a beam finds first."""
    workspace = Workspace(instance, Limits())
    incumbent = Incumbent(workspace, instance.iterations)
    Beam(workspace, mode, instance.iterations, width).work(incumbent)
    return workspace, incumbent


def state_of(improver: Improver, windows: object) -> State:
    """The state of a walk in the words of the plain statement."""
    works = improver.problem.work
    return State(
        tuple(
            Window(int(first), int(works[iw]), frozenset(int(t) for t in row if t >= 0))
            for first, iw, row in zip(windows.first, windows.work, windows.pauses, strict=True)
        ),
        tuple(frozenset(np.flatnonzero(row).tolist()) for row in windows.sent),
    )


def test_what_is_wrong_with_a_state_is_what_the_plain_statement_says():
    wrong = 0
    for number in range(6):
        instance = narrow(number)
        workspace, incumbent = begun(instance)
        improver = Improver(workspace.problem, STAND_BY, instance.iterations, seed=number)
        table, problem, effort = workspace.table, workspace.problem, np.array([0, NEVER, 0])
        improver.enter(table, incumbent.cost, incumbent.plan)
        improver.go_on(table, effort)
        walk = improver._walk
        for moves_made in range(5, 305, 5):
            effort[2] = NEVER
            anneal(table, problem, walk, improver._weights, -1, incumbent.cost, moves_made, 9.0, 9.0, False, effort)
            n = list_stays(problem, walk.now, walk.fits, walk.books, effort)
            add_up(problem, walk.now, walk.fits, walk.books, n)
            for k, fault in enumerate(faults(instance, state_of(improver, walk.now))):
                over = problem.n_com * (walk.books.over[k] - walk.books.idle[k])
                assert fault.tasks == max(0, problem.m - walk.books.tasks[k])
                assert fault.units == pytest.approx(max(0.0, over), abs=1e-6)
                wrong += fault != (0, 0)
    assert wrong > 100


def test_moves_are_those_of_the_plain_statement():
    instance = narrow(0)
    workspace, incumbent = begun(instance)
    improver = Improver(workspace.problem, STAND_BY, instance.iterations)
    improver.enter(workspace.table, incumbent.cost, incumbent.plan)
    walk, works = improver._walk, tuple(workspace.problem.work.tolist())
    effort = np.array([0, NEVER, NEVER])
    improver.go_on(workspace.table, np.array([0, NEVER, 0]))
    other = 0
    for _ in range(300):
        before = state_of(improver, walk.now)
        until = int(walk.counts[MOVES]) + 1
        anneal(workspace.table, workspace.problem, walk, improver._weights, -1, NEVER, until, 1e9, 1e9, False, effort)
        after = state_of(improver, walk.now)
        assert all(one.last < other.first for one, other in pairwise(after.windows))
        if [w.slots for w in after.windows] != [w.slots for w in before.windows]:
            longest = max(3, before.windows[-1].last // (16 * len(before.windows)))
            reached = ([w.slots for w in windows] for windows in moves(before, works, longest))
            assert [w.slots for w in after.windows] in reached
            other += 1
    assert other > 50


def test_schedules_are_valid_and_reach_the_optimum_more_often_than_a_beam():
    by_beam = by_walks = tried = 0
    for number, mode in product(range(12), (STAND_BY, OWN)):
        instance = narrow(number)
        best = offline_coupled.solve(instance, solver="native", stand_by=mode == STAND_BY)
        workspace, incumbent = begun(instance, mode)
        start = incumbent.cost
        Improver(workspace.problem, mode, instance.iterations).work(workspace, incumbent, 4_000)
        verdict = check(instance, emit(instance, incumbent.plan, slots=incumbent.cost))
        assert verdict.is_valid
        assert verdict.outcome.makespan == incumbent.cost
        assert best.status is Status.OPTIMAL
        assert best.value <= incumbent.cost <= start
        by_beam += start == best.value
        by_walks += incumbent.cost == best.value
        tried += 1
    assert by_beam < by_walks, (by_beam, by_walks)
    assert by_walks > 0.6 * tried, (by_walks, tried)


def test_tiny_instances_of_every_shape_keep_their_optimum():
    tried = 0
    for number in range(60):
        instance = general_instance(number, seed=5)
        for mode in (STAND_BY, OWN):
            workspace, incumbent = begun(instance, mode, width=2)
            if instance.t_prog == 0 or instance.channels >= instance.num_workers or not incumbent.plan:
                continue
            Improver(workspace.problem, mode, instance.iterations).work(workspace, incumbent, 50)
            verdict = check(instance, emit(instance, incumbent.plan, slots=incumbent.cost))
            assert verdict.is_valid
            assert verdict.outcome.makespan == incumbent.cost
            assert incumbent.cost >= offline_coupled.solve(instance, stand_by=mode == STAND_BY).value
            tried += 1
    assert tried > 10


def test_the_same_seed_walks_the_same_way():
    instance = narrow(3)
    found = []
    for seed, steps in ((1, (400,)), (1, (100, 100, 100, 100)), (2, (400,))):
        workspace, incumbent = begun(instance)
        improver = Improver(workspace.problem, STAND_BY, instance.iterations, seed)
        for share in steps:
            improver.work(workspace, incumbent, share)
        found.append((int(improver._walk.counts[MOVES]), improver._walk.now.first.tolist(), incumbent.cost))
    assert found[0] != found[2]
    assert found[0][2] == found[1][2]


@pytest.mark.parametrize("threads", [1, 2])
def test_two_threads_prove_the_same(threads):
    for number in range(8):
        instance = narrow(number, p=10, iterations=3)
        expected = offline_coupled.solve(instance, solver="native")
        result = Portfolio(instance, Limits(threads=threads), first_round=5).solve(Objective.MAKESPAN, stand_by=True)
        assert (result.status, result.value, result.bound) == (expected.status, expected.value, expected.bound)
        assert result.schedule is None or check(instance, result.schedule).is_valid
    assert not [thread for thread in threading.enumerate() if thread.name == "improve"]


def test_an_interrupt_leaves_no_thread_behind():
    whole = Portfolio(narrow(1, p=40), Limits(threads=2), first_round=1)
    looks = iter(range(400))

    def check_interrupted() -> None:
        if next(looks, None) is None:
            raise KeyboardInterrupt

    whole.workspace.check = check_interrupted
    with suppress(KeyboardInterrupt):
        whole.solve(Objective.MAKESPAN, stand_by=True)
    assert not [thread for thread in threading.enumerate() if thread.name == "improve"]


def test_who_needs_no_walks_never_loads_them(monkeypatch):
    def refuse(*arguments: object) -> None:
        raise AssertionError("walked")

    monkeypatch.setattr(portfolio.Portfolio, "_improve", refuse)
    instance = paper(m=5, n_com=5, wmin=1, scenario=0, trial=0, slots=5_000, iterations=5)
    assert offline_coupled.solve(instance, solver="native").status is Status.OPTIMAL
