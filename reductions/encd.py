"""ENCD, the exact node cardinality decision problem (docs/model.md section 7).

Does a bipartite graph have a biclique with exactly a nodes of V and b nodes of W?
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, SupportsIndex

import networkx as nx
import numpy as np
import numpy.typing as npt

from hindsched.instances.errors import InputError

__all__ = ["Biclique", "Encd", "check_graph", "sides"]

Node = Hashable


@dataclass(frozen=True, slots=True)
class Biclique:
    """Nodes v of V and w of W, in the order of the graph; every pair is an edge."""

    v: tuple[Node, ...]
    w: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Encd:
    """An ENCD problem; it is a yes-instance iff some `Biclique` passes `check`.

    Parameters
    ----------
    graph
        A bipartite graph in networkx's convention: the node attribute ``bipartite`` is 0 in V and 1 in W. The order of
        its nodes is the order of workers and slots in the reductions. The graph is copied and frozen, unless it is
        frozen already.
    a, b
        Integers >= 1. A number larger than a side makes a no-instance.

    Raises
    ------
    InputError
        If a node, an edge or a number is invalid. The message names it.

    Examples
    --------
    >>> graph = nx.Graph([("x", 1), ("x", 2), ("y", 2)])
    >>> nx.set_node_attributes(graph, {"x": 0, "y": 0, 1: 1, 2: 1}, "bipartite")
    >>> problem = Encd(graph, a=2, b=1)
    >>> problem.v, problem.w, problem.matrix.astype(int).tolist()
    (('x', 'y'), (1, 2), [[1, 1], [0, 1]])
    >>> problem.check(Biclique(("x", "y"), (2,)))
    """

    graph: nx.Graph[Any]
    a: int
    b: int

    def __post_init__(self) -> None:
        if not nx.is_frozen(self.graph):
            check_graph(self.graph)
            object.__setattr__(self, "graph", nx.freeze(self.graph.copy()))
        for name, number in (("a", self.a), ("b", self.b)):
            if isinstance(number, bool) or not isinstance(number, SupportsIndex) or index(number) < 1:
                raise InputError(f"{number!r}, expected an integer >= 1", place=name)
            object.__setattr__(self, name, index(number))

    @cached_property
    def v(self) -> tuple[Node, ...]:
        """The nodes of V."""
        return sides(self.graph)[0]

    @cached_property
    def w(self) -> tuple[Node, ...]:
        """The nodes of W."""
        return sides(self.graph)[1]

    @cached_property
    def matrix(self) -> npt.NDArray[np.bool_]:
        """The biadjacency matrix, shape (|V|, |W|), read-only."""
        column = {node: j for j, node in enumerate(self.w)}
        matrix = np.zeros((len(self.v), len(self.w)), dtype=bool)
        for i, node in enumerate(self.v):
            matrix[i, [column[other] for other in self.graph[node]]] = True
        matrix.setflags(write=False)
        return matrix

    def check(self, biclique: Biclique) -> None:
        """Raise `InputError` unless this is a biclique with exactly a nodes of V and b of W."""
        for name, nodes, side, size in (("v", biclique.v, self.v, self.a), ("w", biclique.w, self.w, self.b)):
            if len(set(nodes)) != len(nodes) or len(nodes) != size:
                raise InputError(f"{len(set(nodes))} nodes, expected {size}", place=name)
            others = set(nodes).difference(side)
            if others:
                raise InputError(f"{next(iter(others))!r}, expected nodes of that side", place=name)
        for i in biclique.v:
            for j in biclique.w:
                if not self.graph.has_edge(i, j):
                    raise InputError(f"{i!r} and {j!r} have no edge, expected one: no biclique")


def check_graph(graph: nx.Graph[Any]) -> None:
    """Raise `InputError` unless this is a simple bipartite graph with the attribute ``bipartite`` on every node."""
    if graph.is_directed() or graph.is_multigraph():
        raise InputError("a directed graph or a multigraph, expected a simple graph", place="graph")
    for node, side in graph.nodes(data="bipartite"):
        if side not in (0, 1):
            raise InputError(f"bipartite = {side!r}, expected 0 (V) or 1 (W)", place=f"node {node!r}")
    for i, j in graph.edges:
        if graph.nodes[i]["bipartite"] == graph.nodes[j]["bipartite"]:
            raise InputError("on one side, expected one node of V and one of W", place=f"edge {i!r}, {j!r}")


def sides(graph: nx.Graph[Any]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Return the nodes of V and the nodes of W, in the order of the graph."""
    side = list(graph.nodes(data="bipartite"))
    return tuple(node for node, part in side if part == 0), tuple(node for node, part in side if part == 1)
