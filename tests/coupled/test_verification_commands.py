"""The commands about graphs and solvers, from the outside."""

import json
from pathlib import Path

import networkx as nx
import pytest
from click.testing import CliRunner

from bench.commands.biclique import biclique
from bench.commands.reduce import reduce
from bench.commands.verify_reductions import verify_reductions
from bench.commands.verify_solvers import verify_solvers
from bench.coupled.agreement import QUESTIONS, agree, random_instance
from bench.coupled.general_agreement import agree_in_general, general_instance
from instances import InputError, SelfCheckError, read
from offline.coupled.common_slots import plain
from offline.results import Status
from reductions import Biclique, Encd, ToMu1, ToMuInf, from_matrix, read_graph, write_graph

PATH = nx.Graph([("x", "1"), ("y", "1"), ("y", "2")])
nx.set_node_attributes(PATH, {"x": 0, "y": 0, "1": 1, "2": 1}, "bipartite")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    write_graph(from_matrix([[1, 1, 0], [1, 1, 1]]), tmp_path / "a.txt")
    write_graph(PATH, tmp_path / "b.edgelist")
    return [str(tmp_path / "a.txt"), str(tmp_path / "b.edgelist")]


@pytest.mark.parametrize("way", [["--via", "direct"], ["--via", "mu1"], ["--via", "muinf", "--solver", "cpsat"]])
def test_bicliques_are_decided_in_the_order_of_the_files(files: list[str], way: list[str]) -> None:
    result = CliRunner().invoke(biclique, [*files, "-a", "2", "-b", "2", "--json", *way])
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"file": files[0], "exists": True, "v": [0, 1], "w": [0, 1]},
        {"file": files[1], "exists": False, "v": None, "w": None},
    ]


def test_nodes_are_named_as_in_the_edge_list(files: list[str]) -> None:
    result = CliRunner().invoke(biclique, [files[1], "--largest", "edges", "--json"])
    assert json.loads(result.stdout) == {"file": files[1], "exists": True, "v": ["y"], "w": ["1", "2"]}
    assert "y" in CliRunner().invoke(biclique, [files[1], "--largest", "nodes"]).stdout


def test_a_bad_file_does_not_stop_the_others(files: list[str]) -> None:
    result = CliRunner().invoke(
        biclique, ["missing.txt", files[0], "-a", "1", "-b", "3", "--json"], standalone_mode=False
    )
    assert result.return_value == 2
    assert json.loads(result.stdout)["v"] == [1]
    assert "missing.txt: no such file" in result.stderr


@pytest.mark.parametrize(
    "arguments", [["-a", "1"], ["-a", "1", "-b", "0"], [], ["-a", "1", "-b", "1", "--largest", "edges"]]
)
def test_a_question_must_be_whole(files: list[str], arguments: list[str]) -> None:
    assert CliRunner().invoke(biclique, [files[0], *arguments]).exit_code == 2


def test_a_solver_of_no_use_is_refused(files: list[str]) -> None:
    result = CliRunner().invoke(biclique, [files[0], "-a", "1", "-b", "1", "--solver", "cpsat"], standalone_mode=False)
    assert (result.return_value, "the graph itself is searched" in result.stderr) == (2, True)


def test_the_reduced_instance_is_written(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "instance.json"
    arguments = [files[0], "-a", "2", "-b", "2", "--to", "muinf"]
    assert CliRunner().invoke(reduce, [*arguments, "-o", str(out)]).exit_code == 0
    expected, _ = ToMuInf().apply(Encd(read_graph(files[0]), 2, 2))
    assert read(out) == expected
    assert CliRunner().invoke(reduce, arguments).stdout == out.read_text()


def test_verify_reductions_counts_by_kind_and_explains(tmp_path: Path) -> None:
    arguments = ["--kind", "near-miss", "--kind", "blocks", "--graphs", "5", "--failures", str(tmp_path)]
    result = CliRunner().invoke(verify_reductions, [*arguments, "--json"])
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["kind"], row["graphs"], row["yes"] + row["no"]) for row in rows] == [
        ("near-miss", 5, 10),
        ("blocks", 5, 5),
    ]
    text = CliRunner().invoke(verify_reductions, arguments).stdout
    assert "uru completes the iteration in 3 slots, udu never does" in text
    assert "With UP and DOWN only the problem is easy" in text
    assert list(tmp_path.iterdir()) == []


