"""Files of bipartite graphs: edge lists (``.edgelist``) and biadjacency matrices (``.txt``)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from hindsched.instances.compression import PACKED_NAME
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import excerpt, read_text, write_text
from hindsched.reductions.encd import Node, check_graph, sides

__all__ = ["from_matrix", "label", "read_graph", "write_graph"]

#: Largest number of cells of a matrix, and of edges of a list.
MOST_CELLS = 1_000_000

_ROW = re.compile(r"\s*+[01](?:\s*+(?:,\s*+)?[01])*\s*")
_DATA = re.compile(r"\s*\{.*\}\s*$")  # attributes that networkx writes after an edge


def from_matrix(matrix: npt.ArrayLike) -> nx.Graph[Any]:
    """Return the graph of a 0/1 biadjacency matrix, V by W.

    Nodes are 0..|V|-1 and, in W, |V|..|V|+|W|-1, as in networkx. The attribute ``label`` is the row or column.

    Raises
    ------
    InputError
        If the array is not a matrix, or a cell is neither 0 nor 1.

    Examples
    --------
    >>> graph = from_matrix([[1, 0], [1, 1]])
    >>> list(graph.edges), [label(graph, node) for node in graph]
    ([(0, 2), (1, 2), (1, 3)], [0, 1, 0, 1])
    """
    cells = np.asarray(matrix)
    if cells.ndim != 2:
        raise InputError(f"{cells.ndim} dimensions, expected 2: nodes of V by nodes of W", place="matrix")
    if not np.isin(cells, (0, 1)).all():
        raise InputError("a cell that is neither 0 nor 1", place="matrix")
    num_v, num_w = cells.shape
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_nodes_from((i, {"bipartite": 0, "label": i}) for i in range(num_v))
    graph.add_nodes_from((num_v + j, {"bipartite": 1, "label": j}) for j in range(num_w))
    graph.add_edges_from((i, num_v + j) for i, j in np.argwhere(cells).tolist())
    return graph


def label(graph: nx.Graph[Any], node: Node) -> Any:
    """Return the label of a node: its row or column in a matrix, otherwise the node itself."""
    return graph.nodes[node].get("label", node)


def read_graph(path: str | os.PathLike[str]) -> nx.Graph[Any]:
    """Read a bipartite graph.

    Parameters
    ----------
    path
        ``.edgelist``: one edge per line, a node of V and a node of W, separated by blanks, or by a tab if there is one,
        so that names may contain blanks. Attributes in braces, as networkx writes them, are ignored. Nodes are strings.
        ``.txt``: the 0/1 biadjacency matrix, V by W, row by row, with or without blanks or commas between the digits.
        A pipe has no such name: its content decides, unless it can be both.
        In both, ``#`` begins a comment and blank lines are ignored. The text is UTF-8, plain or packed.

    Raises
    ------
    InputError
        If the file cannot be read. The message names the file, the line, and what was expected.
    """
    readers = {".edgelist": _read_edges, ".txt": _read_matrix}
    suffix = Path(PACKED_NAME.sub("", os.fspath(path))).suffix
    if suffix not in readers and (not os.path.exists(path) or os.path.isfile(path)):
        raise InputError("expected a name that ends in .edgelist or .txt", file=path)
    text = read_text(path, "a graph")
    try:
        return (readers.get(suffix) or _reader_of(text))(text)
    except InputError as error:
        raise error.in_file(path) from None


def _reader_of(text: str) -> Callable[[str], nx.Graph[Any]]:
    """Return the reader of a text without a name: digits 0 and 1 are a matrix, unless they can be pairs of nodes."""
    lines = [line for _, line in _lines(text)]
    if not all(map(_ROW.fullmatch, lines)):
        return _read_edges
    if all(len(line.split()) == 2 for line in lines):
        raise InputError("an edge list or a matrix, expected a file that ends in .edgelist or .txt")
    return _read_matrix


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of every line that is not blank or a comment."""
    for number, line in enumerate(text.split("\n"), start=1):
        content = line.partition("#")[0]
        if content.strip():
            yield f"line {number}", content


