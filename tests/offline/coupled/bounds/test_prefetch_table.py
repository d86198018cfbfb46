"""The table of the free-prefetch bound against the first slot in which any team can end."""

import numpy as np
import pytest

from hindsched.instances.coupled.generate import small
from hindsched.offline.coupled.bounds.prefetch_table import (
    compose,
    free_finish,
    grow_prefetch,
    make_prefetch,
    most_from,
    raise_floor,
)
from hindsched.offline.coupled.search.normal_form import last_before_data
from hindsched.offline.coupled.search.slot_codes import NEVER
from tests.cases.normal_form import Iteration, whole

P, SLOTS = 4, 18


def first_finish(instance, threshold, t: int, floor: int = 0) -> int:
    """Return F(t), the first possible end from slot ``floor`` on; each end is tried."""
    for e in range(max(t, floor - 1), SLOTS):
        plain = Iteration(instance, t, e, set(), SLOTS)
        if next(plain.teams(threshold(t), is_free=True), None) is not None:
            return e + 1
    return NEVER


@pytest.mark.parametrize("block", range(3))
def test_the_bound_is_the_first_slot_in_which_an_iteration_can_end(block):
    finite = 0
    for seed in range(20 * block, 20 * block + 20):
        draw = np.random.default_rng(seed)
        instance = small(seed, p=P, slots=SLOTS, tasks=1 + seed % 3, up=draw.uniform(0.7, 1.0), down=0.0)
        states = instance.states.copy()
        states[draw.random(states.shape) < draw.choice([0.0, 0.1])] = 2
        instance = instance.replace(states=states, t_prog=int(draw.integers(0, 4)))
        workspace = whole(instance)
        known = workspace.arrays, workspace.prefetch
        plain = {
            t: first_finish(instance, lambda s, workspace=workspace: last_before_data(workspace.problem, s), t)
            for t in range(SLOTS)
        }
        plain |= {SLOTS: NEVER, NEVER: NEVER}
        for t in draw.permutation(SLOTS).tolist():
            assert free_finish(*known, t, SLOTS) == plain[t]
            assert compose(*known, t, 2, SLOTS) == plain[plain[t]]
            most, after = 0, plain[t]
            while after != NEVER:
                most, after = most + 1, plain[after]
            assert most_from(*known, t, SLOTS) == most
            finite += plain[t] != NEVER
    assert finite > 50


def test_slots_before_a_floor_are_no_ends():
    raised = 0
    for seed in range(30):
        draw = np.random.default_rng(seed)
        instance = small(seed, p=P, slots=SLOTS, tasks=1 + seed % 3, up=draw.uniform(0.7, 1.0), down=0.0)
        workspace = whole(instance)
        known = workspace.arrays, workspace.prefetch

        def threshold(s, workspace=workspace):
            return last_before_data(workspace.problem, s)

        before = [free_finish(*known, t, SLOTS) for t in range(SLOTS)]
        floor = np.sort(draw.integers(0, SLOTS, SLOTS + 1))
        workspace.raise_floor(floor)
        for t in draw.permutation(SLOTS).tolist():
            found = free_finish(*known, t, SLOTS)
            assert found == first_finish(instance, threshold, t, int(floor[t]))
            assert found >= before[t]
            raised += found > before[t]
    assert raised > 20


def test_known_slots_are_kept_when_the_table_grows():
    old = make_prefetch(5)
    old.finish[3], old.most[2], old.scan[:] = 7, 4, (3, 6)
    new = grow_prefetch(old, 9)
    assert len(new.finish) == 10
    assert (new.finish[:6] == old.finish).all()
    assert (new.most[:6] == old.most).all()
    assert (new.scan == old.scan).all()
    assert not new.finish[6:].any()


def test_a_floor_holds_for_slots_that_are_known_later():
    old = make_prefetch(5)
    raise_floor(old, np.array([4, 2, 5, 6]))
    assert old.floor.tolist() == [4, 2, 5, 6, 6, 6]
    old.finish[2], old.finish[3] = 5, 8
    raise_floor(old, np.array([0, 0, 7, 7, 7, 7, 9]))
    assert old.floor.tolist() == [4, 2, 7, 7, 7, 7]
    assert old.finish[2:4].tolist() == [0, 8]
    assert grow_prefetch(old, 8).floor.tolist() == [4, 2, 7, 7, 7, 7, 7, 7, 7]
