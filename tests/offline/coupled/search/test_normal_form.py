"""The needs and teams of one iteration against a plain normal form."""

import numpy as np
import pytest

from hindsched.instances.coupled.generate import small
from hindsched.offline.coupled.search.instance_arrays import make_problem
from hindsched.offline.coupled.search.modes import FREE_PREFETCH, STAND_BY
from hindsched.offline.coupled.search.normal_form import (
    last_before_data,
    next_program,
    prepare,
    prepare_free,
    programs_sent,
    useful,
)
from hindsched.offline.coupled.search.scratch_memory import NUM_MEMBERS, WORK_INDEX
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.teams import begin_teams, next_team
from hindsched.offline.coupled.search.worker_order import order_workers
from tests.cases.normal_form import Iteration, set_of, whole, words_of

P, SLOTS = 5, 16


def some_iteration(seed: int) -> Iteration:
    """Return a random iteration of a random instance."""
    draw = np.random.default_rng(seed)
    instance = small(seed, p=P, slots=SLOTS, tasks=1 + seed % 3, up=draw.uniform(0.6, 1.0), down=0.0)
    states = instance.states.copy()
    states[draw.random(states.shape) < draw.choice([0.0, 0.1])] = 2
    instance = instance.replace(states=states, t_prog=int(draw.integers(0, 4)))
    s = int(draw.integers(0, 6))
    held = set(draw.permutation(P)[: draw.integers(0, 4)].tolist())
    return Iteration(instance, s, int(draw.integers(s, SLOTS)), held, int(draw.integers(SLOTS - 4, SLOTS + 1)))


def test_needs_are_those_of_the_normal_form():
    for seed in range(300):
        plain = some_iteration(seed)
        workspace = whole(plain.instance)
        table, needs = workspace.table, workspace.scratch.needs
        prepare(table, workspace.problem, needs, plain.s, plain.e, words_of(plain.held, workspace), plain.horizon)
        assert set_of(needs.survivors, P) == plain.survivors()
        assert set_of(needs.obtainable, P) == plain.obtainable()
        for q in range(P):
            assert needs.receive_from[q] == plain.first(q)
            for c in range(plain.first(q), plain.e + 1):
                assert table.cnt[c, q] - needs.data_base[q] == plain.up_slots(q, c) - plain.program(q)
            if plain.program(q):
                by = plain.program_by(q)
                assert needs.program_by[q] == (NEVER if by is None else by)


def test_a_program_is_useful_if_a_task_can_still_be_computed():
    replies = []
    for seed in range(300):
        plain = some_iteration(seed)
        plain.e = plain.s - 1
        workspace = whole(plain.instance)
        for q in range(P):
            reply = useful(workspace.table, workspace.problem, q, plain.s, plain.horizon)
            assert reply == (plain.instance.t_prog > 0 and plain.is_useful(q))
            replies.append(reply)
    assert 100 < sum(replies) < len(replies) - 100


def test_the_next_slot_in_which_a_worker_gains_the_program():
    skipped = []
    for seed in range(300):
        plain = some_iteration(seed)
        workspace, e, horizon = whole(plain.instance), plain.e, plain.horizon
        held = words_of(plain.held, workspace)
        found = next_program(workspace.table, workspace.problem, plain.s, e, held, horizon)
        before = plain.survivors() | plain.obtainable()
        for plain.e in range(e + 1, min(found + 1, horizon)):
            reachable = plain.survivors() | plain.obtainable()
            assert (plain.e == found) == bool(reachable - before), seed
            before = reachable
        assert found == max(e + 1, min(found, horizon))
        skipped.append(found - e - 1)
    assert sum(n > 0 for n in skipped) > 100


def test_programs_that_the_channel_can_send():
    draw = np.random.default_rng(1)
    for _ in range(300):
        m, n_com, t_prog, t_data, s = (int(x) for x in draw.integers([1, 1, 1, 0, 0], [6, 4, 5, 4, 9]))
        ones = np.ones(4, np.int64)
        problem = make_problem(ones, m * ones, m, n_com, t_prog, t_data)
        units = {c: n_com * (c - s) for c in range(s, s + 60)}
        enough = min(c for c in units if units[c] >= m * t_data)
        assert last_before_data(problem, s) == enough - 1
        c = s + int(draw.integers(0, 20)) + enough - s
        # Each is sent completely to a different worker, one unit per slot.
        workers = problem.p if t_prog <= c - s else 0
        most = max(k for k in range(workers + 1) if k * t_prog + m * t_data <= units[c])
        assert programs_sent(problem, s, c) == most
    assert programs_sent(problem, s, enough - 1) < 0


def enumerate_sets(workspace, plain: Iteration, mode: int, threshold: int) -> list:
    """Return all teams of `next_team`."""
    found = []
    while True:
        c = next_team(workspace.arrays, mode, plain.e, threshold)
        if c < 0:
            assert c == -1
            return found
        counters, tree = workspace.scratch.counters, workspace.scratch.tree
        members = tree.members[: counters[NUM_MEMBERS]].tolist()
        found.append((int(workspace.problem.work[counters[WORK_INDEX]]), tuple(sorted(members)), int(c)))


def test_every_team_is_found_once():
    sizes = []
    for seed in range(300):
        plain = some_iteration(seed)
        workspace = whole(plain.instance)
        table, problem, scratch = workspace.arrays
        prepare_free(table, problem, scratch.needs, plain.s, plain.e)
        threshold = begin_teams(workspace.arrays, plain.s, plain.e)
        found = enumerate_sets(workspace, plain, FREE_PREFETCH, threshold)
        assert sorted(found) == sorted(plain.teams(threshold, is_free=True)), seed
        sizes.append(len(found))
    assert sum(size > 0 for size in sizes) > 60
    assert max(sizes) > 20


@pytest.mark.parametrize("n_com", [1, 2, None])
def test_of_symmetric_workers_the_first_ones_are_members(n_com):
    """A team that is left out has a symmetric twin in the list, or the channel cannot serve it."""
    left_out = 0
    for seed in range(200):
        plain = some_iteration(seed)
        draw = np.random.default_rng(seed)
        instance = plain.instance.replace(w=tuple(draw.integers(1, 3, size=P).tolist()), mu=(None,) * P, n_com=n_com)
        plain = Iteration(instance, plain.s, plain.e, plain.held, plain.horizon)
        workspace = whole(instance)
        table, problem, scratch = workspace.arrays
        prepare(table, problem, scratch.needs, plain.s, plain.e, words_of(plain.held, workspace), plain.horizon)
        order_workers(workspace.arrays, plain.s, plain.e, plain.horizon)
        threshold = begin_teams(workspace.arrays, plain.s, plain.e)
        symmetry = scratch.order.symmetry
        for q in range(P):
            is_always_up = bool(plain.is_up[q, plain.s : plain.horizon].all()) and plain.horizon >= plain.s
            assert (symmetry[q] >= 0) == is_always_up

        def up_to_names(members, symmetry=symmetry):
            return tuple(sorted((int(symmetry[q]), q if symmetry[q] < 0 else -1) for q in members))

        found = enumerate_sets(workspace, plain, STAND_BY, threshold)
        expected = list(plain.teams(threshold))
        assert len(set(found)) == len(found)
        assert set(found) <= set(expected)
        names = {(work, up_to_names(members)) for work, members, _ in found}
        for work, members, c in expected:
            if (work, up_to_names(members)) not in names:
                assert not plain.can_serve(members, work, c, ())
            left_out += (work, members, c) not in found
    assert left_out > 20
