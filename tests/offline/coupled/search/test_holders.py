"""The holder sets after one iteration against all sets of members, stand-by workers and task counts."""

import numpy as np
import pytest

from hindsched.instances.coupled.generate import small
from hindsched.offline.coupled.search.holders import add_participant, can_serve, expand
from hindsched.offline.coupled.search.modes import NO_STAND_BY, RELAXED, STAND_BY
from hindsched.offline.coupled.search.normal_form import prepare
from hindsched.offline.coupled.search.scratch_memory import EFFORT_LIMIT, NUM_FOUND
from hindsched.offline.coupled.search.slot_codes import NEVER
from tests.cases.normal_form import Iteration, set_of, whole, words_of

P, SLOTS = 4, 13


def some_iteration(seed: int) -> Iteration:
    """Return a random iteration with few workers and tasks, in which channels tend to be scarce."""
    draw = np.random.default_rng(seed)
    instance = small(seed, p=P, slots=SLOTS, tasks=1 + seed % 3, up=draw.uniform(0.75, 1.0), down=0.0)
    states = instance.states.copy()
    states[draw.random(states.shape) < draw.choice([0.0, 0.0, 0.04])] = 2
    w = draw.integers(1, 3, size=P) if seed % 2 else draw.permutation(P) + 1
    instance = instance.replace(
        states=states, t_prog=int(draw.integers(1, 4)), n_com=int(draw.integers(1, 3)), w=tuple(w.tolist())
    )
    s = int(draw.integers(0, 4))
    e = int(draw.integers(min(s + 3, SLOTS - 2), SLOTS - 1))
    return Iteration(instance, s, e, set(draw.permutation(P)[: draw.integers(0, 3)].tolist()), SLOTS)


def expanded(plain: Iteration, mode: int, *, last: bool = False, effort: int = NEVER):
    """Return the workspace after `expand`, whether its sets are complete, and the sets."""
    workspace = whole(plain.instance)
    table, problem, scratch = workspace.arrays
    prepare(table, problem, scratch.needs, plain.s, plain.e, words_of(plain.held, workspace), plain.horizon)
    scratch.counters[EFFORT_LIMIT] = effort
    is_whole = expand(workspace.arrays, mode, plain.s, plain.e, plain.horizon, last)
    found = [set_of(scratch.found.held[r], P) for r in range(scratch.counters[NUM_FOUND])]
    return workspace, is_whole, found


def up_to_names(held, symmetry) -> tuple:
    """Return a set in which symmetric workers are counted, not named."""
    classes = sorted({int(x) for x in symmetry if x >= 0})
    named = frozenset(q for q in held if symmetry[q] < 0)
    return named, tuple(sum(symmetry[q] == x for q in held) for x in classes)


def is_below(one: tuple, other: tuple) -> bool:
    return one[0] <= other[0] and all(a <= b for a, b in zip(one[1], other[1], strict=True))


def maximal(sets: set) -> set:
    return {one for one in sets if not any(one != other and is_below(one, other) for other in sets)}


@pytest.mark.parametrize("mode", [STAND_BY, NO_STAND_BY])
def test_holder_sets_are_the_maximal_ones(mode):
    found_at_all = several = 0
    for seed in range(120):
        plain = some_iteration(seed)
        workspace, is_whole, found = expanded(plain, mode)
        symmetry = workspace.scratch.order.symmetry
        assert is_whole
        expected = maximal({up_to_names(held, symmetry) for held in plain.holder_sets(stand_by=mode == STAND_BY)})
        assert {up_to_names(held, symmetry) for held in found} == expected, seed
        assert len(found) == len(expected)
        found_at_all += len(found) > 0
        several += len(found) > 1
    assert found_at_all > 40
    assert several > 2


def test_in_the_relaxed_mode_all_obtainable_workers_are_holders():
    for seed in range(100):
        plain = some_iteration(seed)
        workspace, is_whole, found = expanded(plain, RELAXED)
        symmetry = workspace.scratch.order.symmetry
        expected = set()
        for work, members, c in plain.teams(plain.s - 1):
            if plain.can_serve(members, work, c, ()):
                ready = {q for q in plain.obtainable() if plain.program_by(q) <= c}
                expected.add(up_to_names(plain.survivors() | ready, symmetry))
        assert is_whole
        assert {up_to_names(held, symmetry) for held in found} == maximal(expected), seed


@pytest.mark.parametrize("mode", [STAND_BY, NO_STAND_BY])
def test_recorded_sets_are_feasible(mode):
    for seed in range(150):
        plain = some_iteration(seed)
        workspace, _, found = expanded(plain, mode)
        for r, held in enumerate(found):
            sets, work = workspace.scratch.found, workspace.problem.work
            members, c = tuple(sorted(set_of(sets.members[r], P))), int(sets.c[r])
            stand_by = tuple(sorted(held - plain.survivors() - set(members)))
            assert plain.start_of(members, int(work[sets.iw[r]])) == c
            assert plain.can_serve(members, int(work[sets.iw[r]]), c, stand_by)
            assert mode == STAND_BY or not stand_by


@pytest.mark.parametrize("mode", [STAND_BY, NO_STAND_BY])
def test_the_last_iteration_needs_one_set(mode):
    for seed in range(80):
        plain = some_iteration(seed)
        _, is_whole, found = expanded(plain, mode, last=True)
        assert is_whole
        assert (len(found) > 0) == (len(plain.holder_sets(stand_by=mode == STAND_BY)) > 0)


def test_a_limited_expansion_reports_missing_sets():
    cut = 0
    for seed in range(150):
        plain = some_iteration(seed)
        workspace, is_whole, found = expanded(plain, STAND_BY, effort=1)
        symmetry = workspace.scratch.order.symmetry
        expected = {up_to_names(held, symmetry) for held in plain.holder_sets(stand_by=True)}
        for held in found:
            assert any(is_below(up_to_names(held, symmetry), known) for known in expected)
        if len(found) < len(maximal(expected)):
            assert not is_whole
            cut += 1
    assert cut > 10


def test_participants_are_served_as_in_the_normal_form():
    replies = []
    for seed in range(150):
        plain = some_iteration(seed)
        workspace, _, _ = expanded(plain, STAND_BY)
        for work, members, c in list(plain.teams(plain.s - 1))[:6]:
            others = tuple(sorted(plain.obtainable() - set(members)))
            iw = workspace.problem.work.tolist().index(work)
            for j, q in enumerate(members + others):
                add_participant(workspace.arrays, j, q, c, iw, j < len(members))
            n = len(members + others)
            reply = can_serve(workspace.arrays, plain.s, c, len(members), n)
            assert reply == plain.can_serve(members, work, c, others)
            replies.append(reply)
    assert 30 < sum(replies) < len(replies) - 30
