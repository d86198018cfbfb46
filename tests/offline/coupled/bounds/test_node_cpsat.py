"""The model of a part: there is a schedule where it finds one, and where it finds none there is none."""

import numpy as np
import pytest

from docs.studies.coupled.program_lagrangian import small_instance
from hindsched.instances import check
from hindsched.instances.coupled import Instance
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.bounds.node_cpsat import ask
from hindsched.offline.coupled.bounds.priced_label_search import Possible
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import Tables
from hindsched.offline.coupled.plans import emit
from hindsched.offline.coupled.search.state_tables import StateTables, Table
from tests.cases.program_lagrangian import arcs_of, filled, whole_graph


def windows(tables: Tables, horizon: int):
    """When iterations can end at all within a horizon; None if they cannot."""
    graph = whole_graph(tables, horizon)
    return None if graph.is_empty else (np.array(graph.early), np.array(graph.late))


def states(instance: Instance, horizon: int) -> Table:
    """The states of the first slots."""
    rows = instance.prefix(horizon)
    return StateTables(lambda start, stop: rows[:, start:stop], instance.num_workers, horizon, horizon).table


def computing_lives(tables: Tables, ends, schedule) -> set[int]:
    """The lives that a schedule's last slots of iterations compute in."""
    life = tables.facts.life
    return {
        int(life[end - 1, q]) for end in ends for q, letters in enumerate(schedule.letters) if letters[end - 1] == "C"
    }


@pytest.mark.parametrize("stand_by", [True, False])
@pytest.mark.parametrize("block", range(4))
def test_there_is_a_schedule_or_none(block, stand_by):
    refuted = answered = 0
    for number in range(25 * block, 25 * block + 25):
        instance = small_instance(number, seed=9)
        answer = offline_coupled.solve(instance, solver="native", stand_by=stand_by)
        if answer.value is None:
            continue
        k = instance.iterations
        tables, known = filled(instance, answer.value).tables, states(instance, answer.value)
        ends = np.array((0, *check(instance, answer.schedule).outcome.ends))
        used = computing_lives(tables, ends[1:].tolist(), answer.schedule)
        unused = sorted(set(range(len(tables.owner))) - used)
        draw = np.random.default_rng(number)
        some = np.maximum(0, ends - draw.integers(0, 4, k + 1)), np.minimum(ends[-1], ends + draw.integers(0, 4, k + 1))
        some[1][0] = 0
        all_of_them = windows(tables, answer.value)
        for (early, late), lives in (
            (all_of_them, ([], [])),
            (some, ([], [])),
            ((ends, ends), (sorted(used), unused)),
        ):
            reply = ask(tables, known, early, late, *lives, is_own=not stand_by)
            assert reply.is_possible is True
            verdict = check(instance, emit(instance, reply.plan))
            assert verdict.is_valid, verdict
            assert verdict.outcome.makespan == answer.value
            assert (np.array(verdict.outcome.ends) <= late[1:]).all()
            assert stand_by or all(each.service.keys() <= each.tasks.keys() for each in reply.plan)
        answered += 1
        fewer = windows(tables, answer.value - 1)
        if fewer is not None:
            assert ask(tables, known, *fewer, [], [], is_own=not stand_by).is_possible is False
            refuted += 1
    assert answered >= 15
    assert refuted >= 3


def test_slots_to_compute_from_between_a_start_and_an_end():
    """Drawn at random: a schedule that is found keeps them, and if there is none the optimal one does not."""
    replies = []
    for number in range(60):
        instance = small_instance(number, seed=9)
        answer = offline_coupled.solve(instance, solver="native")
        if answer.value is None:
            continue
        k, n = instance.iterations, answer.value + 1
        tables, known = filled(instance, answer.value).tables, states(instance, answer.value)
        draw = np.random.default_rng(number)
        top = draw.integers(-1, n, (k + 1, n, n), dtype=np.int32)
        top[draw.random(top.shape) < 0.5] = n  # any slot
        lives = np.ones((k + 1, len(tables.owner)), np.bool_)
        possible = Possible(tables.facts.life, lives, np.ones((k + 1, n), np.bool_), np.zeros(k + 1, np.int64), top)
        arcs = arcs_of(instance, answer.schedule)
        ends = np.array([0, *(t for _, _, t in arcs)])
        firsts = [c for _, c, _ in arcs]
        if number % 2:
            top[np.arange(1, k + 1), ends[:-1], ends[1:]] = firsts
        last_firsts = [possible.last_first(i, s, t) for i, (s, _, t) in enumerate(arcs, 1)]

        for early, late in (windows(tables, answer.value), (ends, ends)):
            reply = ask(tables, known, early, late, [], [], possible=possible)
            assert reply.is_possible is not None
            assert reply.is_possible or not np.less_equal(firsts, last_firsts).all()
            if reply.is_possible:
                verdict = check(instance, emit(instance, reply.plan))
                assert verdict.is_valid, verdict
        if reply.is_possible:
            assert np.less_equal([each.start for each in reply.plan], last_firsts).all()
        replies.append(reply.is_possible)
    assert 10 <= sum(replies) <= len(replies) - 10


def test_lives_that_compute_or_do_not():
    """Two workers, one of whom is DOWN in between, so that there are three lives."""
    instance = Instance.from_letters(["uuuuuuuu", "uuuuduuu"], w=[1, 1], tasks=1, iterations=2, n_com=1, t_prog=2)
    tables, known = filled(instance, 8).tables, states(instance, 8)
    first, second, third = np.lexsort((tables.first, tables.owner)).tolist()
    early, late = np.array([0, 3, 4]), np.array([0, 3, 8])
    assert ask(tables, known, early, late, [], []).is_possible is True
    assert ask(tables, known, early, late, [first], [second, third]).is_possible is True
    assert ask(tables, known, early, late, [], [first, third]).is_possible is True  # the second in slots 2 and 3
    assert ask(tables, known, early, late, [third], [first, second]).is_possible is False
    assert ask(tables, known, early, np.array([0, 3, 7]), [third], [first]).is_possible is False
    assert ask(tables, known, early, late, [third], [first]).is_possible is True
    too_soon = np.array([0, 2, 4]), np.array([0, 2, 8])  # the program alone takes two slots
    assert ask(tables, known, *too_soon, [], []).is_possible is False


def test_what_no_budget_can_tell_is_not_told():
    instance = small_instance(9)
    tables = filled(instance, instance.slots).tables
    early, late = windows(tables, instance.slots)
    reply = ask(tables, states(instance, instance.slots), early, late, [], [], budget=0.0)
    assert reply.is_possible is not False
    assert reply.num_variables > 10