def test_a_counter_example_is_a_file_and_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToMu1, "backward", lambda self, witness, data: Biclique((), ()))
    result = CliRunner().invoke(verify_reductions, ["--kind", "planted", "--graphs", "3", "--failures", str(tmp_path)])
    assert isinstance(result.exception, SelfCheckError)
    (path,) = tmp_path.iterdir()
    assert str(path) in str(result.exception)
    assert Encd(read_graph(path), 1, 1).matrix.size > 0


def test_an_unknown_kind_or_solver_is_refused() -> None:
    for arguments, message in ((["--kind", "nice"], "kind: 'nice'"), (["--solver", "nobody"], "solver: 'nobody'")):
        result = CliRunner().invoke(verify_reductions, ["--graphs", "1", *arguments])
        assert isinstance(result.exception, InputError)
        assert message in str(result.exception)


def test_all_back_ends_agree_on_a_sample() -> None:
    answered = agree(instances=90, seed=2)
    assert answered["plain"] == answered["cpsat"] == answered["highs"] == answered["cbc"] == 90
    assert answered["brute"] >= 50
    assert answered["windows"] >= 15


def test_the_sample_has_every_kind_of_instance() -> None:
    drawn = [random_instance(number) for number in range(60)]
    assert {bound for instance in drawn for bound in instance.mu} >= {None, 1, 2}
    assert {len(set(instance.w)) > 1 for instance in drawn} == {True, False}
    assert {bool((instance.states == 2).any()) for instance in drawn} == {True, False}


def test_a_disagreement_is_a_file_and_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "levels", lambda problem: [])
    with pytest.raises(SelfCheckError, match="back ends disagree"):
        agree(instances=200, solvers=["plain", "brute"], failures=tmp_path)
    (path,) = tmp_path.iterdir()
    assert read(path).num_workers >= 1
    assert any(path.name.startswith(question) for question in QUESTIONS)


def test_verify_solvers_prints_who_answered() -> None:
    result = CliRunner().invoke(
        verify_solvers, ["--instances", "12", "--solver", "plain", "--solver", "brute", "--json"]
    )
    assert [json.loads(line)["solver"] for line in result.stdout.splitlines()] == ["plain", "brute"]


def test_the_general_solvers_agree_on_a_sample() -> None:
    arguments = ["--general", "--instances", "9", "--first", "300", "--json"]
    rows = [json.loads(line) for line in CliRunner().invoke(verify_solvers, arguments).stdout.splitlines()]
    assert [tuple(row.values()) for row in rows] == [
        ("native", 9),
        ("native-in-rounds", 9),
        ("cpsat", 9),
        ("brute", 3),
    ]


def test_the_general_sample_has_every_kind_of_instance() -> None:
    drawn = [general_instance(number) for number in range(90)]
    assert {bound for instance in drawn for bound in instance.mu} >= {None, 1, 2, 3}
    assert {instance.t_prog for instance in drawn} == {0, 1, 2, 3, 4}
    assert {instance.iterations for instance in drawn} == {1, 2, 3, 4}
    assert {instance.n_com is None for instance in drawn} == {True, False}


def test_a_disagreement_of_general_solvers_is_a_file_and_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "offline.coupled.cpsat.Search.makespan",
        lambda search: search._result("makespan", Status.INFEASIBLE, None, None, None),
    )
    with pytest.raises(SelfCheckError, match="solvers disagree"):
        agree_in_general(instances=50, solvers=["native", "cpsat"], failures=tmp_path)
    (path,) = tmp_path.iterdir()
    assert read(path) == general_instance(int(path.stem.split("-")[-1]))


def test_general_options_are_checked() -> None:
    for arguments, message in (
        (["--general", "--solver", "nobody"], "solver: 'nobody'"),
        (["--first", "3"], "--first"),
    ):
        result = CliRunner().invoke(verify_solvers, ["--instances", "1", *arguments])
        assert isinstance(result.exception, InputError)
        assert message in str(result.exception)
