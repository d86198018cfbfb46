"""The distances of the bound by rents (docs/model.md section 3), level after level, and a path of least distance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hindsched.instances.array_types import Ints
from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.instance_facts import FAR, programs_sent
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.levels import (
    Items,
    Level,
    cost,
    find_able,
    lay_floor,
    make_items,
    make_level,
    sweep,
)
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import Graph, Tables

__all__ = ["MOST_HALVINGS", "Distances", "Path"]

Reals = NDArray[np.float64]

#: Halvings of boxes for a node at most.
MOST_HALVINGS = 1024
#: Nodes swept between two looks at the clock.
_NODES_AT_ONCE = 16
#: Effort between two looks at the clock.
_EFFORT_AT_ONCE = 1 << 18


class Path(NamedTuple):
    """A path from (0, 0): by index, the shares of lives it uses, the programs it sends and the slot before each end."""

    used: Reals
    sent: Ints
    ends: Ints


class Distances:
    """The distances of all nodes of a graph, in the first slots of an instance.

    Parameters
    ----------
    instance
        With T_prog >= 1.
    iterations
        K.
    slots
        How many slots are looked at.
    """

    def __init__(self, instance: Instance, iterations: int, slots: int) -> None:
        self.tables = Tables(instance, slots)
        self.iterations = iterations
        self._levels: list[Level] = [make_level(slots) for _ in range(iterations + 1)]
        self._items: Items = make_items(instance.num_workers, instance.tasks, slots, MOST_HALVINGS)

    def fill(self) -> Iterator[int]:
        """Look at the slots, some at a time; yields the effort."""
        yield self.tables.facts.before.size // 4
        yield from self.tables.fill(self._items)

    def find(self, graph: Graph, pi: Ints, rents: Ints, halvings: int) -> Iterator[int]:
        """Find all distances, given values of programs by index, and rents by index and life; yields the effort."""
        facts, items, levels = self.tables.facts, self._items, self._levels
        levels[0].far[:] = FAR
        levels[0].far[0] = 0
        early, late = graph.early, graph.late
        for k in range(1, self.iterations + 1):
            worth = int(pi[k])
            levels[k].far[:] = FAR
            spent = lay_floor(facts, items, levels[k - 1], worth, early[k - 1], late[k - 1], late[k])
            for first in range(early[k], late[k] + 1, _NODES_AT_ONCE):
                last = min(late[k], first + _NODES_AT_ONCE - 1)
                spent += sweep(
                    facts,
                    items,
                    levels[k - 1],
                    levels[k],
                    rents[k],
                    first,
                    last,
                    early[k - 1],
                    late[k - 1],
                    halvings,
                )
                if spent > _EFFORT_AT_ONCE:
                    yield spent
                    spent = 0
            yield spent

    def of(self, k: int) -> Ints:
        """Return the distance of every node (k, t), by t; `FAR` where there is no path."""
        return self._levels[k].far

    def path(self, end: int, pi: Ints, rents: Ints) -> Path:
        """Return the path of least distance to the last node whose slot is ``end``."""
        facts, items = self.tables.facts, self._items
        m = self.tables.instance.tasks
        used = np.zeros(rents.shape)
        sent, ends = np.zeros((2, self.iterations + 1), np.int64)
        t = end
        for k in range(self.iterations, 0, -1):
            ends[k] = t
            level, before = self._levels[k], self._levels[k - 1]
            c, e = int(level.c[t]), t - 1
            starts = int(level.first[t]) + np.flatnonzero(before.far[level.first[t] : level.last[t] + 1] < FAR)
            programs = np.array([programs_sent(facts, c - s) for s in starts.tolist()])
            at = int(np.argmin(before.far[starts] - int(pi[k]) * programs))
            sent[k] = programs[at]
            edge = int((starts - facts.shortest[starts]).max())
            able = find_able(facts, items, rents[k], e, c)
            low, high = int(level.low[t]), int(level.high[t])
            cost(facts, items, 0, able, able, int(level.soon[t]), c, int(starts[0]), edge, low, high)
            left, j = m, 0
            while left > 0:  # those who are taken stand in front
                tasks = int(items.tasks[j])
                used[k, facts.life[e, items.worker[j]]] = min(1.0, left / tasks)
                left -= min(left, tasks)
                j += 1
            t = int(starts[at])
        return Path(used, sent, ends)
