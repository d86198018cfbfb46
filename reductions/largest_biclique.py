"""Largest bicliques by three measures: number of edges, number of nodes, and balanced."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from hindsched.reductions.bipartite_graph import BipartiteGraph
from hindsched.reductions.branch_and_bound import Decision, widest
from hindsched.reductions.complement_matching import most_nodes
from hindsched.reductions.encd import Biclique, Encd

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Measure", "Widest", "largest", "size_of"]

#: A search (graph, a, at_least) -> decision for a nodes of V with the most common neighbours, at least ``at_least``.
Widest = Callable[[BipartiteGraph, int, int], Decision]

_STARTS = 8  # start nodes of the greedy heuristic


class Measure(StrEnum):
    """The size of a biclique with a >= 1 nodes of V and b >= 1 nodes of W.

    ``EDGES``: a b. ``NODES``: a + b. ``BALANCED``: 2 k, with k nodes of each side.
    """

    EDGES = "edges"
    NODES = "nodes"
    BALANCED = "balanced"


def size_of(measure: Measure, biclique: Biclique) -> int:
    """Return the size of a biclique."""
    a, b = len(biclique.v), len(biclique.w)
    return a * b if measure is Measure.EDGES else a + b


def largest(
    graph: BipartiteGraph | nx.Graph[Any], measure: Measure, search: Widest = widest, *, is_matched: bool = True
) -> Decision:
    """Find a largest biclique; a graph without an edge has none.

    The incumbent comes from a greedy heuristic. Let f(a) be the largest number of common neighbours of a nodes of V. It
    does not increase with a, and is at most the a-th largest degree. So for a = 1, 2, ... only those a are searched
    whose bound on f allows a larger biclique, and a search without success lowers the bound for all further a.

    The number of nodes is maximised by a matching in the bipartite complement (`reductions.complement_matching`). If
    the matching leaves a side empty, the search runs as well, until it reaches the bound of the matching.

    Parameters
    ----------
    graph
        As in `Encd`.
    measure
        The problem is NP-hard for edges and balanced.
    search
        An exact search. If it is stopped (``exists`` is None), the function returns its decision.
    is_matched
        Whether to use the matching for the number of nodes.

    Examples
    --------
    >>> from hindsched.reductions.bipartite_graph import from_matrix
    >>> graph = from_matrix([[1, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 0]])
    >>> for measure in Measure:
    ...     found = largest(graph, measure).biclique
    ...     print(measure, size_of(measure, found), found.v, found.w)
    edges 6 (0, 1, 2) (4, 5)
    nodes 5 (0,) (3, 4, 5, 6)
    balanced 4 (0, 1) (4, 5)
    """
    graph = BipartiteGraph.of(graph)
    problem = Encd(graph, 1, 1)
    most: int | None = None  # upper bound on the number of nodes
    if measure is Measure.NODES and is_matched:
        rows, columns = most_nodes(problem.matrix)
        most = len(rows) + len(columns)
        if rows and columns:
            return Decision(True, Biclique(tuple(problem.v[i] for i in rows), tuple(problem.w[j] for j in columns)))
    degrees = sorted(problem.matrix.sum(axis=1).tolist(), reverse=True)
    best = _greedy(problem, measure)
    bound = max(degrees, default=0)
    for a, degree in enumerate(degrees, start=1):
        if best is not None and size_of(measure, best) == most:
            break
        if measure is Measure.BALANCED and best is not None and a <= len(best.v):
            continue
        bound = min(bound, degree)
        needed = _needed(measure, a, best)
        if bound < needed:
            if bound == 0 or measure is Measure.BALANCED:
                break
            continue
        decision = search(graph, a, needed)
        if decision.exists is None:
            return decision
        found = decision.biclique
        if found is None:
            bound = needed - 1
            continue
        bound = len(found.w)
        best = Biclique(found.v, found.w[:a]) if measure is Measure.BALANCED else found
    return Decision(best is not None, best)


def _greedy(problem: Encd, measure: Measure) -> Biclique | None:
    """Return a large biclique: from some start nodes of V, repeatedly add the node that keeps most neighbours."""
    matrix = problem.matrix
    best: Biclique | None = None
    for start in np.argsort(-matrix.sum(axis=1), kind="stable")[:_STARTS].tolist():
        chosen, common = [start], np.flatnonzero(matrix[start])
        left = matrix[:, common]
        while len(common):
            k = min(len(chosen), len(common)) if measure is Measure.BALANCED else None
            v, w = sorted(chosen[:k]), common[:k].tolist()
            found = Biclique(tuple(problem.v[i] for i in v), tuple(problem.w[j] for j in w))
            if best is None or size_of(measure, found) > size_of(measure, best):
                best = found
            kept = np.count_nonzero(left, axis=1)
            kept[chosen] = -1
            chosen.append(int(kept.argmax()))
            if kept[chosen[-1]] < 0:
                break
            is_kept = left[chosen[-1]]
            left, common = left[:, is_kept], common[is_kept]
    return best


def _needed(measure: Measure, a: int, best: Biclique | None) -> int:
    """Return the number of common neighbours of a nodes of V that makes a biclique larger than the best."""
    if measure is Measure.BALANCED:
        return a
    size = 0 if best is None else size_of(measure, best)
    return max(1, size // a + 1 if measure is Measure.EDGES else size - a + 1)
