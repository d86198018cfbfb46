"""What tests of the bounds by rents begin with: tables of an instance's first slots, and the graph within a horizon."""

import numpy as np

from offline.coupled.rents.distances import Distances
from offline.coupled.rents.kernels.facts import FAR
from offline.coupled.rents.tables import Graph, Tables


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
