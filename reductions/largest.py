"""The largest biclique by three measures: most edges, most nodes, and balanced."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import networkx as nx

from reductions.direct import widest
from reductions.encd import Biclique, check_graph, sides

__all__ = ["Measure", "Widest", "largest", "size_of"]

#: A search for the most common neighbours of a nodes of V: (graph, a, at_least) -> biclique, or None.
Widest = Callable[["nx.Graph[Any]", int, int], Biclique | None]


class Measure(StrEnum):
    """What makes a biclique with a nodes of V and b of W large; both are at least 1.

    ``EDGES``: a b. ``NODES``: a + b. ``BALANCED``: 2 k, with k nodes of each side.
    """

    EDGES = "edges"
    NODES = "nodes"
    BALANCED = "balanced"


def size_of(measure: Measure, biclique: Biclique) -> int:
    """Return how large a biclique is."""
    a, b = len(biclique.v), len(biclique.w)
    return a * b if measure is Measure.EDGES else a + b


def largest(graph: nx.Graph[Any], measure: Measure, search: Widest = widest) -> Biclique | None:
    """Return a largest biclique; None for a graph without an edge.

    Let f(a) be the most common neighbours that a nodes of V have. f does not increase, and f(a) is at most the a-th
    largest degree; so for a = 1, 2, ... only those a are searched whose bound on f can beat the best so far, and a
    search that finds nothing better lowers the bound for all further a.

    Parameters
    ----------
    graph
        Bipartite, with the attribute ``bipartite``.
    measure
        By edges and balanced the problem is NP-hard; by nodes it is polynomial, by matching in the bipartite
        complement, but this search answers it as well.
    search
        Any exact search.

    Examples
    --------
    >>> from reductions.graphs import from_matrix
    >>> graph = from_matrix([[1, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 0]])
    >>> for measure in Measure:
    ...     found = largest(graph, measure)
    ...     print(measure, size_of(measure, found), found.v, found.w)
    edges 6 (0, 1, 2) (4, 5)
    nodes 5 (0,) (3, 4, 5, 6)
    balanced 4 (0, 1) (4, 5)
    """
    check_graph(graph)
    graph = nx.freeze(graph.copy())  # searched many times, checked once
    v, _ = sides(graph)
    degrees = sorted((graph.degree(node) for node in v), reverse=True)
    best: Biclique | None = None
    bound = max(degrees, default=0)
    for a, degree in enumerate(degrees, start=1):
        bound = min(bound, degree)
        needed = _needed(measure, a, best)
        if bound < needed:
            if bound == 0 or measure is Measure.BALANCED:
                break
            continue
        found = search(graph, a, needed)
        if found is None:
            bound = needed - 1
            continue
        bound = len(found.w)
        best = Biclique(found.v, found.w[:a]) if measure is Measure.BALANCED else found
    return best


def _needed(measure: Measure, a: int, best: Biclique | None) -> int:
    """Return how many common neighbours a nodes of V need for a biclique larger than the best."""
    if measure is Measure.BALANCED:
        return a
    size = 0 if best is None else size_of(measure, best)
    return max(1, size // a + 1 if measure is Measure.EDGES else size - a + 1)
