"""The instance as the kernels read it: numbers, and tables of its first slots (docs/bounds.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE

__all__ = ["InstanceFacts", "find_shortest_spans", "make_facts", "programs_sent"]


class InstanceFacts(NamedTuple):
    """Numbers of an instance and tables of its slots up to a horizon.

    ``numbers`` are p, m, n_com, T_prog and T_data. ``tasks_received[n]`` is the number of tasks whose data take n
    slots, ``up_before[t, q]`` the number of UP slots of worker q before t. ``period_start[t, q]`` is the first slot of
    the availability period that contains t, t + 1 where q is DOWN; ``period[t, q]`` is its number, -1 where q is DOWN.
    ``shortest[t]`` is the least number of slots that an iteration ending before t computes in, `UNREACHABLE` if none
    can end there.
    """

    numbers: Ints
    w: Ints
    max_tasks: Ints
    tasks_received: Int32s
    up_before: Int32s
    period_start: Int32s
    period: Int32s
    shortest: Ints


def make_facts(numbers: Ints, w: Ints, max_tasks: Ints, up: np.ndarray) -> InstanceFacts:
    """Return the tables for ``up``, a (slots, p) array of 0 (RECLAIMED), 1 (UP) and 2 (DOWN)."""
    slots, workers = up.shape
    up_before = np.zeros((slots + 1, workers), np.int32)
    np.cumsum(up == 1, axis=0, out=up_before[1:])
    is_down = up == 2
    after_down = np.where(is_down, np.arange(1, slots + 1, dtype=np.int32)[:, None], 0).astype(np.int32)
    is_first = ~is_down & np.vstack([np.ones((1, workers), bool), is_down[:-1]])
    number = np.cumsum(is_first.T.ravel()).reshape(workers, slots).T - 1
    n = np.arange(slots + 1)
    tasks, t_data = int(numbers[1]), int(numbers[4])
    received = np.minimum(n // t_data, tasks).astype(np.int32) if t_data else np.full(slots + 1, tasks, np.int32)
    return InstanceFacts(
        numbers,
        w,
        max_tasks,
        received,
        up_before,
        np.maximum.accumulate(after_down, axis=0),
        np.ascontiguousarray(np.where(is_down, -1, number).astype(np.int32)),
        np.full(slots + 1, UNREACHABLE, np.int64),
    )


@kernel
def find_shortest_spans(facts: InstanceFacts, first: int, stop: int) -> None:
    """Fill ``facts.shortest`` for ends in first..stop-1: all workers UP in c and e take part, each with its own W."""
    up_before, period_start, max_tasks, w = facts.up_before, facts.period_start, facts.max_tasks, facts.w
    p, m = facts.numbers[0], facts.numbers[1]
    for e in range(first, stop):
        facts.shortest[e + 1] = UNREACHABLE
        for c in range(e, -1, -1):
            total = 0
            num_alive = 0
            for q in range(p):
                if up_before[e + 1, q] > up_before[e, q] and period_start[e, q] <= c:
                    num_alive += 1
                    if up_before[c + 1, q] > up_before[c, q]:
                        total += min(max_tasks[q], (up_before[e + 1, q] - up_before[c, q]) // w[q])
            if total >= m:
                facts.shortest[e + 1] = e - c + 1
                break
            if num_alive == 0:
                break


@kernel
def programs_sent(facts: InstanceFacts, slots: int) -> int:
    """Return how many programs fit into this many slots with the data (g); negative where the data do not fit."""
    p, m, n_com, t_prog, t_data = facts.numbers
    return int(min(p, (n_com * slots - m * t_data) // t_prog)) if slots >= t_prog else 0
