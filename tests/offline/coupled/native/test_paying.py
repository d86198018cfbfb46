"""Labels that pay rents: the pieces against the normal form, the bound against the optimum."""

import numpy as np
import pytest

import offline.coupled
from bench.coupled.studies.rent_bounds import small_instance
from instances import check
from offline.coupled.emit import emit
from offline.coupled.native.constants import NEVER, REFUTED, STAND_BY
from offline.coupled.native.iteration import prepare
from offline.coupled.native.label_search import Incumbent
from offline.coupled.native.merged import Charges, make_arc_room, make_merged, together
from offline.coupled.native.paying_bound import PayingBound
from offline.coupled.native.paying_search import PayingSearch, Room
from offline.coupled.native.ranking import arrange
from offline.coupled.native.workspace import Workspace
from offline.coupled.rents.multipliers import SCALE, _divide
from offline.coupled.rents.search import RentBound
from offline.limits import Limits
from tests.cases.normal_form import whole, words_of
from tests.cases.rents import filled, ran, whole_graph
from tests.offline.coupled.native.test_holders import some_iteration


def test_the_last_slot_from_which_members_can_compute_together():
    found = []
    for seed in range(200):
        plain = some_iteration(seed)
        workspace = whole(plain.instance)
        table, problem, scratch = workspace.table, workspace.problem, workspace.scratch
        scratch.effort[:] = 0, NEVER, NEVER
        prepare(table, problem, scratch.needs, plain.s, plain.e, words_of(plain.held, workspace), plain.horizon)
        arrange(table, problem, scratch, plain.s, plain.e, plain.horizon)
        last = together(table, problem, scratch, plain.s, plain.e)
        slots = [c for work, members, c in plain.member_sets(plain.s - 1) if plain.can_serve(members, work, c, ())]
        assert last == max(slots, default=-1)
        found.append(last)
    assert 20 < sum(last >= 0 for last in found) < 180


class Question:
    """An instance, its optimum and a schedule of it, and the graph of all nodes within it."""

    def __init__(self, number: int) -> None:
        self.instance = small_instance(number, seed=7)
        answer = offline.coupled.solve(self.instance, solver="native")
        self.optimum, self.schedule = answer.value, answer.schedule
        if self.optimum is None:
            return
        self.graph = whole_graph(filled(self.instance, self.optimum).tables, self.optimum)
        self.workspace = Workspace(self.instance, Limits())

    def charges(self, draw: np.random.Generator) -> Charges:
        """Random multipliers that are valid."""
        k, graph = self.instance.iterations, self.graph
        pi = np.concatenate([[0], draw.integers(1, SCALE, k)])
        shares = draw.dirichlet(np.full(k, draw.choice([0.1, 1.0])), len(graph.tables.owner)).T
        rents = _divide(np.vstack([np.zeros(shares.shape[1]), shares]), graph.caps(pi))
        return Charges(graph.tables.facts.life, rents, pi, 0)


@pytest.mark.parametrize("block", range(4))
def test_what_an_optimal_schedule_does_is_never_left_out(block):
    """Whatever the multipliers: its arcs stay, and labels are found that cost no more than 0."""
    left_out = asked = 0
    for number in range(30 * block, 30 * block + 30):
        question = Question(number)
        if question.optimum is None:
            continue
        draw = np.random.default_rng(number)
        room = Room(question.instance.num_workers, question.instance.iterations)
        search = PayingSearch(question.workspace, np.array(question.graph.early), np.array(question.graph.late), room)
        assert ran(search.narrow())
        assert ran(search.unfold())
        ends = (0, *check(question.instance, question.schedule).outcome.ends)
        at_first = search.most_arcs()
        for _ in range(6):
            charges = question.charges(draw)
            assert ran(search.weigh(charges)) <= 0
            label = ran(search.find(charges))
            assert label > 0
            cost, path = search.path(charges, label)
            assert cost <= 0
            assert (np.diff(path.ends) > 0).all()
            assert path.ends[-1] <= question.optimum
            left = ran(search.fix(charges))
            assert ran(search.unfold())
            assert ran(search.weigh(charges)) <= 0
            assert ran(search.find(charges)) != REFUTED
            left_out += at_first - left
            for k in range(1, len(ends)):
                assert search.early[k] <= ends[k] <= search.late[k]
            asked += 1
    assert asked > 60
    assert left_out > 100


@pytest.mark.parametrize("block", range(4))
def test_never_above_the_optimum_and_schedules_never_below(block):
    met = found = 0
    for number in range(30 * block, 30 * block + 30):
        instance = small_instance(number, seed=8)
        answer = offline.coupled.solve(instance, solver="native")
        optimum = instance.slots + 1 if answer.value is None else answer.value
        limit = min(instance.slots + 1, optimum + 3)  # larger horizons than can be refuted are asked too
        rents = RentBound(instance, instance.iterations)
        workspace = Workspace(instance, Limits())
        bound = PayingBound(workspace, rents, STAND_BY)
        bound.few_arcs = (0, 10_000)[number // 2 % 2]  # no part that can be divided is asked about, or all are
        effort = 0
        while bound.bound < limit and effort < 4_000_000:
            spent = bound.work(0, limit)
            if not spent or number % 2:  # in turn: then rents look at more slots while this is at work
                spent += rents.work(0 if number % 2 else bound.bound, limit)
            effort += spent
            if not spent:
                break
        assert bound.bound <= optimum
        met += bound.bound == optimum
        incumbent = Incumbent(workspace, instance.iterations)
        bound.offer(incumbent)
        if incumbent.is_found:
            assert check(instance, emit(instance, incumbent.plan)).outcome.makespan == incumbent.cost >= optimum
            found += incumbent.cost == optimum
    assert met >= 16
    assert found >= 8


def test_no_node_is_beyond_its_window():
    """Windows differ in length and the arrays do not: what lies beyond the shorter ones is never looked at."""
    early, late = np.array([0, 4, 9]), np.array([0, 5, 30])
    merged = make_merged(early, late, 2, make_arc_room(2, 22, 2))
    columns = np.arange(22)
    for k in (1, 2):
        is_arc = (columns <= late[k - 1] - early[k - 1])[:, None] & (columns <= late[k] - early[k])
        assert (merged.top[k][is_arc] > 30).all()
        assert (merged.top[k][~is_arc] == -1).all()


def test_more_arcs_are_taken_each_time_that_there_are_too_many():
    waited = met = 0
    for number in range(60):
        instance = small_instance(number, seed=8)
        answer = offline.coupled.solve(instance, solver="native")
        if answer.value is None:
            continue
        rents = RentBound(instance, instance.iterations)
        while rents.work(0, answer.value + 1):  # they look at all slots, in the end
            pass
        bound = PayingBound(Workspace(instance, Limits()), rents, STAND_BY)
        bound.most_arcs = least = 2
        for _ in range(1_000):
            if not bound.work(0, answer.value) and bound.bound == answer.value:
                break
        assert bound.bound <= answer.value
        waited += bound.most_arcs > least
        met += bound.bound == answer.value
    assert waited >= 10
    assert met >= 40
