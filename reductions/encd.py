"""ENCD, the exact node cardinality decision problem (docs/model.md section 7).

Does a bipartite graph have a biclique with exactly a nodes of V and b nodes of W?
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex

from hindsched.instances.array_types import Flags
from hindsched.instances.errors import InputError
from hindsched.reductions.bipartite_graph import BipartiteGraph, Node

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Biclique", "Encd"]


@dataclass(frozen=True, slots=True)
class Biclique:
    """Nodes v of V and w of W, in the order of the graph; every pair is an edge."""

    v: tuple[Node, ...]
    w: tuple[Node, ...]


@dataclass(frozen=True, eq=False, init=False)
class Encd:
    """An ENCD problem; it is a yes-instance iff some `Biclique` passes `check`.

    Parameters
    ----------
    graph
        A `BipartiteGraph`, or a bipartite graph in networkx's convention, which is converted: the node attribute
        ``bipartite`` is 0 in V and 1 in W. The order of its nodes is the order of workers and slots in the reductions.
    a, b
        Integers >= 1. A number larger than a side makes a no-instance.

    Raises
    ------
    InputError
        If a node, an edge or a number is invalid. The message names it.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.Graph([("x", 1), ("x", 2), ("y", 2)])
    >>> nx.set_node_attributes(graph, {"x": 0, "y": 0, 1: 1, 2: 1}, "bipartite")
    >>> problem = Encd(graph, a=2, b=1)
    >>> problem.v, problem.w, problem.matrix.astype(int).tolist()
    (('x', 'y'), (1, 2), [[1, 1], [0, 1]])
    >>> problem.check(Biclique(("x", "y"), (2,)))
    """

    graph: BipartiteGraph
    a: int
    b: int

    def __init__(self, graph: BipartiteGraph | nx.Graph[Any], a: int, b: int) -> None:
        object.__setattr__(self, "graph", BipartiteGraph.of(graph))
        for name, number in (("a", a), ("b", b)):
            if isinstance(number, bool) or not isinstance(number, SupportsIndex) or index(number) < 1:
                raise InputError(f"{number!r}, expected an integer >= 1", place=name)
            object.__setattr__(self, name, index(number))

    @property
    def v(self) -> tuple[Node, ...]:
        """The nodes of V."""
        return self.graph.v

    @property
    def w(self) -> tuple[Node, ...]:
        """The nodes of W."""
        return self.graph.w

    @property
    def matrix(self) -> Flags:
        """The biadjacency matrix, shape (|V|, |W|), read-only."""
        return self.graph.matrix

    def check(self, biclique: Biclique) -> None:
        """Raise `InputError` unless this is a biclique with exactly a nodes of V and b of W."""
        for name, nodes, side, size in (("v", biclique.v, self.v, self.a), ("w", biclique.w, self.w, self.b)):
            if len(set(nodes)) != len(nodes) or len(nodes) != size:
                raise InputError(f"{len(set(nodes))} nodes, expected {size}", place=name)
            others = set(nodes).difference(side)
            if others:
                raise InputError(f"{next(iter(others))!r}, expected nodes of that side", place=name)
        for i in biclique.v:
            near = set(self.graph.neighbours(i))
            for j in biclique.w:
                if j not in near:
                    raise InputError(f"{i!r} and {j!r} have no edge, expected one: no biclique")