def _read_edges(text: str) -> nx.Graph[Any]:
    edges: dict[tuple[str, str], None] = {}
    columns: tuple[dict[str, None], dict[str, None]] = ({}, {})
    for place, line in _lines(text):
        bare = _DATA.sub("", line)
        names = [name.strip() for name in bare.split("\t")] if "\t" in bare else bare.split()
        if len(names) != 2 or not all(names):
            raise InputError(f"{len(names)} names, expected two: a node of V and a node of W", place=place)
        if not "".join(names).isprintable():
            raise InputError(f"{excerpt(bare)}, expected names of characters that can be printed", place=place)
        for name, column, other in zip(names, columns, columns[::-1], strict=True):
            if name in other:
                raise InputError(
                    f"node {name!r} is in both columns, expected V in the first and W in the second", place=place
                )
            column[name] = None
        if (names[0], names[1]) in edges:
            raise InputError(f"edge {names[0]!r}, {names[1]!r} occurs twice, expected once", place=place)
        edges[names[0], names[1]] = None
        if len(edges) > MOST_CELLS:
            raise InputError(f"more than {MOST_CELLS} edges, expected at most this", place=place)
    if not edges:
        raise InputError("no edge, expected at least one")
    graph: nx.Graph[Any] = nx.Graph()
    for side, column in enumerate(columns):
        graph.add_nodes_from(column, bipartite=side)
    graph.add_edges_from(edges)
    return graph


def _read_matrix(text: str) -> nx.Graph[Any]:
    rows: list[list[bool]] = []
    for place, line in _lines(text):
        digits = re.sub(r"[\s,]", "", line)
        wrong = digits.strip("01")
        if wrong:
            raise InputError(f"{wrong[0]!r}, expected rows of 0 and 1", place=place)
        if not _ROW.fullmatch(line):
            raise InputError("a comma without a digit on both sides, expected rows of 0 and 1", place=place)
        if rows and len(digits) != len(rows[0]):
            raise InputError(f"{len(digits)} columns, expected {len(rows[0])} as in the first row", place=place)
        rows.append([digit == "1" for digit in digits])
        if len(rows) * len(digits) > MOST_CELLS:
            raise InputError(f"more than {MOST_CELLS} cells, expected at most this", place=place)
    if not rows or not rows[0]:
        raise InputError("no row, expected the 0/1 biadjacency matrix")
    return from_matrix(rows)


def write_graph(graph: nx.Graph[Any], path: str | os.PathLike[str]) -> None:
    """Write a bipartite graph, whole or not at all; the ending of the name decides the format, as in `read_graph`.

    A matrix keeps all nodes without their names; an edge list keeps the names, without the nodes that have no edge.

    Raises
    ------
    InputError
        If the ending of the name is unknown, the graph is not bipartite, or an edge list cannot represent the names.
    """
    check_graph(graph)
    suffix = Path(path).suffix
    v, w = sides(graph)
    if suffix == ".txt":
        rows = ("".join("1" if graph.has_edge(i, j) else "0" for j in w) for i in v)
        write_text(path, "".join(row + "\n" for row in rows))
    elif suffix == ".edgelist":
        names = {node: str(node) for node in graph}
        if len(set(names.values())) < len(names) or any(
            re.search(r"[\t\r\n#{}]|^\s|\s$|^$", n) for n in names.values()
        ):
            raise InputError("names that are equal, empty, or contain #, a brace, a tab or an end of line", file=path)
        separator = "\t" if any(" " in name for name in names.values()) else " "
        lines = (f"{names[i]}{separator}{names[j]}\n" for i in v for j in w if graph.has_edge(i, j))
        write_text(path, "".join(lines))
    else:
        raise InputError("expected a name that ends in .edgelist or .txt", file=path)
