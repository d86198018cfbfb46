"""Priced labels: parts of the search against the normal form, the bound against the optimum."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from docs.studies.coupled.program_lagrangian import small_instance
from hindsched.instances import check
from hindsched.instances.array_types import Ints
from hindsched.instances.states import DOWN, UP
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.bounds import node_cpsat
from hindsched.offline.coupled.bounds.branch_node import BranchNode
from hindsched.offline.coupled.bounds.feasible_team_cache import make_feasible_team_cache, recall
from hindsched.offline.coupled.bounds.priced_label_bound import PricedLabelBound
from hindsched.offline.coupled.bounds.priced_label_search import LabelMemory, PricedLabelSearch
from hindsched.offline.coupled.bounds.priced_node import (
    DEFAULT_PARAMETERS,
    PricedLabelParameters,
    PricedState,
    lengthen_stride,
    shorten_stride,
)
from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import ProgramLagrangianBound
from hindsched.offline.coupled.bounds.program_lagrangian.subgradient_method import (
    SCALE,
    SubgradientMethod,
    multipliers_of_shares,
)
from hindsched.offline.coupled.bounds.sentinels import REFUTED
from hindsched.offline.coupled.bounds.state_space_relaxation import (
    NodeMultipliers,
    latest_compute_start,
    make_arc_arrays,
    make_relaxed_graph,
)
from hindsched.offline.coupled.plans import emit
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.modes import STAND_BY
from hindsched.offline.coupled.search.normal_form import prepare
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.worker_order import order_workers
from hindsched.offline.coupled.search.workspace import Workspace
from hindsched.offline.limits import Limits
from tests.cases.normal_form import whole, words_of
from tests.cases.program_lagrangian import arcs_of, filled, ran, whole_graph
from tests.offline.coupled.search.test_holders import P, some_iteration


def test_the_latest_compute_start_of_any_team():
    found = []
    for seed in range(200):
        plain = some_iteration(seed)
        workspace = whole(plain.instance)
        table, problem, scratch = workspace.arrays
        scratch.effort[:] = 0, NEVER, NEVER
        prepare(table, problem, scratch.needs, plain.s, plain.e, words_of(plain.held, workspace), plain.horizon)
        order_workers(workspace.arrays, plain.s, plain.e, plain.horizon)
        last = latest_compute_start(workspace.arrays, make_feasible_team_cache(P), plain.s, plain.e)
        slots = [c for work, members, c in plain.teams(plain.s - 1) if plain.can_serve(members, work, c, ())]
        assert last == max(slots, default=-1)
        found.append(last)
    assert 20 < sum(last >= 0 for last in found) < 180


def test_members_that_can_compute_with_some_holders_are_recalled_with_others():
    known = lost = 0
    for seed in range(200):
        plain = some_iteration(seed)
        workspace = whole(plain.instance)
        table, problem, scratch = workspace.arrays
        scratch.effort[:] = 0, NEVER, NEVER
        team_cache = make_feasible_team_cache(P)
        for held in ([], *([q] for q in range(P)), range(P), [0], []):
            prepare(table, problem, scratch.needs, plain.s, plain.e, words_of(set(held), workspace), plain.horizon)
            before = recall(table, scratch.needs, team_cache, plain.s, plain.e)
            order_workers(workspace.arrays, plain.s, plain.e, plain.horizon)
            last = latest_compute_start(workspace.arrays, team_cache, plain.s, plain.e)
            assert before <= last
            known += before >= 0
            lost += before < 0 <= last
            assert recall(table, scratch.needs, team_cache, plain.s, plain.e) == max(last, before)
            assert recall(table, scratch.needs, team_cache, plain.s, plain.e + 1) == -1
    assert known > 100
    assert lost > 20


class Case:
    """An instance with an optimal schedule, and the graph of all nodes within the optimum."""

    def __init__(self, number: int) -> None:
        self.instance = small_instance(number, seed=7)
        answer = offline_coupled.solve(self.instance, solver="native")
        self.optimum, self.schedule = answer.value, answer.schedule
        if self.optimum is None:
            return
        self.graph = whole_graph(filled(self.instance, self.optimum).tables, self.optimum)
        self.workspace = Workspace(self.instance, Limits())

    def random_multipliers(self, draw: np.random.Generator) -> NodeMultipliers:
        """Return random valid multipliers."""
        k, graph = self.instance.iterations, self.graph
        program_values = np.concatenate([[0], draw.integers(1, SCALE, k)])
        shares = draw.dirichlet(np.full(k, draw.choice([0.1, 1.0])), len(graph.tables.owner)).T
        with_zeros = np.vstack([np.zeros(shares.shape[1]), shares])
        members = multipliers_of_shares(with_zeros, graph.multiplier_caps(program_values))
        return NodeMultipliers(graph.tables.facts.period, members, program_values, 0)


@pytest.mark.parametrize("block", range(4))
def test_reduced_cost_fixing_keeps_an_optimal_schedule(block):
    """For all valid multipliers its arcs and members stay, and some label costs 0 or less."""
    num_fixed_arcs = num_draws = num_fixed_members = 0
    for number in range(30 * block, 30 * block + 30):
        case = Case(number)
        if case.optimum is None:
            continue
        draw = np.random.default_rng(number)
        room = LabelMemory(case.instance.num_workers, case.instance.iterations)
        search = PricedLabelSearch(case.workspace, np.array(case.graph.early), np.array(case.graph.late), room)
        assert ran(search.tighten_windows())
        assert ran(search.build_graph())
        arcs = arcs_of(case.instance, case.schedule)
        period = case.graph.tables.facts.period
        computing = np.array([list(letters) for letters in case.schedule.letters]) == "C"
        at_first = search.max_arcs()
        for _ in range(6):
            multipliers = case.random_multipliers(draw)
            assert ran(search.compute_arc_costs(multipliers)) <= 0
            label = ran(search.find_path(multipliers))
            assert label > 0
            cost, path = search.path(multipliers, label)
            assert cost <= 0
            assert (np.diff(path.ends) > 0).all()
            assert path.ends[-1] <= case.optimum
            left = ran(search.fix_arcs(multipliers))
            assert ran(search.build_graph())
            assert ran(search.compute_arc_costs(multipliers)) <= 0
            assert ran(search.find_path(multipliers)) != REFUTED
            num_fixed_arcs += at_first - left
            assert ran(search.fix_members(multipliers))
            domains = search.domains(period)
            num_fixed_members += np.sum(~domains.member[1:])
            for k, (s, c, t) in enumerate(arcs, 1):
                assert search.early[k] <= t <= search.late[k]
                members = np.flatnonzero(computing[:, t - 1])
                assert domains.member[k, period[t - 1, members]].all()
                assert domains.compute_start[k, c]
                assert domains.latest_compute_start(k, s, t) >= c
            num_draws += 1
    assert num_draws > 60
    assert num_fixed_arcs > 100
    assert num_fixed_members > 100


@pytest.mark.parametrize("block", range(4))
def test_never_above_the_optimum_and_schedules_never_below(block):
    met = found = 0
    for number in range(30 * block, 30 * block + 30):
        # Horizons grow step by step, or the largest one is tried at once.
        parameters = PricedLabelParameters(last_gap_divisor=(64, 1)[number // 4 % 2])
        instance = small_instance(number, seed=8)
        answer = offline_coupled.solve(instance, solver="native")
        optimum = instance.slots + 1 if answer.value is None else answer.value
        limit = min(instance.slots + 1, optimum + 3)  # horizons that cannot be refuted are tried too
        program_bound = ProgramLagrangianBound(instance, instance.iterations)
        workspace = Workspace(instance, Limits())
        bound = PricedLabelBound(workspace, program_bound, STAND_BY, parameters)
        bound.budget.small_arcs = (0, 10_000)[number // 2 % 2]  # CP-SAT solves no node that can be branched, or all
        effort = 0
        while bound.bound < limit and effort < 4_000_000:
            spent = bound.work(0, limit)
            if not spent or number % 2:  # in turn: the tables grow while this bound works
                spent += program_bound.work(0 if number % 2 else bound.bound, limit)
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


def possible_members(case: Case, multipliers: NodeMultipliers, top: Ints) -> set[int]:
    """Return the periods that compute on some path of one iteration of cost 0 or less, by definition."""
    instance, letters = case.instance, case.instance.prefix(case.optimum)
    found = set()
    for t in range(1, case.optimum + 1):
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
                        first = max(np.flatnonzero(row[:c] == DOWN), default=-1) + 1
                        units = int((row[first:c] == UP).sum()) - instance.t_prog
                        most = min(instance.capacities[q], length // instance.w[q])
                        tasks[q] = 0 if units < 0 else min(most, units // instance.t_data) if instance.t_data else most
                costs = {q: int(multipliers.members[1, multipliers.period[t - 1, q]]) for q, x in tasks.items() if x}
                for q, own in costs.items():
                    cost, wanted = own - int(multipliers.program_values[1]) * programs, instance.tasks - tasks[q]
                    for other in sorted(costs.keys() - {q}, key=lambda other: costs[other] / tasks[other]):
                        taken = max(0, min(wanted, tasks[other]))
                        cost, wanted = cost + costs[other] * taken / tasks[other], wanted - taken
                    if wanted <= 0 and cost <= 0:
                        found.add(int(multipliers.period[t - 1, q]))
    return found


def test_members_removed_are_on_no_path_of_cost_0_or_less():
    num_possible = num_removed = 0
    for number in range(400):
        case = Case(number)
        if case.optimum is None or case.instance.iterations > 1:
            continue
        room = LabelMemory(case.instance.num_workers, 1)
        search = PricedLabelSearch(case.workspace, np.array(case.graph.early), np.array(case.graph.late), room)
        assert ran(search.tighten_windows())
        assert ran(search.build_graph())
        multipliers = case.random_multipliers(np.random.default_rng(number))
        assert ran(search.fix_members(multipliers))
        top = np.full(case.optimum + 1, -1)
        top[search._graph.early[1] : search._graph.late[1] + 1] = search._graph.latest_start[1, 0, : search.max_arcs()]
        plain = possible_members(case, multipliers, top)
        possible = set(np.flatnonzero(search.domains(multipliers.period).member[1]).tolist())
        assert plain <= possible
        num_possible += len(plain)
        num_removed += len(case.graph.tables.owner) - len(possible)
    assert num_possible > 50
    assert num_removed > 50


def bounds_of(
    number: int, parameters: PricedLabelParameters = DEFAULT_PARAMETERS
) -> Iterator[tuple[int, PricedLabelBound]]:
    """Yield optima of small instances with priced-label bounds that have not begun; the tables have all slots."""
    for n in range(number):
        instance = small_instance(n, seed=8)
        optimum = offline_coupled.solve(instance, solver="native").value
        if optimum is not None:
            program_bound = ProgramLagrangianBound(instance, instance.iterations)
            while program_bound.work(0, optimum + 1):
                pass
            yield optimum, PricedLabelBound(Workspace(instance, Limits()), program_bound, STAND_BY, parameters)


def test_multipliers_move_while_they_improve(monkeypatch):
    """A patience of 1 ends evaluations only if they make no progress."""
    searches = []
    find_path = PricedLabelSearch.find_path
    note = lambda self, multipliers: searches.append(self) or find_path(self, multipliers)  # noqa: E731
    monkeypatch.setattr(PricedLabelSearch, "find_path", note)
    most = 0
    for optimum, bound in bounds_of(60, PricedLabelParameters(patience=1)):
        bound.budget.small_arcs = 0
        del searches[:]
        for _ in range(200):
            if not bound.work(optimum, optimum + 1):  # which cannot be refuted
                break
        most = max(most, *Counter(id(search) for search in searches).values(), 0)
    assert most > 3


def test_no_node_is_beyond_its_window():
    """Windows differ in length and the arrays do not: entries beyond the shorter windows are not arcs."""
    early, late = np.array([0, 4, 9]), np.array([0, 5, 30])
    graph = make_relaxed_graph(early, late, 2, make_arc_arrays(2, 22, 2, make_feasible_team_cache(2)))
    columns = np.arange(22)
    for k in (1, 2):
        is_arc = (columns <= late[k - 1] - early[k - 1])[:, None] & (columns <= late[k] - early[k])
        assert (graph.latest_start[k][is_arc] > 30).all()
        assert (graph.latest_start[k][~is_arc] == -1).all()


def test_the_limit_of_arcs_rises_each_time_that_it_is_exceeded():
    waited = met = 0
    for optimum, bound in bounds_of(60):
        bound.max_arcs = least = 2
        for _ in range(1_000):
            if not bound.work(0, optimum) and bound.bound == optimum:
                break
        assert bound.bound <= optimum
        waited += bound.max_arcs > least
        met += bound.bound == optimum
    assert waited >= 10
    assert met >= 40


def test_small_nodes_are_solved_ahead_of_their_bounds(monkeypatch):
    """CP-SAT solves them for several slots at once: steps of one slot are many where multipliers refute nothing."""
    refuted = []
    solve_node = node_cpsat.solve_node

    def note(tables, states, node, **given):
        answer = solve_node(tables, states, node, **given)
        if answer.is_possible is False:
            refuted.append(int(node.late[-1]) - int(node.early[-1]) + 1)
        return answer

    monkeypatch.setattr(node_cpsat, "solve_node", note)
    for optimum, bound in bounds_of(60, PricedLabelParameters(max_evaluations=1)):  # multipliers refute little
        bound.budget.small_arcs = 10_000
        for _ in range(200):
            if not bound.work(0, optimum + 20):
                break
    assert refuted.count(1) >= 1
    assert max(refuted) >= 2


def test_steps_grow_while_none_fails():
    method = SubgradientMethod(small_instance(0, seed=8), 1)
    node = BranchNode(10, 1, PricedState(PricedLabelParameters(), method, 0.5))
    steps = []
    for refuted, horizon in ((True, 11), (False, 15), (True, 13), (True, 15), (True, 19)):
        (lengthen_stride if refuted else shorten_stride)(node, horizon)
        steps.append((node.bound, node.stride))
    assert steps == [(12, 3), (12, 1), (14, 1), (16, 3), (20, 7)]
