"""ENCD by branch and bound on the graph itself, independent of the reductions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from hindsched.reductions.bipartite_graph import BipartiteGraph, expect_few_pairs
from hindsched.reductions.encd import Biclique, Encd

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Decision", "enumerate_all", "solve", "widest"]

_NODES_PER_TIME_CHECK = 256  # branch nodes between two checks of the time limit


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the biclique exists, or None if the time limit stopped the search; and a biclique if it exists."""

    exists: bool | None
    biclique: Biclique | None


def solve(problem: Encd, *, time_limit_s: float | None = None) -> Decision:
    """Decide an ENCD problem by branch and bound.

    First, nodes that no such biclique contains are removed repeatedly: nodes of V with fewer than b neighbours, and of
    W with fewer than a. Then a depth-first search adds nodes of V one by one, and prunes a branch with fewer than b
    common neighbours. The search has its own stack, so its depth is not limited.

    Examples
    --------
    >>> from hindsched.reductions.bipartite_graph import from_matrix
    >>> solve(Encd(from_matrix([[1, 1, 0], [1, 1, 1]]), a=2, b=2)).biclique
    Biclique(v=(0, 1), w=(2, 3))
    """
    deadline = None if time_limit_s is None else time.monotonic() + time_limit_s
    decision = _search(problem, problem.b, deadline)
    if decision.biclique is None:
        return decision
    return Decision(True, Biclique(decision.biclique.v, decision.biclique.w[: problem.b]))


def widest(graph: BipartiteGraph | nx.Graph[Any], a: int, at_least: int) -> Decision:
    """Find a biclique with a nodes of V and the largest number of nodes of W, at least ``at_least``.

    Examples
    --------
    >>> from hindsched.reductions.bipartite_graph import from_matrix
    >>> graph = from_matrix([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    >>> widest(graph, a=2, at_least=1).biclique.w, widest(graph, a=2, at_least=3)
    ((3, 4), Decision(exists=False, biclique=None))
    """
    graph, best = BipartiteGraph.of(graph), Decision(False, None)
    while (found := _search(Encd(graph, a, at_least), at_least, None)).biclique is not None:
        best, at_least = found, len(found.biclique.w) + 1
    return best


def enumerate_all(problem: Encd) -> Iterator[Biclique]:
    """Yield a biclique for every set of a nodes of V with b common neighbours: plain enumeration, for tests.

    Examples
    --------
    >>> from hindsched.reductions.bipartite_graph import from_matrix
    >>> [biclique.v for biclique in enumerate_all(Encd(from_matrix([[1, 1], [1, 0], [1, 1]]), a=2, b=2))]
    [(0, 2)]
    """
    for chosen in combinations(range(len(problem.v)), problem.a):
        common = np.flatnonzero(problem.matrix[list(chosen)].all(axis=0)).tolist()
        if len(common) >= problem.b:
            yield Biclique(tuple(problem.v[i] for i in chosen), tuple(problem.w[j] for j in common[: problem.b]))


def _search(problem: Encd, b: int, deadline: float | None) -> Decision:
    """Search for a biclique with a nodes of V and all their common neighbours, at least b."""
    rows, columns = _core(problem, b)
    order = sorted(rows, key=lambda i: -rows[i].bit_count())
    stack: list[tuple[tuple[int, ...], int, Sequence[int]]] = [((), (1 << len(columns)) - 1, order)]
    visited = 0
    while stack:
        visited += 1
        if deadline is not None and visited % _NODES_PER_TIME_CHECK == 0 and time.monotonic() > deadline:
            return Decision(None, None)
        chosen, common, rest = stack.pop()
        if len(chosen) == problem.a:
            w = tuple(problem.w[j] for place, j in enumerate(columns) if common >> place & 1)
            return Decision(True, Biclique(tuple(problem.v[i] for i in sorted(chosen)), w))
        children = []
        for position in range(len(rest) - (problem.a - len(chosen)) + 1):
            i = rest[position]
            shared = common & rows[i]
            if shared.bit_count() < b:
                continue
            others = [j for j in rest[position + 1 :] if (shared & rows[j]).bit_count() >= b]
            if len(chosen) + 1 + len(others) >= problem.a:
                children.append(((*chosen, i), shared, others))
        stack.extend(reversed(children))
    return Decision(False, None)


def _core(problem: Encd, b: int) -> tuple[dict[int, int], list[int]]:
    """Remove nodes that no such biclique contains.

    Returns
    -------
    tuple
        The neighbours of each remaining node of V, as bits, and the remaining nodes of W, one for each bit.
    """
    graph, a = problem.graph, problem.a
    num_v, num_w = len(graph.v), len(graph.w)
    rows, columns = np.repeat(np.arange(num_v, dtype=np.int32), np.diff(graph.indptr)), graph.indices
    while True:
        has_enough_v, has_enough_w = np.bincount(rows, minlength=num_v) >= b, np.bincount(columns, minlength=num_w) >= a
        is_left = has_enough_v[rows] & has_enough_w[columns]
        if is_left.all():
            break
        rows, columns = rows[is_left], columns[is_left]
    left, bit = np.unique(columns, return_inverse=True)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    expect_few_pairs(len(starts), len(left))
    bits = {}
    for start, neighbours in zip(starts.tolist(), np.split(bit, starts[1:]), strict=False):
        is_neighbour = np.zeros(len(left), dtype=bool)
        is_neighbour[neighbours] = True
        bits[int(rows[start])] = int.from_bytes(np.packbits(is_neighbour, bitorder="little").tobytes(), "little")
    return bits, left.tolist()
