"""What tests of the bounds by rents begin with: tables of an instance's first slots, and the graph within a horizon.

And which of its arcs a schedule uses.
"""

from itertools import pairwise

import numpy as np

from hindsched.instances import check
from hindsched.instances.coupled import Instance, Schedule
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.instance_facts import FAR
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import Distances
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import Graph, Tables


def ran(generator):
    """Run a generator to its end; return what it returns."""
    while True:
        try:
            next(generator)
        except StopIteration as end:
            return end.value


def filled(instance, slots: int) -> Distances:
    """Return the distances of an instance, with tables of its first slots."""
    distances = Distances(instance, instance.iterations, slots)
    ran(distances.fill())
    return distances


def whole_graph(tables: Tables, horizon: int) -> Graph:
    """Return the graph of all nodes within a horizon."""
    k = tables.instance.iterations
    return Graph(tables, k, horizon, np.zeros(k + 1, np.int64), np.full(k + 1, FAR))


def arcs_of(instance: Instance, schedule: Schedule) -> list[tuple[int, int, int]]:
    """Return of each iteration of a schedule where it starts, from which slot on it computes, and the slot after it."""
    computing = np.array([list(letters) for letters in schedule.letters]) == "C"
    ends = (0, *check(instance, schedule).outcome.ends)
    return [(s, s + int(np.argmax(computing[:, s:t].any(axis=0))), t) for s, t in pairwise(ends)]
