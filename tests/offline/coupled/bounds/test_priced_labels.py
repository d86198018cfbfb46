"""Labels that pay rents: the pieces against the normal form, the bound against the optimum."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from docs.studies.coupled.program_lagrangian import small_instance
from hindsched.instances import check
from hindsched.instances.array_types import Ints
from hindsched.instances.states import DOWN, UP
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.bounds import node_cpsat, priced_label_bound
from hindsched.offline.coupled.bounds.priced_label_bound import PayingBound
from hindsched.offline.coupled.bounds.priced_label_search import PayingSearch, Room
from hindsched.offline.coupled.bounds.program_lagrangian.multipliers import SCALE, Learner, _divide
from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import RentBound
from hindsched.offline.coupled.bounds.state_space_relaxation import Charges, make_arc_room, make_merged, together
from hindsched.offline.coupled.plans import emit
from hindsched.offline.coupled.search.constants import NEVER, REFUTED, STAND_BY
from hindsched.offline.coupled.search.feasible_team_cache import make_feasible_team_cache, recall
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.normal_form import prepare
from hindsched.offline.coupled.search.worker_order import order_workers
from hindsched.offline.coupled.search.workspace import Workspace
from hindsched.offline.limits import Limits
from tests.cases.normal_form import whole, words_of
from tests.cases.program_lagrangian import arcs_of, filled, ran, whole_graph
from tests.offline.coupled.search.test_holders import P, some_iteration


def test_the_last_slot_from_which_members_can_compute_together():
    found = []
    for seed in range(200):
        plain = some_iteration(seed)
        workspace = whole(plain.instance)
        table, problem, scratch = workspace.table, workspace.problem, workspace.scratch
        scratch.effort[:] = 0, NEVER, NEVER
        prepare(table, problem, scratch.needs, plain.s, plain.e, words_of(plain.held, workspace), plain.horizon)
        order_workers(table, problem, scratch, plain.s, plain.e, plain.horizon)
        last = together(table, problem, scratch, make_feasible_team_cache(P), plain.s, plain.e)
        slots = [c for work, members, c in plain.teams(plain.s - 1) if plain.can_serve(members, work, c, ())]
        assert last == max(slots, default=-1)
        found.append(last)
    assert 20 < sum(last >= 0 for last in found) < 180


def test_members_that_could_compute_with_these_holders_are_known_again_with_others():
    known = lost = 0
    for seed in range(200):
        plain = some_iteration(seed)
        workspace = whole(plain.instance)
        table, problem, scratch = workspace.table, workspace.problem, workspace.scratch
        scratch.effort[:] = 0, NEVER, NEVER
        witnesses = make_feasible_team_cache(P)
        for held in ([], *([q] for q in range(P)), range(P), [0], []):
            prepare(table, problem, scratch.needs, plain.s, plain.e, words_of(set(held), workspace), plain.horizon)
            before = recall(table, scratch.needs, witnesses, plain.s, plain.e)
            order_workers(table, problem, scratch, plain.s, plain.e, plain.horizon)
            last = together(table, problem, scratch, witnesses, plain.s, plain.e)
            assert before <= last
            known += before >= 0
            lost += before < 0 <= last
            assert recall(table, scratch.needs, witnesses, plain.s, plain.e) == max(last, before)
            assert recall(table, scratch.needs, witnesses, plain.s, plain.e + 1) == -1
    assert known > 100
    assert lost > 20


class SearchSettings:
    """An instance, its optimum and a schedule of it, and the graph of all nodes within it."""

    def __init__(self, number: int) -> None:
        self.instance = small_instance(number, seed=7)
        answer = offline_coupled.solve(self.instance, solver="native")
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
    left_out = asked = excluded = 0
    for number in range(30 * block, 30 * block + 30):
        settings = SearchSettings(number)
        if settings.optimum is None:
            continue
        draw = np.random.default_rng(number)
        room = Room(settings.instance.num_workers, settings.instance.iterations)
        search = PayingSearch(settings.workspace, np.array(settings.graph.early), np.array(settings.graph.late), room)
        assert ran(search.narrow())
        assert ran(search.unfold())
        arcs = arcs_of(settings.instance, settings.schedule)
        life = settings.graph.tables.facts.life
        computing = np.array([list(letters) for letters in settings.schedule.letters]) == "C"
        at_first = search.most_arcs()
        for _ in range(6):
            charges = settings.charges(draw)
            assert ran(search.weigh(charges)) <= 0
            label = ran(search.find(charges))
            assert label > 0
            cost, path = search.path(charges, label)
            assert cost <= 0
            assert (np.diff(path.ends) > 0).all()
            assert path.ends[-1] <= settings.optimum
            left = ran(search.fix(charges))
            assert ran(search.unfold())
            assert ran(search.weigh(charges)) <= 0
            assert ran(search.find(charges)) != REFUTED
            left_out += at_first - left
            assert ran(search.exclude(charges))
            possible = search.possible_for(life)
            excluded += np.sum(~possible.member[1:])
            for k, (s, c, t) in enumerate(arcs, 1):
                assert search.early[k] <= t <= search.late[k]
                members = np.flatnonzero(computing[:, t - 1])
                assert possible.member[k, life[t - 1, members]].all()
                assert possible.first[k, c]
                assert possible.last_first(k, s, t) >= c
            asked += 1
    assert asked > 60
    assert left_out > 100
    assert excluded > 100


@pytest.mark.parametrize("block", range(4))
def test_never_above_the_optimum_and_schedules_never_below(block, monkeypatch):
    met = found = 0
    for number in range(30 * block, 30 * block + 30):
        # Horizons grow step by step, or are the largest one of interest at once.
        monkeypatch.setattr(priced_label_bound, "NEAR_END", (64, 1)[number // 4 % 2])
        instance = small_instance(number, seed=8)
        answer = offline_coupled.solve(instance, solver="native")
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


def members_in_doubt(settings: SearchSettings, charges: Charges, top: Ints) -> set[int]:
    """The lives that compute in some path of one iteration that costs 0 or less, by the definition of what it costs."""
    instance, letters = settings.instance, settings.instance.prefix(settings.optimum)
    found = set()
    for t in range(1, settings.optimum + 1):
        for c in range(int(top[t]) + 1):
            left = instance.channels * c - instance.tasks * instance.t_data
            programs = min(left // instance.t_prog, instance.num_workers if c >= instance.t_prog else 0)
            for length in range(1, t - c + 1) if left >= 0 else ():
                tasks = {}
                for q, row in enumerate(letters):
                    computing = row[c:t]
                    if (
                        computing[0] == UP == computing[-1]
                        and DOWN not in computing
                        and (computing == UP).sum() >= length
                    ):
                        period_start = max(np.flatnonzero(row[:c] == DOWN), default=-1) + 1
                        units = int((row[period_start:c] == UP).sum()) - instance.t_prog
                        most = min(instance.capacities[q], length // instance.w[q])
                        tasks[q] = 0 if units < 0 else min(most, units // instance.t_data) if instance.t_data else most
                rents = {q: int(charges.rents[1, charges.life[t - 1, q]]) for q, x in tasks.items() if x}
                for q, rent in rents.items():
                    cost, wanted = rent - int(charges.pi[1]) * programs, instance.tasks - tasks[q]
                    for other in sorted(rents.keys() - {q}, key=lambda other: rents[other] / tasks[other]):
                        taken = max(0, min(wanted, tasks[other]))
                        cost, wanted = cost + rents[other] * taken / tasks[other], wanted - taken
                    if wanted <= 0 and cost <= 0:
                        found.add(int(charges.life[t - 1, q]))
    return found


def test_members_that_are_left_out_are_on_no_path_of_interest():
    in_doubt = left_out = 0
    for number in range(400):
        settings = SearchSettings(number)
        if settings.optimum is None or settings.instance.iterations > 1:
            continue
        room = Room(settings.instance.num_workers, 1)
        search = PayingSearch(settings.workspace, np.array(settings.graph.early), np.array(settings.graph.late), room)
        assert ran(search.narrow())
        assert ran(search.unfold())
        charges = settings.charges(np.random.default_rng(number))
        assert ran(search.exclude(charges))
        top = np.full(settings.optimum + 1, -1)
        top[search._merged.early[1] : search._merged.late[1] + 1] = search._merged.top[1, 0, : search.most_arcs()]
        plain = members_in_doubt(settings, charges, top)
        possible = set(np.flatnonzero(search.possible_for(charges.life).member[1]).tolist())
        assert plain <= possible
        in_doubt += len(plain)
        left_out += len(settings.graph.tables.owner) - len(possible)
    assert in_doubt > 50
    assert left_out > 50


def bounds_with_rents(number: int) -> Iterator[tuple[int, PayingBound]]:
    """Optima of so many small instances, and the bounds by labels, which have not begun; rents look at all slots."""
    for n in range(number):
        instance = small_instance(n, seed=8)
        optimum = offline_coupled.solve(instance, solver="native").value
        if optimum is not None:
            rents = RentBound(instance, instance.iterations)
            while rents.work(0, optimum + 1):
                pass
            yield optimum, PayingBound(Workspace(instance, Limits()), rents, STAND_BY)


def test_multipliers_are_learnt_as_long_as_they_get_better(monkeypatch):
    """Not only as often as they may stay as they are."""
    monkeypatch.setattr(priced_label_bound, "PAYING_PATIENCE", 1)
    searches = []
    find = PayingSearch.find
    monkeypatch.setattr(PayingSearch, "find", lambda self, charges: searches.append(self) or find(self, charges))
    most = 0
    for optimum, bound in bounds_with_rents(60):
        bound.few_arcs = 0
        del searches[:]
        for _ in range(200):
            if not bound.work(optimum, optimum + 1):  # which cannot be refuted
                break
        most = max(most, *Counter(id(search) for search in searches).values(), 0)
    assert most > 3


def test_no_node_is_beyond_its_window():
    """Windows differ in length and the arrays do not: what lies beyond the shorter ones is never looked at."""
    early, late = np.array([0, 4, 9]), np.array([0, 5, 30])
    merged = make_merged(early, late, 2, make_arc_room(2, 22, 2, make_feasible_team_cache(2)))
    columns = np.arange(22)
    for k in (1, 2):
        is_arc = (columns <= late[k - 1] - early[k - 1])[:, None] & (columns <= late[k] - early[k])
        assert (merged.top[k][is_arc] > 30).all()
        assert (merged.top[k][~is_arc] == -1).all()


def test_more_arcs_are_taken_each_time_that_there_are_too_many():
    waited = met = 0
    for optimum, bound in bounds_with_rents(60):
        bound.most_arcs = least = 2
        for _ in range(1_000):
            if not bound.work(0, optimum) and bound.bound == optimum:
                break
        assert bound.bound <= optimum
        waited += bound.most_arcs > least
        met += bound.bound == optimum
    assert waited >= 10
    assert met >= 40


def test_small_parts_are_asked_about_ahead_of_their_bounds(monkeypatch):
    """About more than one slot at once, as steps of one are many where multipliers refute nothing."""
    refuted = []
    ask = node_cpsat.ask

    def note(tables, states, early, late, *rest, **given):
        reply = ask(tables, states, early, late, *rest, **given)
        if reply.is_possible is False:
            refuted.append(int(late[-1]) - int(early[-1]) + 1)
        return reply

    monkeypatch.setattr(node_cpsat, "ask", note)
    monkeypatch.setattr(priced_label_bound, "PAYING_TURNS", 1)  # so that multipliers refute little
    for optimum, bound in bounds_with_rents(60):
        bound.few_arcs = 10_000
        for _ in range(200):
            if not bound.work(0, optimum + 20):
                break
    assert refuted.count(1) >= 1
    assert max(refuted) >= 2


def test_steps_grow_while_none_fails():
    learner = Learner(small_instance(0, seed=8), 1)
    part = priced_label_bound._Part(learner, np.zeros(2, np.int64), np.full(2, 100), bound=10, stride=1)
    steps = []
    for refuted, horizon in ((True, 11), (False, 15), (True, 13), (True, 15), (True, 19)):
        (part.refuted if refuted else part.failed)(horizon)
        steps.append((part.bound, part.stride))
    assert steps == [(12, 3), (12, 1), (14, 1), (16, 3), (20, 7)]
