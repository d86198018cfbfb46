"""Bipartite graphs to try the reductions on: every small one, and many kinds of larger ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, islice, permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hindsched.instances.random_streams import stream
from hindsched.reductions import BipartiteGraph, Encd, from_matrix, solve_encd

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["KINDS", "Case", "generated", "named", "small"]

Matrix = npt.NDArray[np.bool_]

_MOST_V, _MOST_W = 12, 14


@dataclass(frozen=True, slots=True)
class Case:
    """One question about one graph, and what is known of the answer from the way the graph was made.

    Parameters
    ----------
    kind
        How the graph was made.
    problem
        The question.
    answer
        True or False where the making decides it, else None.
    """

    kind: str
    problem: Encd
    answer: bool | None = None


def small(most: int = 4, *, labelled: bool = False, first: int = 0, stop: int | None = None) -> Iterator[list[Case]]:
    """Yield every bipartite graph with |V|, |W| <= ``most``, each with every (a, b), one beyond either side included.

    Parameters
    ----------
    most
        Sizes from 0 to this.
    labelled
        False: graphs up to isomorphism, where nodes of V may be renamed among themselves and so may nodes of W, but the
        sides are not exchanged. True: every 0/1 matrix.
    first, stop
        Only graphs number ``first`` to ``stop`` - 1, from 0; None: to the last.

    Examples
    --------
    >>> sum(1 for _ in small(2)), sum(1 for _ in small(2, labelled=True))
    (20, 31)
    """
    for num_v, num_w, table in islice(_tables(most, labelled), first, stop):
        graph = from_matrix(np.array(table, dtype=bool).reshape(num_v, num_w))
        yield [Case("small", Encd(graph, a, b)) for a, b in product(range(1, num_v + 2), range(1, num_w + 2))]


def _tables(most: int, labelled: bool) -> Iterator[tuple[int, int, tuple[tuple[bool, ...], ...]]]:
    for num_v, num_w in product(range(most + 1), repeat=2):
        rows = list(product((False, True), repeat=num_w))
        tables = product(rows, repeat=num_v) if labelled else _classes(rows, num_v, num_w)
        yield from ((num_v, num_w, table) for table in tables)


def _classes(rows: list[tuple[bool, ...]], num_v: int, num_w: int) -> Iterator[tuple[tuple[bool, ...], ...]]:
    """Yield one table of each class: the least of those that renaming makes of it, rows in increasing order."""
    orders = list(permutations(range(num_w)))
    for table in combinations_with_replacement(rows, num_v):
        renamed = (tuple(sorted(tuple(row[j] for j in order) for row in table)) for order in orders)
        if all(table <= other for other in renamed):
            yield table


def named() -> Iterator[list[Case]]:
    """Yield known bipartite graphs, most from networkx, each with every (a, b) that could be a biclique."""
    import networkx as nx

    makers: dict[str, Callable[[], BipartiteGraph | nx.Graph[Any]]] = {
        "davis southern women": nx.davis_southern_women_graph,
        "complete 6 x 7": lambda: nx.complete_bipartite_graph(6, 7),
        "crown 7": lambda: from_matrix(~np.eye(7, dtype=bool)),
        "perfect matching 6": lambda: from_matrix(np.eye(6, dtype=bool)),
        "half graph 7": lambda: from_matrix(np.tri(7, dtype=bool)),
        "no edge 3 x 4": lambda: from_matrix(np.zeros((3, 4), dtype=bool)),
        "path 12": lambda: nx.path_graph(12),
        "cycle 14": lambda: nx.cycle_graph(14),
        "star 9": lambda: nx.star_graph(9),
        "grid 4 x 5": lambda: nx.grid_2d_graph(4, 5),
        "hypercube 4": lambda: nx.hypercube_graph(4),
        "heawood": nx.heawood_graph,
        "pappus": nx.pappus_graph,
        "moebius-kantor": nx.moebius_kantor_graph,
        "desargues": nx.desargues_graph,
        "balanced tree": lambda: nx.balanced_tree(3, 2),
    }
    for make in makers.values():
        graph = make()
        if isinstance(graph, nx.Graph) and not all("bipartite" in graph.nodes[node] for node in graph):
            nx.set_node_attributes(graph, nx.bipartite.color(graph), "bipartite")
        problem = Encd(graph, 1, 1)
        pairs = product(range(1, len(problem.v) + 1), range(1, len(problem.w) + 1))
        yield [Case("named", Encd(problem.graph, a, b)) for a, b in pairs]


def generated(kind: str, number: int, seed: int) -> list[Case]:
    """Return the cases of one generated graph, which depends on nothing but the arguments.

    Examples
    --------
    >>> [case.answer for case in generated("near-miss", 0, seed=1)]
    [False, True]
    """
    return KINDS[kind](stream("graphs", 1, seed, kind, number))


def _random(draw: np.random.Generator) -> list[Case]:
    """Draw every edge with the same probability."""
    matrix = draw.random(_shape(draw)) < draw.choice([0.3, 0.5, 0.7, 0.85])
    return [_question(draw, "random", matrix)]


def _power_law(draw: np.random.Generator) -> list[Case]:
    """Draw by expected degrees that fall as a power of the rank, on both sides."""
    num_v, num_w = _shape(draw)
    v, w = np.arange(1, num_v + 1.0) ** -draw.uniform(0.3, 1.2), np.arange(1, num_w + 1.0) ** -draw.uniform(0.3, 1.2)
    chance = np.minimum(1.0, draw.uniform(1.0, 4.0) * np.outer(v, w))
    return [_question(draw, "power-law", draw.random((num_v, num_w)) < chance)]


def _blocks(draw: np.random.Generator) -> list[Case]:
    """Draw dense groups of nodes, sparse between them."""
    num_v, num_w = _shape(draw)
    groups = int(draw.integers(2, 4))
    same = draw.integers(groups, size=num_v)[:, None] == draw.integers(groups, size=num_w)
    return [_question(draw, "blocks", draw.random((num_v, num_w)) < np.where(same, 0.85, 0.15))]


def _planted(draw: np.random.Generator) -> list[Case]:
    """Return a random graph with a planted biclique of the given size."""
    matrix, a, b = _plant(draw)
    return [Case("planted", Encd(from_matrix(matrix), a, b), answer=True)]


def _near_miss(draw: np.random.Generator) -> list[Case]:
    """Draw a graph without the biclique in which one more edge would make one, and the graph with that edge.

    Edges of bicliques are removed one by one until the direct search finds no biclique. The caller checks that the last
    graph has none.
    """
    matrix, a, b = _plant(draw)
    problem = Encd(from_matrix(matrix), a, b)
    while (found := solve_encd(problem).biclique) is not None:
        before = problem
        matrix[problem.v.index(found.v[draw.integers(a)]), problem.w.index(found.w[draw.integers(b)])] = False
        problem = Encd(from_matrix(matrix), a, b)
    return [Case("near-miss", problem, answer=False), Case("near-miss", before, answer=True)]


#: How generated graphs are made, by name.
KINDS: dict[str, Callable[[np.random.Generator], list[Case]]] = {
    "random": _random,
    "planted": _planted,
    "near-miss": _near_miss,
    "power-law": _power_law,
    "blocks": _blocks,
}


def _shape(draw: np.random.Generator) -> tuple[int, int]:
    return int(draw.integers(1, _MOST_V, endpoint=True)), int(draw.integers(1, _MOST_W, endpoint=True))


def _plant(draw: np.random.Generator) -> tuple[Matrix, int, int]:
    num_v, num_w = _shape(draw)
    a, b = int(draw.integers(1, num_v, endpoint=True)), int(draw.integers(1, num_w, endpoint=True))
    matrix = draw.random((num_v, num_w)) < draw.uniform(0.1, 0.6)
    rows, columns = draw.permutation(num_v)[:a], draw.permutation(num_w)[:b]
    matrix[np.ix_(rows, columns)] = True
    return matrix, a, b


def _question(draw: np.random.Generator, kind: str, matrix: Matrix) -> Case:
    """Return a problem with about as many common neighbours as some a nodes have: yes and no are both likely."""
    num_v, num_w = matrix.shape
    a = int(draw.integers(1, num_v, endpoint=True))
    heaviest = np.argsort(-matrix.sum(axis=1), kind="stable")[:a]
    common = int(matrix[heaviest].all(axis=0).sum())
    b = int(np.clip(common + draw.integers(-1, 2, endpoint=True), 1, num_w))
    return Case(kind, Encd(from_matrix(matrix), a, b))
