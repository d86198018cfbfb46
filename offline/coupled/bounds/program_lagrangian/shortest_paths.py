"""Shortest paths of the slot graph, level by level (docs/bounds.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.box_search import (
    Level,
    box_cost,
    compute_distances,
    list_candidates,
    make_box_scratch,
    make_level,
    prepare_level,
)
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.instance_facts import programs_sent
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotGraph, SlotTables
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE

__all__ = ["Path", "ShortestPaths"]

#: Nodes computed, and effort, between two looks at the clock.
_NODES_AT_ONCE, _EFFORT_AT_ONCE = 16, 1 << 18


class Path(NamedTuple):
    """A path from (0, 0): by iteration the shares of periods that compute, the programs sent, and the end."""

    used: Reals
    sent: Ints
    ends: Ints


class ShortestPaths:
    """Distances of the nodes in the first slots of an instance.

    Parameters
    ----------
    instance
        With T_prog >= 1.
    iterations
        K.
    slots
        Number of slots.
    max_halvings
        Largest number of halvings of boxes of arcs for a node.
    """

    def __init__(self, instance: Instance, iterations: int, slots: int, max_halvings: int) -> None:
        self.tables = SlotTables(instance, slots)
        self.iterations = iterations
        self._levels: list[Level] = [make_level(slots) for _ in range(iterations + 1)]
        self._scratch = make_box_scratch(instance.num_workers, instance.tasks, slots, max_halvings)

    def fill(self) -> Iterator[int]:
        """Fill the tables of the slots, some at a time; yield the effort."""
        yield self.tables.facts.up_before.size // 4
        yield from self.tables.fill(self._scratch)

    def compute(self, graph: SlotGraph, program_values: Ints, multipliers: Ints, max_halvings: int) -> Iterator[int]:
        """Compute all distances; yield the effort.

        Program values are by iteration, multipliers by iteration and period.
        """
        facts, scratch, levels = self.tables.facts, self._scratch, self._levels
        levels[0].distance[:] = UNREACHABLE
        levels[0].distance[0] = 0
        early, late = graph.early, graph.late
        for k in range(1, self.iterations + 1):
            before, starts = levels[k - 1], (early[k - 1], late[k - 1])
            levels[k].distance[:] = UNREACHABLE
            spent = prepare_level(facts, scratch, before, int(program_values[k]), *starts, late[k])
            for first in range(early[k], late[k] + 1, _NODES_AT_ONCE):
                ends = first, min(late[k], first + _NODES_AT_ONCE - 1)
                spent += compute_distances(
                    facts, scratch, before, levels[k], multipliers[k], *ends, *starts, max_halvings
                )
                if spent > _EFFORT_AT_ONCE:
                    yield spent
                    spent = 0
            yield spent

    def distances(self, k: int) -> Ints:
        """Return the distance of every node (k, t), by t; `UNREACHABLE` where there is no path."""
        return self._levels[k].distance

    def path(self, end: int, program_values: Ints, multipliers: Ints) -> Path:
        """Return the shortest path to the last node with slot ``end``."""
        facts, scratch = self.tables.facts, self._scratch
        used = np.zeros(multipliers.shape)
        sent, ends = np.zeros((2, self.iterations + 1), np.int64)
        t = end
        for k in range(self.iterations, 0, -1):
            ends[k] = t
            level, before = self._levels[k], self._levels[k - 1]
            c, e = int(level.c_last[t]), t - 1
            first = int(level.s_first[t])
            starts = first + np.flatnonzero(before.distance[first : level.s_last[t] + 1] < UNREACHABLE)
            programs = np.array([programs_sent(facts, c - s) for s in starts.tolist()])
            at = int(np.argmin(before.distance[starts] - int(program_values[k]) * programs))
            sent[k] = programs[at]
            old_before = int((starts - facts.shortest[starts]).max())
            num = list_candidates(facts, scratch, multipliers[k], e, c)
            work = int(level.w_first[t]), int(level.w_last[t])
            box_cost(facts, scratch, 0, num, num, int(level.c_first[t]), c, int(starts[0]), old_before, *work)
            left, j = self.tables.instance.tasks, 0
            while left > 0:  # the members taken come first
                tasks = int(scratch.item_tasks[j])
                used[k, facts.period[e, scratch.item[j]]] = min(1.0, left / tasks)
                left -= min(left, tasks)
                j += 1
            t = int(starts[at])
        return Path(used, sent, ends)
