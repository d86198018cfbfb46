"""The CP-SAT model of a branch node: its schedules are valid, and without one the node has no schedule."""

import numpy as np
import pytest

from docs.studies.coupled.program_lagrangian import small_instance
from hindsched.instances import check
from hindsched.instances.coupled import Instance
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.bounds.node_cpsat import NodeProblem, solve_node
from hindsched.offline.coupled.bounds.priced_label_search import Domains
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotTables
from hindsched.offline.coupled.plans import emit
from hindsched.offline.coupled.search.state_tables import StateTables, Table
from tests.cases.program_lagrangian import arcs_of, filled, whole_graph


def windows(tables: SlotTables, horizon: int):
    """Return the windows of all ends within a horizon; None if one is empty."""
    graph = whole_graph(tables, horizon)
    return None if graph.is_empty else (np.array(graph.early), np.array(graph.late))


def states(instance: Instance, horizon: int) -> Table:
    """Return the states of the first slots."""
    rows = instance.prefix(horizon)
    return StateTables(lambda start, stop: rows[:, start:stop], instance.num_workers, horizon, horizon).table


def computing_periods(tables: SlotTables, ends, schedule) -> set[int]:
    """Return the periods that compute in the last slots of a schedule's iterations."""
    period = tables.facts.period
    return {
        int(period[end - 1, q]) for end in ends for q, letters in enumerate(schedule.letters) if letters[end - 1] == "C"
    }


@pytest.mark.parametrize("stand_by", [True, False])
@pytest.mark.parametrize("block", range(4))
def test_there_is_a_schedule_or_none(block, stand_by):
    num_refuted = num_solved = 0
    for number in range(25 * block, 25 * block + 25):
        instance = small_instance(number, seed=9)
        optimal = offline_coupled.solve(instance, solver="native", stand_by=stand_by)
        if optimal.value is None:
            continue
        k = instance.iterations
        tables, known = filled(instance, optimal.value).tables, states(instance, optimal.value)
        ends = np.array((0, *check(instance, optimal.schedule).outcome.ends))
        used = computing_periods(tables, ends[1:].tolist(), optimal.schedule)
        unused = sorted(set(range(len(tables.owner))) - used)
        draw = np.random.default_rng(number)
        some = np.maximum(0, ends - draw.integers(0, 4, k + 1)), np.minimum(ends[-1], ends + draw.integers(0, 4, k + 1))
        some[1][0] = 0
        all_of_them = windows(tables, optimal.value)
        for (early, late), periods in (
            (all_of_them, ([], [])),
            (some, ([], [])),
            ((ends, ends), (sorted(used), unused)),
        ):
            answer = solve_node(tables, known, NodeProblem(early, late, *periods, is_own=not stand_by))
            assert answer.is_possible is True
            verdict = check(instance, emit(instance, answer.plan))
            assert verdict.is_valid, verdict
            assert verdict.outcome.makespan == optimal.value
            assert (np.array(verdict.outcome.ends) <= late[1:]).all()
            assert stand_by or all(each.service.keys() <= each.tasks.keys() for each in answer.plan)
        num_solved += 1
        fewer = windows(tables, optimal.value - 1)
        if fewer is not None:
            assert solve_node(tables, known, NodeProblem(*fewer, is_own=not stand_by)).is_possible is False
            num_refuted += 1
    assert num_solved >= 15
    assert num_refuted >= 3


def test_compute_starts_between_a_start_and_an_end():
    """With random latest compute starts, a schedule found keeps them; if none is found, the optimal one breaks them."""
    answers = []
    for number in range(60):
        instance = small_instance(number, seed=9)
        optimal = offline_coupled.solve(instance, solver="native")
        if optimal.value is None:
            continue
        k, n = instance.iterations, optimal.value + 1
        tables, known = filled(instance, optimal.value).tables, states(instance, optimal.value)
        draw = np.random.default_rng(number)
        top = draw.integers(-1, n, (k + 1, n, n), dtype=np.int32)
        top[draw.random(top.shape) < 0.5] = n  # any slot
        member = np.ones((k + 1, len(tables.owner)), np.bool_)
        domains = Domains(tables.facts.period, member, np.ones((k + 1, n), np.bool_), np.zeros(k + 1, np.int64), top)
        arcs = arcs_of(instance, optimal.schedule)
        ends = np.array([0, *(t for _, _, t in arcs)])
        starts = [c for _, c, _ in arcs]
        if number % 2:
            top[np.arange(1, k + 1), ends[:-1], ends[1:]] = starts
        latest_starts = [domains.latest_compute_start(i, s, t) for i, (s, _, t) in enumerate(arcs, 1)]

        for early, late in (windows(tables, optimal.value), (ends, ends)):
            answer = solve_node(tables, known, NodeProblem(early, late, domains=domains))
            assert answer.is_possible is not None
            assert answer.is_possible or not np.less_equal(starts, latest_starts).all()
            if answer.is_possible:
                verdict = check(instance, emit(instance, answer.plan))
                assert verdict.is_valid, verdict
        if answer.is_possible:
            assert np.less_equal([each.start for each in answer.plan], latest_starts).all()
        answers.append(answer.is_possible)
    assert 10 <= sum(answers) <= len(answers) - 10


def test_periods_that_compute_or_do_not():
    """Two workers, one of which is DOWN in between, so that there are three availability periods."""
    instance = Instance.from_letters(["uuuuuuuu", "uuuuduuu"], w=[1, 1], tasks=1, iterations=2, n_com=1, t_prog=2)
    tables, known = filled(instance, 8).tables, states(instance, 8)
    first, second, third = np.lexsort((tables.first, tables.owner)).tolist()
    early, late = np.array([0, 3, 4]), np.array([0, 3, 8])
    assert solve_node(tables, known, NodeProblem(early, late)).is_possible is True
    assert solve_node(tables, known, NodeProblem(early, late, [first], [second, third])).is_possible is True
    # The second period computes in slots 2 and 3.
    assert solve_node(tables, known, NodeProblem(early, late, [], [first, third])).is_possible is True
    assert solve_node(tables, known, NodeProblem(early, late, [third], [first, second])).is_possible is False
    assert solve_node(tables, known, NodeProblem(early, np.array([0, 3, 7]), [third], [first])).is_possible is False
    assert solve_node(tables, known, NodeProblem(early, late, [third], [first])).is_possible is True
    too_soon = np.array([0, 2, 4]), np.array([0, 2, 8])  # the program alone takes two slots
    assert solve_node(tables, known, NodeProblem(*too_soon)).is_possible is False


def test_without_time_a_node_is_not_refuted():
    instance = small_instance(9)
    tables = filled(instance, instance.slots).tables
    early, late = windows(tables, instance.slots)
    answer = solve_node(tables, states(instance, instance.slots), NodeProblem(early, late), time=0.0)
    assert answer.is_possible is not False
    assert answer.num_variables > 10
