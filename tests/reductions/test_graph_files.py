"""Graph files: reading, writing, and one-line errors."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsched.instances import InputError
from hindsched.reductions import Encd, from_matrix, read_graph, write_graph
from hindsched.reductions.graph_files import label


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
    again = read_graph(tmp_path / "davis.edgelist")
    assert set(again.edges) == set(graph.edges)
    assert [again.nodes[node]["bipartite"] for node in ("Evelyn Jefferson", "E1")] == [0, 1]


def test_files_of_networkx_are_read(tmp_path: Path) -> None:
    graph = nx.bipartite.random_graph(5, 6, 0.5, seed=1)
    for number, delimiter in enumerate((" ", "\t")):
        path = tmp_path / f"{number}.edgelist"
        nx.write_edgelist(graph, path, delimiter=delimiter)
        again = read_graph(path)
        assert {(int(i), int(j)) for i, j in again.edges} == set(graph.edges)


@pytest.mark.parametrize("text", ["101\n011\n", "1 0 1\n0 1 1\n", "# V by W\n1,0,1\n\n0, 1, 1", "101\r\n011\r\n"])
def test_rows_may_have_blanks_commas_and_comments(tmp_path: Path, text: str) -> None:
    path = tmp_path / "graph.txt"
    path.write_bytes(text.encode())
    graph = read_graph(path)
    assert Encd(graph, 1, 1).matrix.tolist() == [[True, False, True], [False, True, True]]
    assert [label(graph, node) for node in graph] == [0, 1, 0, 1, 2]


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
