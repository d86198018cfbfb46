"""Cases for tests of the program Lagrangian: slot tables, the graph within a horizon, and the arcs of a schedule."""

from itertools import pairwise

import numpy as np

from hindsched.instances import check
from hindsched.instances.coupled import Instance, Schedule
from hindsched.offline.coupled.bounds.program_lagrangian.program_node import DEFAULT_PARAMETERS
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import ShortestPaths
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotGraph, SlotTables
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE


def ran(generator):
    """Exhaust a generator and return its result."""
    while True:
        try:
            next(generator)
        except StopIteration as end:
            return end.value


def filled(instance, slots: int) -> ShortestPaths:
    """Return the shortest paths of an instance, with tables of its first slots."""
    paths = ShortestPaths(instance, instance.iterations, slots, DEFAULT_PARAMETERS.max_halvings)
    ran(paths.fill())
    return paths


def whole_graph(tables: SlotTables, horizon: int) -> SlotGraph:
    """Return the graph of all nodes within a horizon."""
    k = tables.instance.iterations
    return SlotGraph(tables, k, horizon, np.zeros(k + 1, np.int64), np.full(k + 1, UNREACHABLE))


def arcs_of(instance: Instance, schedule: Schedule) -> list[tuple[int, int, int]]:
    """Return start, compute start and the slot after the end of each iteration of a schedule."""
    computing = np.array([list(letters) for letters in schedule.letters]) == "C"
    ends = (0, *check(instance, schedule).outcome.ends)
    return [(s, s + int(np.argmax(computing[:, s:t].any(axis=0))), t) for s, t in pairwise(ends)]
