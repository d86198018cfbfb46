"""Bipartite graphs as arrays: the neighbours of all nodes in one array of positions (compressed sparse rows)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hindsched.instances.array_types import Flags, Int32s, Ints
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["MOST_CELLS", "BipartiteGraph", "Node", "from_matrix"]

#: Largest number of cells of a biadjacency matrix, a byte each.
MOST_CELLS = 1 << 28

Node = Hashable


@dataclass(frozen=True, eq=False)
class BipartiteGraph:
    """A simple bipartite graph on the sides V and W; immutable, and validated when it is made.

    An edge takes four bytes. `from_matrix`, `BipartiteGraph.of` and `hindsched.reductions.read_graph` make graphs.

    Parameters
    ----------
    v, w
        The nodes of each side, all distinct. Their order is the order of workers and slots in the reductions.
    indptr
        |V| + 1 numbers: the neighbours of ``v[i]`` are ``indices[indptr[i] : indptr[i + 1]]``, as in scipy.
    indices
        One number per edge: the position of the neighbour in ``w``, in increasing order for each node of V.
    v_labels, w_labels
        Labels of the nodes in output; empty: the nodes themselves.

    Raises
    ------
    InputError
        If a node occurs twice, or the arrays describe no such graph.

    Examples
    --------
    >>> graph = BipartiteGraph(("x", "y"), (1, 2), np.array([0, 2, 3]), np.array([0, 1, 1]))
    >>> graph.num_edges, graph.neighbours("x"), graph.matrix.astype(int).tolist()
    (3, (1, 2), [[1, 1], [0, 1]])
    """

    v: tuple[Node, ...]
    w: tuple[Node, ...]
    indptr: Ints
    indices: Int32s
    v_labels: tuple[Any, ...] = ()
    w_labels: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        indptr, indices = np.array(self.indptr, dtype=np.int64), np.asarray(self.indices, dtype=np.int32)
        if indices.flags.writeable or not indices.flags.owndata:
            indices = indices.copy()
        for name, array in (("indptr", indptr), ("indices", indices)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if len({*self.v, *self.w}) < len(self.v) + len(self.w):
            raise InputError("a node that occurs twice, expected distinct nodes", place="graph")
        for labels, nodes, place in ((self.v_labels, self.v, "v_labels"), (self.w_labels, self.w, "w_labels")):
            if labels and len(labels) != len(nodes):
                raise InputError(f"{len(labels)} labels, expected {len(nodes)}, one per node", place=place)
        ends = [0, len(indices)]
        if len(indptr) != len(self.v) + 1 or indptr[[0, -1]].tolist() != ends or (np.diff(indptr) < 0).any():
            raise InputError(f"expected {len(self.v) + 1} numbers from 0 to {len(indices)}, sorted", place="indptr")
        if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < len(self.w):
            raise InputError(f"a position outside 0, ..., {len(self.w) - 1}", place="indices")
        is_larger = indices[1:] > indices[:-1]
        starts = indptr[1:-1]
        is_larger[starts[(starts > 0) & (starts < len(indices))] - 1] = True
        if not is_larger.all():
            raise InputError("the neighbours of a node are not in increasing order", place="indices")

    @classmethod
    def of(cls, graph: BipartiteGraph | nx.Graph[Any]) -> BipartiteGraph:
        """Return a graph of networkx as arrays, or a graph of arrays as it is.

        Parameters
        ----------
        graph
            In networkx, the node attribute ``bipartite`` is 0 in V and 1 in W, and ``label`` is optional.

        Raises
        ------
        InputError
            If a graph of networkx is not simple, or not bipartite with the attribute ``bipartite`` on every node.
        """
        if isinstance(graph, BipartiteGraph):
            return graph
        if graph.is_directed() or graph.is_multigraph():
            raise InputError("a directed graph or a multigraph, expected a simple graph", place="graph")
        sides = dict(graph.nodes(data="bipartite"))
        for node, side in sides.items():
            if side not in (0, 1):
                raise InputError(f"bipartite = {side!r}, expected 0 (V) or 1 (W)", place=f"node {node!r}")
        for i, j in graph.edges:
            if sides[i] == sides[j]:
                raise InputError("on one side, expected one node of V and one of W", place=f"edge {i!r}, {j!r}")
        v, w = (tuple(node for node, side in sides.items() if side == part) for part in (0, 1))
        columns = {node: j for j, node in enumerate(w)}
        rows = [np.array(sorted(columns[other] for other in graph[node]), dtype=np.int32) for node in v]
        has_labels = any("label" in data for _, data in graph.nodes(data=True))
        labels = [tuple(graph.nodes[i].get("label", i) for i in side) if has_labels else () for side in (v, w)]
        return cls(v, w, *compressed(rows), *labels)

    def to_networkx(self) -> nx.Graph[Any]:
        """Return a new graph of networkx with the node attributes ``bipartite`` (0 in V, 1 in W) and ``label``."""
        import networkx as nx  # noqa: PLC0415  # slow to load, and used here only

        graph: nx.Graph[Any] = nx.Graph()
        for side, (nodes, labels) in enumerate(((self.v, self.v_labels), (self.w, self.w_labels))):
            graph.add_nodes_from(nodes, bipartite=side)
            for node, label in zip(nodes, labels, strict=False):
                graph.nodes[node]["label"] = label
        for node in self.v:
            graph.add_edges_from((node, other) for other in self.neighbours(node))
        return graph

    @property
    def num_edges(self) -> int:
        """The number of edges."""
        return len(self.indices)

    @cached_property
    def rows(self) -> dict[Node, int]:
        """The position of every node of V."""
        return {node: i for i, node in enumerate(self.v)}

    def neighbours(self, node: Node) -> tuple[Node, ...]:
        """Return the neighbours of a node of V, in the order of W."""
        i = self.rows[node]
        return tuple(self.w[j] for j in self.indices[self.indptr[i] : self.indptr[i + 1]].tolist())

    @cached_property
    def matrix(self) -> Flags:
        """The biadjacency matrix, shape (|V|, |W|), read-only.

        Raises
        ------
        InputError
            If it has more than `MOST_CELLS` cells.
        """
        expect_few_pairs(len(self.v), len(self.w))
        matrix = np.zeros((len(self.v), len(self.w)), dtype=bool)
        for row, start, stop in zip(matrix, self.indptr[:-1].tolist(), self.indptr[1:].tolist(), strict=True):
            row[self.indices[start:stop]] = True
        matrix.setflags(write=False)
        return matrix

    def labels_of(self, nodes: Sequence[Node]) -> list[Any]:
        """Return the labels of nodes: the row or column in a matrix, otherwise the node itself."""
        return [self._labels.get(node, node) for node in nodes]

    @cached_property
    def _labels(self) -> dict[Node, Any]:
        pairs = ((self.v, self.v_labels), (self.w, self.w_labels))
        return {node: label for nodes, labels in pairs for node, label in zip(nodes, labels, strict=False)}


def expect_few_pairs(num_v: int, num_w: int) -> None:
    """Raise `InputError` if a matrix of so many nodes has more than `MOST_CELLS` cells."""
    if num_v * num_w > MOST_CELLS:
        raise InputError(
            f"{num_v} nodes of V by {num_w} of W, expected at most {MOST_CELLS} pairs of nodes", place="graph"
        )


def compressed(rows: Sequence[npt.NDArray[Any]]) -> tuple[Ints, Int32s]:
    """Return ``indptr`` and ``indices`` of a graph from the sorted positions of the neighbours of each node of V."""
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=indptr[1:])
    indices = np.concatenate([np.zeros(0, dtype=np.int32), *rows], dtype=np.int32)
    indices.setflags(write=False)
    return indptr, indices


def from_matrix(matrix: npt.ArrayLike) -> BipartiteGraph:
    """Return the graph of a 0/1 biadjacency matrix, V by W.

    Nodes are 0..|V|-1 and, in W, |V|..|V|+|W|-1, as in networkx. The label of a node is its row or column.

    Raises
    ------
    InputError
        If the array is not a matrix, or a cell is neither 0 nor 1.

    Examples
    --------
    >>> graph = from_matrix([[1, 0], [1, 1]])
    >>> list(graph.to_networkx().edges), graph.labels_of(graph.v + graph.w)
    ([(0, 2), (1, 2), (1, 3)], [0, 1, 0, 1])
    """
    cells = np.asarray(matrix)
    if cells.ndim != 2:
        raise InputError(f"{cells.ndim} dimensions, expected 2: nodes of V by nodes of W", place="matrix")
    if cells.dtype != bool and not np.isin(cells, (0, 1)).all():
        raise InputError("a cell that is neither 0 nor 1", place="matrix")
    return from_rows([np.flatnonzero(row).astype(np.int32) for row in cells], cells.shape[1])


def from_rows(rows: Sequence[Int32s], num_w: int) -> BipartiteGraph:
    """Return the graph of a biadjacency matrix whose rows are given by the sorted positions of their ones."""
    v, w = tuple(range(len(rows))), tuple(range(num_w))
    return BipartiteGraph(v, tuple(range(len(v), len(v) + num_w)), *compressed(rows), v, w)
