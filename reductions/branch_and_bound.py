"""ENCD by branch and bound on the graph itself, independent of the reductions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx

from hindsched.reductions.encd import Biclique, Encd, Node

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
    >>> from hindsched.reductions.graph_files import from_matrix
    >>> solve(Encd(from_matrix([[1, 1, 0], [1, 1, 1]]), a=2, b=2)).biclique
    Biclique(v=(0, 1), w=(2, 3))
    """
    deadline = None if time_limit_s is None else time.monotonic() + time_limit_s
    decision = _search(problem, problem.b, deadline)
    if decision.biclique is None:
        return decision
    return Decision(True, Biclique(decision.biclique.v, decision.biclique.w[: problem.b]))


def widest(graph: nx.Graph[Node], a: int, at_least: int) -> Decision:
    """Find a biclique with a nodes of V and the largest number of nodes of W, at least ``at_least``.

    Examples
    --------
    >>> from hindsched.reductions.graph_files import from_matrix
    >>> graph = from_matrix([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    >>> widest(graph, a=2, at_least=1).biclique.w, widest(graph, a=2, at_least=3)
    ((3, 4), Decision(exists=False, biclique=None))
    """
    best = Decision(False, None)
    while (found := _search(Encd(graph, a, at_least), at_least, None)).biclique is not None:
        best, at_least = found, len(found.biclique.w) + 1
    return best


def enumerate_all(problem: Encd) -> Iterator[Biclique]:
    """Yield a biclique for every set of a nodes of V with b common neighbours: plain enumeration, for tests.

    Examples
    --------
    >>> from hindsched.reductions.graph_files import from_matrix
    >>> [biclique.v for biclique in enumerate_all(Encd(from_matrix([[1, 1], [1, 0], [1, 1]]), a=2, b=2))]
    [(0, 2)]
    """
    for chosen in combinations(problem.v, problem.a):
        common = [node for node in problem.w if all(problem.graph.has_edge(node, other) for other in chosen)]
        if len(common) >= problem.b:
            yield Biclique(chosen, tuple(common[: problem.b]))


def _search(problem: Encd, b: int, deadline: float | None) -> Decision:
    """Search for a biclique with a nodes of V and all their common neighbours, at least b."""
    rows = _core(problem, b)
    order = sorted(rows, key=lambda i: -rows[i].bit_count())
    all_of_w = (1 << len(problem.w)) - 1
    stack: list[tuple[tuple[int, ...], int, Sequence[int]]] = [((), all_of_w, order)]
    visited = 0
    while stack:
        visited += 1
        if deadline is not None and visited % _NODES_PER_TIME_CHECK == 0 and time.monotonic() > deadline:
            return Decision(None, None)
        chosen, common, rest = stack.pop()
        if len(chosen) == problem.a:
            return Decision(True, Biclique(tuple(problem.v[i] for i in sorted(chosen)), _nodes(problem.w, common)))
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


def _core(problem: Encd, b: int) -> dict[int, int]:
    """Return the neighbours, as bits, of the nodes of V that remain after the removals."""
    matrix = problem.matrix
    keep_v, keep_w = matrix.sum(axis=1) >= b, matrix.sum(axis=0) >= problem.a
    while True:
        left = matrix & keep_v[:, None] & keep_w
        v, w = left.sum(axis=1) >= b, left.sum(axis=0) >= problem.a
        if (v == keep_v).all() and (w == keep_w).all():
            return {int(i): _bits(left[i].nonzero()[0].tolist()) for i in keep_v.nonzero()[0]}
        keep_v, keep_w = v, w


def _bits(positions: Iterable[int]) -> int:
    return sum(1 << j for j in positions)


def _nodes(side: tuple[Node, ...], bits: int) -> tuple[Node, ...]:
    return tuple(node for j, node in enumerate(side) if bits >> j & 1)
