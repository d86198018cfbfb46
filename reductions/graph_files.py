"""Files of bipartite graphs: edge lists (``.edgelist``) and biadjacency matrices (``.txt``).

An edge list is read in blocks of lines. A block of plain lines, two ASCII names separated by one blank or tab, is
split as a whole. All others are read line by line, and so is a block with a mistake, which names the line.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compression import PACKED_NAME
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import excerpt, read_text, write_bytes
from hindsched.reductions.bipartite_graph import BipartiteGraph, from_rows

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["MOST_EDGES", "MOST_NODES", "read_graph", "write_graph"]

#: Largest numbers of edges, and so of lines, and of nodes of a file: with them, reading takes at most 1 GB.
MOST_EDGES, MOST_NODES = 1 << 25, 1 << 21

_BLOCK = 1 << 16  # characters that are read at a time, up to the end of a line; their names fit into the cache
_ROW = re.compile(r"\s*+[01](?:\s*+(?:,\s*+)?[01])*\s*")
_DATA = re.compile(r"\s*\{.*\}\s*$")  # attributes that networkx writes after an edge


def read_graph(path: str | os.PathLike[str]) -> BipartiteGraph:
    """Read a bipartite graph; `BipartiteGraph.to_networkx` converts it.

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
        If the file cannot be read, or has more than `MOST_EDGES` lines or edges, or more than `MOST_NODES` nodes. The
        message names the file, the line, and what was expected.
    """
    readers = {".edgelist": _read_edges, ".txt": _read_matrix}
    suffix = Path(PACKED_NAME.sub("", os.fspath(path))).suffix
    if suffix not in readers and (not os.path.exists(path) or os.path.isfile(path)):
        raise InputError("expected a name that ends in .edgelist or .txt", file=path)
    text = read_text(path, "a graph", most_lines=MOST_EDGES)
    try:
        return (readers.get(suffix) or _reader_of(text))(text)
    except InputError as error:
        raise error.in_file(path) from None


def _reader_of(text: str) -> Callable[[str], BipartiteGraph]:
    """Return the reader of a text without a name: digits 0 and 1 are a matrix, unless they can be pairs of nodes."""
    if not all(_ROW.fullmatch(line) for _, line in _lines(text)):
        return _read_edges
    if all(len(line.split()) == 2 for _, line in _lines(text)):
        raise InputError("an edge list or a matrix, expected a file that ends in .edgelist or .txt")
    return _read_matrix


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield whole lines, about `_BLOCK` characters at a time, with the number of the first line."""
    number, start = 1, 0
    while start < len(text):
        stop = text.find("\n", start + _BLOCK) + 1 or len(text)
        block = text[start:stop]
        yield number, block
        number, start = number + block.count("\n"), stop


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every line that is not blank or a comment."""
    for first, block in _blocks(text):
        yield from _lines_of(first, block)


def _lines_of(first: int, block: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(block.split("\n"), start=first):
        content = line.partition("#")[0]
        if content.strip():
            yield number, content


class _Positions(dict[str, int]):
    """Positions of names, in the order in which they first occur."""

    def __missing__(self, name: str) -> int:
        self[name] = position = len(self)
        return position


class _EdgeList:
    """The nodes and edges of the lines that have been read."""

    def __init__(self) -> None:
        self.v, self.w = _Positions(), _Positions()
        self.rows, self.columns = array("i"), array("i")  # positions of the two nodes of each edge

    def add_plain(self, block: str) -> bool:
        """Add a block of plain lines; return False, and add nothing, for any other block and one with a mistake."""
        names = _plain_names(block)
        if names is None:
            return False
        sides = ((self.v, self.rows, names[::2]), (self.w, self.columns, names[1::2]))
        num_edges, nodes = len(self.rows), (len(self.v), len(self.w))
        for positions, edges, column in sides:
            edges.extend(map(positions.__getitem__, column))
        new_v, new_w = (islice(reversed(s), len(s) - before) for s, before in zip((self.v, self.w), nodes, strict=True))
        if self.w.keys().isdisjoint(new_v) and self.v.keys().isdisjoint(new_w) and not self._has_too_many_nodes():
            return True
        for (positions, edges, _), before in zip(sides, nodes, strict=True):
            del edges[num_edges:]
            while len(positions) > before:
                positions.popitem()
        return False

    def add_line(self, number: int, line: str) -> None:
        """Add the edge of a line that is not blank or a comment."""
        place = f"line {number}"
        bare = _DATA.sub("", line)
        names = [name.strip() for name in bare.split("\t")] if "\t" in bare else bare.split()
        if len(names) != 2 or not all(names):
            raise InputError(f"{len(names)} names, expected two: a node of V and a node of W", place=place)
        if not "".join(names).isprintable():
            raise InputError(f"{excerpt(bare)}, expected names of characters that can be printed", place=place)
        v, w = (self.v, self.rows), (self.w, self.columns)
        for name, (positions, edges), (others, _) in zip(names, (v, w), (w, v), strict=True):
            if name in others:
                raise InputError(
                    f"node {name!r} is in both columns, expected V in the first and W in the second", place=place
                )
            edges.append(positions[name])
        if self._has_too_many_nodes():
            raise InputError(f"more than {MOST_NODES} nodes, expected at most this", place=place)

    def _has_too_many_nodes(self) -> bool:
        return len(self.v) + len(self.w) > MOST_NODES

    def graph(self, text: str) -> BipartiteGraph:
        """Return the graph; raise `InputError` for an edge that occurs twice in the text."""
        pairs = self._pairs()
        pairs.sort()
        if (pairs[1:] == pairs[:-1]).any():
            raise self._repeated(text)
        indptr = np.searchsorted(pairs, np.arange(len(self.v) + 1) * len(self.w))
        pairs %= max(len(self.w), 1)
        indices = pairs.astype(np.int32)
        indices.setflags(write=False)
        return BipartiteGraph(tuple(self.v), tuple(self.w), indptr, indices)

    def _pairs(self) -> Ints:
        """Return each edge as one number, in the order of the lines: its cell in the matrix, row by row."""
        pairs = np.array(self.rows[: len(self.columns)], dtype=np.int64)
        pairs *= len(self.w)
        pairs += np.asarray(self.columns)
        return pairs

    def _repeated(self, text: str) -> InputError:
        is_first = np.zeros(len(self.columns), dtype=bool)
        is_first[np.unique(self._pairs(), return_index=True)[1]] = True
        edge = int(is_first.argmin())
        v, w = list(self.v)[self.rows[edge]], list(self.w)[self.columns[edge]]
        number, _ = next(islice(_lines(text), edge, None))
        return InputError(f"edge {v!r}, {w!r} occurs twice, expected once", place=f"line {number}")


def _plain_names(block: str) -> list[str] | None:
    """Return the names in a block of plain lines, two for each line; None for a block with any other line."""
    if "{" in block:
        block = block.replace(" {}\n", "\n").replace("\t{}\n", "\n")  # as networkx writes edges without attributes
    if not block.isascii() or any(letter in block for letter in "#{\x7f"):
        return None
    if not block.endswith("\n"):
        block += "\n"
    letters = np.frombuffer(block.encode(), dtype=np.uint8)
    ends = np.flatnonzero(letters <= ord(" "))
    is_plain = (
        len(ends) % 2 == 0
        and (np.diff(ends, prepend=-1) > 1).all()
        and np.isin(letters[ends[::2]], (ord(" "), ord("\t"))).all()
        and (letters[ends[1::2]] == ord("\n")).all()
    )
    return block.split() if is_plain else None


def _read_edges(text: str) -> BipartiteGraph:
    edges = _EdgeList()
    try:
        for first, block in _blocks(text):
            if not edges.add_plain(block):
                for number, line in _lines_of(first, block):
                    edges.add_line(number, line)
    except InputError:
        edges.graph(text)  # an edge that occurs twice is in an earlier line
        raise
    if not edges.rows:
        raise InputError("no edge, expected at least one")
    return edges.graph(text)


def _read_matrix(text: str) -> BipartiteGraph:
    rows: list[Int32s] = []
    width = num_edges = 0
    for number, line in _lines(text):
        place = f"line {number}"
        digits = "".join(line.replace(",", "").split())
        wrong = digits.strip("01")
        if wrong:
            raise InputError(f"{wrong[0]!r}, expected rows of 0 and 1", place=place)
        if "," in line and not _ROW.fullmatch(line):
            raise InputError("a comma without a digit on both sides, expected rows of 0 and 1", place=place)
        width = width or len(digits)
        if len(digits) != width:
            raise InputError(f"{len(digits)} columns, expected {width} as in the first row", place=place)
        rows.append(np.flatnonzero(np.frombuffer(digits.encode(), dtype=np.uint8) == ord("1")).astype(np.int32))
        num_edges += len(rows[-1])
        for most, found, what in ((MOST_EDGES, num_edges, "edges"), (MOST_NODES, len(rows) + width, "nodes")):
            if found > most:
                raise InputError(f"more than {most} {what}, expected at most this", place=place)
    if not rows:
        raise InputError("no row, expected the 0/1 biadjacency matrix")
    return from_rows(rows, width)


def write_graph(graph: BipartiteGraph | nx.Graph[Any], path: str | os.PathLike[str]) -> None:
    """Write a bipartite graph, whole or not at all; the ending of the name decides the format, as in `read_graph`.

    A matrix keeps all nodes without their names; an edge list keeps the names, without the nodes that have no edge.

    Raises
    ------
    InputError
        If the ending of the name is unknown, the graph is not bipartite, or an edge list cannot represent the names.
    """
    graph = BipartiteGraph.of(graph)
    suffix = Path(path).suffix
    if suffix == ".txt":
        lines = np.full((len(graph.v), len(graph.w) + 1), ord("\n"), dtype=np.uint8)
        lines[:, :-1] = graph.matrix
        lines[:, :-1] += ord("0")
        write_bytes(path, lines.tobytes())
    elif suffix == ".edgelist":
        v, w = ([str(node) for node in side] for side in (graph.v, graph.w))
        if len({*v, *w}) < len(v) + len(w) or any(re.search(r"[\t\r\n#{}]|^\s|\s$|^$", name) for name in (*v, *w)):
            raise InputError("names that are equal, empty, or contain #, a brace, a tab or an end of line", file=path)
        separator = "\t" if any(" " in name for name in (*v, *w)) else " "
        content = bytearray()
        for name, start, stop in zip(v, graph.indptr[:-1].tolist(), graph.indptr[1:].tolist(), strict=True):
            neighbours = [w[j] for j in graph.indices[start:stop].tolist()]
            content += "".join(f"{name}{separator}{other}\n" for other in neighbours).encode()
        write_bytes(path, bytes(content))
    else:
        raise InputError("expected a name that ends in .edgelist or .txt", file=path)
