"""The model of a part: what schedules do is a solution, and much of what none does is refuted."""

import numpy as np
import pytest

import offline.coupled
from bench.coupled.studies.rent_bounds import small_instance
from instances import check
from instances.coupled import Instance
from offline.coupled.native.part_model import ask
from offline.coupled.rents.tables import Tables
from tests.cases.rents import filled, whole_graph


def windows(tables: Tables, horizon: int):
    """When iterations can end at all within a horizon; None if they cannot."""
    graph = whole_graph(tables, horizon)
    return None if graph.is_empty else (np.array(graph.early), np.array(graph.late))


def computing_lives(tables: Tables, ends, schedule) -> set[int]:
    """The lives that a schedule's last slots of iterations compute in."""
    life = tables.facts.life
    return {
        int(life[end - 1, q]) for end in ends for q, letters in enumerate(schedule.letters) if letters[end - 1] == "C"
    }


@pytest.mark.parametrize("block", range(4))
def test_every_schedule_is_a_solution(block):
    refuted = asked = 0
    for number in range(25 * block, 25 * block + 25):
        instance = small_instance(number, seed=9)
        answer = offline.coupled.solve(instance, solver="native")
        if answer.value is None:
            continue
        k = instance.iterations
        tables = filled(instance, answer.value).tables
        ends = np.array((0, *check(instance, answer.schedule).outcome.ends))
        used = computing_lives(tables, ends[1:].tolist(), answer.schedule)
        unused = sorted(set(range(len(tables.owner))) - used)
        draw = np.random.default_rng(number)
        some = np.maximum(0, ends - draw.integers(0, 4, k + 1)), np.minimum(ends[-1], ends + draw.integers(0, 4, k + 1))
        some[1][0] = 0
        early, late = windows(tables, answer.value)
        assert ask(tables, early, late, [], []).is_possible is True
        assert ask(tables, *some, [], []).is_possible is True
        assert ask(tables, ends, ends, sorted(used), unused).is_possible is True
        fewer = windows(tables, answer.value - 1)
        if fewer is not None:
            asked += 1
            refuted += ask(tables, *fewer, [], []).is_possible is False
    assert asked >= 3
    assert refuted >= asked // 2


def test_lives_that_compute_or_do_not():
    """Two workers, one of whom is DOWN in between, so that there are three lives."""
    instance = Instance.from_letters(["uuuuuuuu", "uuuuduuu"], w=[1, 1], tasks=1, iterations=2, n_com=1, t_prog=2)
    tables = filled(instance, 8).tables
    first, second, third = np.lexsort((tables.first, tables.owner)).tolist()
    early, late = np.array([0, 3, 4]), np.array([0, 3, 8])
    assert ask(tables, early, late, [], []).is_possible is True
    assert ask(tables, early, late, [first], [second, third]).is_possible is True
    assert ask(tables, early, late, [], [first, third]).is_possible is True  # the second in slots 2 and 3
    assert ask(tables, early, late, [third], [first, second]).is_possible is False
    assert ask(tables, early, np.array([0, 3, 7]), [third], [first]).is_possible is False
    assert ask(tables, early, late, [third], [first]).is_possible is True
    assert ask(tables, np.array([0, 2, 4]), np.array([0, 2, 8]), [], []).is_possible is False  # two slots of program


def test_what_no_budget_can_tell_is_not_told():
    instance = small_instance(9)
    tables = filled(instance, instance.slots).tables
    early, late = windows(tables, instance.slots)
    reply = ask(tables, early, late, [], [], budget=0.0)
    assert reply.is_possible is not False
    assert reply.num_variables > 10
