"""Graph files: reading, writing, and one-line errors."""

import random
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsched.instances import InputError
from hindsched.reductions import (
    Biclique,
    BipartiteGraph,
    Encd,
    ToMu1,
    from_matrix,
    graph_files,
    read_graph,
    solve_encd,
    write_graph,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_a_matrix_reads_back_equal(tmp_path: Path, num_v: int, num_w: int, data: st.DataObject) -> None:
    row = st.lists(st.booleans(), min_size=num_w, max_size=num_w)
    cells = data.draw(st.lists(row, min_size=num_v, max_size=num_v))
    write_graph(from_matrix(cells), tmp_path / "graph.txt")
    assert Encd(read_graph(tmp_path / "graph.txt"), 1, 1).matrix.tolist() == cells


def test_an_edge_list_keeps_names_even_with_blanks(tmp_path: Path) -> None:
    graph = nx.davis_southern_women_graph()
    write_graph(graph, tmp_path / "davis.edgelist")
    again = read_graph(tmp_path / "davis.edgelist").to_networkx()
    assert set(again.edges) == set(graph.edges)
    assert [again.nodes[node]["bipartite"] for node in ("Evelyn Jefferson", "E1")] == [0, 1]


def test_files_of_networkx_are_read(tmp_path: Path) -> None:
    graph = nx.bipartite.random_graph(5, 6, 0.5, seed=1)
    for number, delimiter in enumerate((" ", "\t")):
        path = tmp_path / f"{number}.edgelist"
        nx.write_edgelist(graph, path, delimiter=delimiter)
        again = read_graph(path).to_networkx()
        assert {(int(i), int(j)) for i, j in again.edges} == set(graph.edges)


@pytest.mark.parametrize("text", ["101\n011\n", "1 0 1\n0 1 1\n", "# V by W\n1,0,1\n\n0, 1, 1", "101\r\n011\r\n"])
def test_rows_may_have_blanks_commas_and_comments(tmp_path: Path, text: str) -> None:
    path = tmp_path / "graph.txt"
    path.write_bytes(text.encode())
    graph = read_graph(path)
    assert Encd(graph, 1, 1).matrix.tolist() == [[True, False, True], [False, True, True]]
    assert graph.labels_of(graph.v + graph.w) == [0, 1, 0, 1, 2]


def test_a_matrix_saved_by_numpy_is_read(tmp_path: Path) -> None:
    cells = np.array([[1, 0], [1, 1], [0, 1]])
    np.savetxt(tmp_path / "graph.txt", cells, fmt="%d")
    assert Encd(read_graph(tmp_path / "graph.txt"), 1, 1).matrix.tolist() == cells.astype(bool).tolist()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.edgelist", "x 1\n1 y\n", "line 2: node '1' is in both columns"),
        ("a.edgelist", "x 1\ny\n", "line 2: 1 names, expected two"),
        ("a.edgelist", "x 1 7\n", "line 1: 3 names, expected two"),
        ("a.edgelist", "x\t\n", "line 1: 2 names, expected two"),
        ("a.edgelist", "x 1\nx 1\n", "line 2: edge 'x', '1' occurs twice"),
        ("a.edgelist", "# nothing\n", "no edge, expected at least one"),
        ("a.edgelist", "", "empty, expected a graph"),
        ("a.txt", "101\n0121\n", "line 2: '2', expected rows of 0 and 1"),
        ("a.txt", "101\n01\n", "line 2: 2 columns, expected 3"),
        ("a.txt", "", "empty, expected a graph"),
        ("a.txt", "# nothing\n", "no row, expected the 0/1 biadjacency matrix"),
        ("a.txt", "1.0 0.0\n", r"line 1: '\.', expected rows of 0 and 1"),
        ("a.txt", "1,0,\n,0,1\n", "line 1: a comma without a digit on both sides"),
        ("a.txt", "10\n1,,0\n", "line 2: a comma without a digit on both sides"),
        ("a.txt", "1 -1\n", "line 1: '-', expected rows of 0 and 1"),
        ("a.edgelist", "y 2\nx\x00 1\n", "line 2: a zero byte, expected the text of a graph"),
        ("a.edgelist", "y 2\nx\x01 1\n", r"line 2: 'x\\x01 1', expected names of characters that can be printed"),
        ("a.edgelist", "x 1\x0by 2\n", "line 1: 4 names, expected two"),
        ("a.edgelist", "x\u2060 1\n", "line 1: .*, expected names of characters that can be printed"),
        ("a.edgelist", "x 1 {\n", "line 1: 3 names, expected two"),
        ("a.csv", "101\n", r"expected a name that ends in \.edgelist or \.txt"),
    ],
)
def test_invalid_files_have_one_line_errors(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as refused:
        read_graph(path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"101\n\xff\xfe\n")
    with pytest.raises(InputError, match="line 2: not UTF-8"):
        read_graph(path)
    with pytest.raises(InputError, match="no such file"):
        read_graph(tmp_path / "b.txt")


@pytest.mark.parametrize("name", ["x#y", "x\ty", "", "{}", " x"])
def test_names_that_an_edge_list_cannot_represent_are_refused(tmp_path: Path, name: str) -> None:
    graph = nx.Graph([(name, "w")])
    nx.set_node_attributes(graph, {name: 0, "w": 1}, "bipartite")
    with pytest.raises(InputError, match="names that are equal"):
        write_graph(graph, tmp_path / "a.edgelist")
    assert list(tmp_path.iterdir()) == []


def test_a_file_with_another_ending_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a name that ends in"):
        write_graph(from_matrix([[1]]), tmp_path / "a.csv")


def plain_read(text: str) -> nx.Graph | str:  # type: ignore[type-arg]
    """Return the graph of networkx of an edge list without tabs, or the first mistake, one line after the other."""
    sides: tuple[dict[str, None], dict[str, None]] = ({}, {})
    edges: dict[tuple[str, ...], None] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        content = line.partition("#")[0]
        names = content.partition("{")[0].split()
        if not content.strip():
            continue
        if len(names) != 2:
            return f"line {number}: {len(names)} names, expected two: a node of V and a node of W"
        for side, name in enumerate(names):
            if name in sides[1 - side]:
                return f"line {number}: node {name!r} is in both columns, expected V in the first and W in the second"
            sides[side][name] = None
        if tuple(names) in edges:
            return f"line {number}: edge {names[0]!r}, {names[1]!r} occurs twice, expected once"
        edges[tuple(names)] = None
    if not edges:
        return "no edge, expected at least one" if text.strip() else "empty, expected a graph"
    graph = nx.Graph()
    for side, column in enumerate(sides):
        graph.add_nodes_from(column, bipartite=side)
    graph.add_edges_from(edges)
    return graph


FORMS = [
    ["{} {}"],
    ["{} {} {{}}"],
    ["{}\t{}", "{}\t{}\t{{}}"],
    ["{} {}", "  {}   {} # both", "{} {} {{'weight': 3}}", "é{} {}", "#", ""],
]


@pytest.mark.parametrize("block", [1, 30, 1 << 16])
def test_edge_lists_of_many_forms_are_read_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """The graph, the order of its nodes, and the first mistake are those of a reader of single lines."""
    monkeypatch.setattr(graph_files, "_BLOCK", block)
    outcomes = dict.fromkeys(("graph", "edge", "node", "1 names", "3 names"), 0)
    for seed in range(400):
        draw = random.Random(seed)
        forms, num = draw.choice(FORMS), draw.choice([3, 30])
        pairs = [(f"v{draw.randrange(num)}", f"w{draw.randrange(num)}") for _ in range(draw.choice([2, 40]))]
        if draw.random() < 0.7:
            pairs = list(dict.fromkeys(pairs))
        lines = [draw.choice(forms).format(*pair) for pair in pairs]
        if draw.random() < 0.4:
            wrong = draw.choice(["w0 v0", "x x", "v1", "a b c", "v1 v2", "w1 new"])
            lines.insert(draw.randrange(len(lines)), wrong)
        path = tmp_path / f"{seed}.edgelist"
        path.write_text("\n".join(lines) + draw.choice(["", "\n"]), encoding="utf-8")
        expected = plain_read(path.read_text(encoding="utf-8"))
        if isinstance(expected, str):
            with pytest.raises(InputError) as refused:
                read_graph(path)
            assert str(refused.value) == f"{path}: {expected}"
        else:
            graph = read_graph(path)
            found = graph.to_networkx()
            assert list(found.nodes(data=True)) == list(expected.nodes(data=True))
            assert {frozenset(edge) for edge in found.edges} == {frozenset(edge) for edge in expected.edges}
            assert graph.num_edges == expected.number_of_edges()
            assert (graph.matrix == BipartiteGraph.of(expected).matrix).all()
        for kind in outcomes:
            outcomes[kind] += f": {kind}" in expected if isinstance(expected, str) else kind == "graph"
    assert min(outcomes.values()) >= 5, outcomes


def test_a_mistake_after_a_repeated_edge_is_the_second(tmp_path: Path) -> None:
    (tmp_path / "a.edgelist").write_text("x 1\n\nx 1\ny\n")
    with pytest.raises(InputError, match="line 3: edge 'x', '1' occurs twice"):
        read_graph(tmp_path / "a.edgelist")


@settings(deadline=None)
@given(st.integers(0, 5), st.integers(0, 5), st.data())
def test_a_graph_of_networkx_there_and_back_is_equal(num_v: int, num_w: int, data: st.DataObject) -> None:
    graph = nx.Graph()
    nodes = [(f"v{i}", 0) for i in range(num_v)] + [(f"w{j}", 1) for j in range(num_w)]
    for node, side in data.draw(st.permutations(nodes)):
        graph.add_node(node, bipartite=side)
    edges = [(f"v{i}", f"w{j}") for i in range(num_v) for j in range(num_w)]
    graph.add_edges_from(data.draw(st.lists(st.sampled_from(edges), unique=True)) if edges else [])
    arrays = BipartiteGraph.of(graph)
    assert arrays.v + arrays.w == (*(n for n, side in graph.nodes("bipartite") if side == 0), *arrays.w)
    assert arrays.matrix.tolist() == [[graph.has_edge(i, j) for j in arrays.w] for i in arrays.v]
    back = arrays.to_networkx()
    assert dict(back.nodes("bipartite")) == dict(graph.nodes("bipartite"))
    assert nx.utils.graphs_equal(nx.Graph(back.edges), nx.Graph(graph.edges))
    again = BipartiteGraph.of(back)
    assert (again.v, again.w, again.indices.tolist()) == (arrays.v, arrays.w, arrays.indices.tolist())


def test_labels_of_networkx_are_kept() -> None:
    labelled = from_matrix([[1, 0], [1, 1]]).to_networkx()
    assert BipartiteGraph.of(labelled).labels_of([0, 1, 2, 3]) == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([0, 1], [0], "indptr: expected 3 numbers from 0 to 1, sorted"),
        ([0, 2, 1], [0], "indptr: expected 3 numbers"),
        ([0, 1, 2], [0, 3], r"indices: a position outside 0, \.\.\., 2"),
        ([0, 1, 2], [-1, 0], "indices: a position outside"),
        ([0, 2, 3], [1, 0, 2], "indices: the neighbours of a node are not in increasing order"),
        ([0, 0, 2], [1, 1], "indices: the neighbours of a node are not in increasing order"),
    ],
)
def test_arrays_that_are_no_graph_are_refused(indptr: list[int], indices: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BipartiteGraph(("a", "b"), (0, 1, 2), np.array(indptr), np.array(indices))
    BipartiteGraph(("a", "b"), (0, 1, 2), np.array([0, 2, 3]), np.array([1, 2, 0]))


def test_nodes_and_labels_are_checked() -> None:
    ends, none = np.array([0, 0]), np.zeros(0, dtype=np.int32)
    with pytest.raises(InputError, match="a node that occurs twice"):
        BipartiteGraph(("a",), ("a",), ends, none)
    with pytest.raises(InputError, match="w_labels: 2 labels, expected 1"):
        BipartiteGraph(("a",), ("b",), ends, none, ("A",), ("B", "C"))


def test_a_graph_is_frozen() -> None:
    indices = np.array([0, 1], dtype=np.int32)
    graph = BipartiteGraph(("a",), (0, 1), np.array([0, 2]), indices)
    indices[1] = 0
    assert graph.neighbours("a") == (0, 1)
    for array in (graph.indptr, graph.indices, graph.matrix):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_sparse_graph_is_searched_without_its_matrix(tmp_path: Path) -> None:
    """200,000 nodes and a biclique of 3 by 4: the search keeps what can be part of it."""
    edges = [f"v{i} w{i}\n" for i in range(100_000)]
    edges += [f"v{i} w{j}\n" for i in (7, 70, 700) for j in (9, 99, 999, 9999)]
    (tmp_path / "sparse.edgelist").write_text("".join(edges))
    graph = read_graph(tmp_path / "sparse.edgelist")
    found = solve_encd(Encd(graph, 3, 4)).biclique
    assert found == Biclique(("v7", "v70", "v700"), ("w9", "w99", "w999", "w9999"))
    assert not solve_encd(Encd(graph, 3, 5)).exists
    for needs_matrix in (lambda: ToMu1().apply(Encd(graph, 3, 4)), lambda: solve_encd(Encd(graph, 1, 1))):
        with pytest.raises(InputError, match="graph: 100000 nodes of V by 100000 of W, expected at most 268435456"):
            needs_matrix()


def test_networkx_is_loaded_for_its_own_graphs_only(tmp_path: Path) -> None:
    write_graph(from_matrix([[1, 1], [0, 1]]), tmp_path / "a.txt")
    script = (
        "import sys; from hindsched.reductions import *; graph = read_graph(sys.argv[1]);"
        "solve_encd(Encd(graph, 1, 2));"
        "assert 'networkx' not in sys.modules; graph.to_networkx(); assert 'networkx' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.txt")], check=True)
