"""The queue of labels against a sorted list, and dominance against a plain twin."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from hindsched.instances.coupled.generate import small
from hindsched.instances.states import DOWN, UP
from hindsched.offline.coupled.search.bitsets import add
from hindsched.offline.coupled.search.dominance import is_dominated
from hindsched.offline.coupled.search.labels import (
    BEST_LABEL,
    HEAP_SIZE,
    NUM_LABELS,
    make_labels,
    more_labels,
    pop,
    push,
)
from hindsched.offline.coupled.search.modes import NO_STAND_BY, STAND_BY
from hindsched.offline.coupled.search.workspace import Workspace
from hindsched.offline.limits import Limits


def test_the_queue_returns_labels_by_key_then_most_iterations_then_age():
    draw = np.random.default_rng(0)
    labels = make_labels(4, 1, 256)
    pop(labels)
    waiting = []
    label = 0
    for _ in range(600):
        if waiting and (label == 199 or draw.random() < 0.45):
            expected = min(waiting)
            assert labels.tally[HEAP_SIZE] == len(waiting)
            assert (labels.heap_key[0], labels.heap_label[0]) == (expected[0], expected[2])
            waiting.remove(expected)
            pop(labels)
        elif label < 199:
            label += 1
            labels.done[label] = draw.integers(0, 4)
            key = int(draw.integers(-5, 5))
            waiting.append((key, -int(labels.done[label]), label))
            push(labels, key, label)
    assert labels.tally[HEAP_SIZE] == len(waiting)


def test_more_room_changes_no_label():
    labels = make_labels(3, 2, 4)
    labels.start[2], labels.heap_key[0], labels.tally[BEST_LABEL] = 17, -9, 2
    add(labels.held[2], 70)
    more = more_labels(labels)
    assert len(more.start) == 8
    assert more.tally[NUM_LABELS] == 1
    for new, old in zip(more, labels, strict=True):
        assert (new[: len(old)] == old).all()


class Plain:
    """Dominance by its definition, for sets of worker numbers and rows of states."""

    def __init__(self, instance, mode: int, horizon: int) -> None:
        self.instance, self.mode, self.horizon = instance, mode, horizon
        self.kinds = list(zip(instance.w, (min(mu, instance.tasks) for mu in instance.capacities), strict=True))

    def period_start(self, q: int, t: int) -> int:
        """First slot of the availability period that worker q begins slot t with."""
        while t > 0 and self.instance.states[q, t - 1] != DOWN:
            t -= 1
        return t

    def dominates(self, start: int, held_before: set, t: int, held: set) -> bool:
        if start > t:
            return False
        always_up = {q for q in range(len(self.kinds)) if (self.instance.states[q, t : self.horizon] == UP).all()}
        spare = [q for q in held_before - held if self.period_start(q, t) <= start and q in always_up]
        missing = []
        for q in sorted(held):
            if q in held_before and self.period_start(q, t) <= start:
                continue
            stands_in = [r for r in spare if self.kinds[r] == self.kinds[q]]
            if q in always_up and stands_in:
                spare.remove(stands_in[0])
            else:
                missing.append(q)
        if not missing:
            return True
        return self.mode != NO_STAND_BY and self.can_be_sent(missing, start, t)

    def can_be_sent(self, missing: list, start: int, t: int) -> bool:
        n, t_prog = len(missing), self.instance.t_prog
        sink = 1 + n + t - start
        capacity = np.zeros((sink + 1, sink + 1), np.int32)
        capacity[0, 1 : 1 + n] = t_prog
        for j, q in enumerate(missing):
            for slot in range(max(start, self.period_start(q, t)), t):
                capacity[1 + j, 1 + n + slot - start] = self.instance.states[q, slot] == UP
        capacity[1 + n : sink, sink] = self.instance.channels
        return int(maximum_flow(csr_array(capacity), 0, sink).flow_value) == n * t_prog


@pytest.mark.parametrize("mode", [STAND_BY, NO_STAND_BY])
def test_dominance_agrees_with_its_plain_twin(mode):
    replies = []
    for seed in range(200):
        draw = np.random.default_rng(seed)
        instance = small(
            seed,
            p=6,
            slots=14,
            tasks=3,
            iterations=3,
            up=(0.7, 0.9, 1.0)[seed % 3],
            down=0.0 if seed % 3 == 2 else 0.08,
        )
        instance = instance.replace(
            w=tuple(draw.integers(1, 3, size=6).tolist()),
            mu=(None,) * 6,
            t_prog=int(draw.integers(1, 4)),
            n_com=int(draw.integers(1, 4)),
        )
        workspace = Workspace(instance, Limits())
        problem, horizon = workspace.problem, instance.slots
        plain = Plain(instance, mode, horizon)
        labels = make_labels(3, problem.num_words, 16)
        known = []
        for i in range(1, 5):
            start, held = int(draw.integers(0, 8)), set(draw.permutation(6)[: draw.integers(0, 6)].tolist())
            labels.done[i], labels.start[i] = 1, start
            labels.older[i], labels.newest[1] = labels.newest[1], i
            labels.is_dropped[i] = draw.random() < 0.2
            for q in held:
                add(labels.held[i], q)
            known.append((i, start, held))
        t, held = int(draw.integers(2, 11)), set(draw.permutation(6)[: draw.integers(1, 7)].tolist())
        words = np.zeros(problem.num_words, np.uint64)
        for q in held:
            add(words, q)
        skip = int(draw.integers(-1, 5))
        expected = any(
            plain.dominates(start, before, t, held)
            for i, start, before in known
            if i != skip and not labels.is_dropped[i]
        )
        reply = is_dominated(workspace.arrays, labels, mode, 1, t, words, horizon, skip)
        assert reply == expected, seed
        assert not is_dominated(workspace.arrays, labels, mode, 2, t, words, horizon, -1)
        replies.append(reply)
    assert 20 < sum(replies) < 180
