"""Rule R3 as a flow, against scipy's maximum flow over workers and slots; task counts against enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from hindsched.offline.coupled.search.channel_flow import (
    NO,
    UNDECIDED,
    YES,
    can_send,
    make_flow,
    make_participants,
    send,
)
from hindsched.offline.coupled.search.effort import LIMIT
from hindsched.offline.coupled.search.instance_arrays import make_problem
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.state_tables import StateTables
from hindsched.offline.coupled.search.task_counts import find_task_counts

P, SLOTS = 6, 14


def most_units(is_up, workers, first, need, n_com, s, c) -> int:
    """Return the largest number of units that can be sent: source - participant - slot - sink."""
    n, sink = len(workers), 1 + len(workers) + c - s
    capacity = np.zeros((sink + 1, sink + 1), np.int32)
    for j in range(n):
        capacity[0, 1 + j] = need[j]
        for t in range(max(s, first[j]), c):
            capacity[1 + j, 1 + n + t - s] = is_up[workers[j], t]
    capacity[1 + n : sink, sink] = n_com
    return int(maximum_flow(csr_array(capacity), 0, sink).flow_value)


class Case:
    """Random participants in random states."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        states = (draw.random((P, SLOTS)) > draw.uniform(0.1, 0.6)).astype(np.uint8) ^ 1
        self.is_up = states == 0
        self.table = StateTables(lambda a, b: states[:, a:b], P, SLOTS).table
        self.s = int(draw.integers(0, 4))
        self.c = int(draw.integers(self.s, SLOTS))
        self.n = int(draw.integers(1, P, endpoint=True))
        self.n_com = int(draw.integers(1, 3, endpoint=True))
        self.draw = draw
        self.effort = np.array([0, NEVER, NEVER])
        self.flow = make_flow(P, SLOTS, self.effort)
        self.parts = make_participants(P)
        self.parts.worker[: self.n] = draw.permutation(P)[: self.n]
        self.parts.receive_from[: self.n] = draw.integers(self.s, self.s + 4, size=self.n)

    def settings(self, need):
        return self.table, self.flow, self.parts, need, self.n, self.n_com, self.s, self.c

    def can_all_be_sent(self, need) -> bool:
        workers, first = self.parts.worker[: self.n], self.parts.receive_from[: self.n]
        most = most_units(self.is_up, workers, first, need[: self.n], self.n_com, self.s, self.c)
        return most == need[: self.n].sum()


@pytest.mark.parametrize("block", range(5))
def test_everything_can_be_sent_if_a_maximum_flow_does(block):
    replies = []
    for seed in range(200 * block, 200 * block + 200):
        case = Case(seed)
        need = case.draw.integers(0, 6, size=P)
        expected = YES if case.can_all_be_sent(need) else NO
        assert send(*case.settings(need)) == expected
        if expected == YES:
            n, length = case.n, case.c - case.s
            sent = case.flow.sent[: n * length].reshape(length, n)
            assert (sent.sum(axis=0) == need[:n]).all()
            assert (sent.sum(axis=1) <= case.n_com).all()
            for i, j in zip(*sent.nonzero(), strict=True):
                assert case.s + i >= case.parts.receive_from[j]
                assert case.is_up[case.parts.worker[j], case.s + i]
        assert can_send(*case.settings(need)) == expected
        replies.append(expected)
    assert 20 < sum(replies) < 180


def test_a_limited_flow_is_undecided():
    undecided = 0
    for seed in range(300):
        case = Case(seed)
        need = case.draw.integers(0, 5, size=P)
        expected = YES if case.can_all_be_sent(need) else NO
        case.effort[LIMIT] = -1
        reply = send(*case.settings(need))
        assert reply in (expected, UNDECIDED)
        undecided += reply == UNDECIDED
    assert undecided > 10


@pytest.mark.parametrize("t_data", [0, 1, 2, 3])
def test_task_counts_are_found_if_there_are_any(t_data):
    replies = []
    for seed in range(400):
        case = Case(seed)
        draw, parts, n = case.draw, case.parts, case.n
        size = int(draw.integers(1, min(n, 3), endpoint=True))
        parts.program[:n] = draw.integers(0, 3, size=n)
        for j in range(size):  # the most tasks that it could hold alone
            slots = case.is_up[parts.worker[j], parts.receive_from[j] : case.c].sum() - parts.program[j]
            cap = int(draw.integers(1, 5, endpoint=True))
            parts.most[j] = 0 if slots < 0 else cap if t_data == 0 else min(cap, slots // t_data)
        for j in range(size, n):  # only workers that could have the program alone are on stand-by
            slots = case.is_up[parts.worker[j], parts.receive_from[j] : case.c].sum()
            parts.program[j] = min(parts.program[j], slots)
        if (parts.most[:size] < 1).any():
            continue  # the enumeration of teams never has this case
        m = int(draw.integers(size, parts.most[:size].sum(), endpoint=True))
        ones = np.ones(P, np.int64)
        problem = make_problem(ones, m * ones, m, case.n_com, 2, t_data)
        possible = set()
        for tasks in product(*(range(1, parts.most[j] + 1) for j in range(size))):
            need = parts.program[:n] + np.array([*tasks, *[0] * (n - size)]) * t_data
            if sum(tasks) == m and case.can_all_be_sent(need):
                possible.add(tasks)
        reply = find_task_counts(case.table, problem, case.flow, parts, case.s, case.c, size, n)
        assert reply == (YES if possible else NO), seed
        assert reply == NO or tuple(parts.tasks[:size].tolist()) in possible
        replies.append(reply)
    assert 5 < sum(replies) < len(replies) - 5
