"""The commands that verify graphs and solvers, called as a user does."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from click.testing import CliRunner

from hindsched.bench.commands.biclique import biclique
from hindsched.bench.commands.reduce import reduce
from hindsched.bench.commands.verify import verify_reductions, verify_solvers
from hindsched.bench.coupled.verify import blocks, theorem
from hindsched.bench.coupled.verify.agreement import QUESTIONS, agree, random_instance
from hindsched.bench.coupled.verify.general_agreement import agree_in_general, general_instance
from hindsched.bench.verification import Sample
from hindsched.instances import InputError, SelfCheckError, read
from hindsched.offline.coupled.no_communication import team_plain as plain
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.results import Status
from hindsched.reductions import Biclique, Encd, ToMu1, ToMuInf, from_matrix, read_graph, write_graph

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
def test_a_and_b_are_given_together(files: list[str], arguments: list[str]) -> None:
    assert CliRunner().invoke(biclique, [files[0], *arguments]).exit_code == 2


def test_an_unsuitable_solver_is_refused(files: list[str]) -> None:
    for arguments, message in (
        (["--solver", "cpsat"], "the graph itself is searched"),
        (["--solver", "nobody", "--via", "mu1"], "expected auto or one of periods"),
    ):
        result = CliRunner().invoke(biclique, [*files, "-a", "1", "-b", "1", *arguments])
        assert isinstance(result.exception, InputError)
        assert message in str(result.exception)
        assert result.stdout == ""


def test_a_solver_that_does_not_apply_to_a_file_names_it(tmp_path: Path) -> None:
    write_graph(from_matrix([[1, 0, 1]]), tmp_path / "gap.txt")
    arguments = [str(tmp_path / "gap.txt"), "-a", "1", "-b", "2", "--via", "mu1", "--solver", "periods"]
    result = CliRunner().invoke(biclique, arguments, standalone_mode=False)
    assert result.return_value == 2
    assert result.stderr.startswith(f"hindsched: {tmp_path / 'gap.txt'}: solver: periods: a worker is RECLAIMED")


@pytest.mark.parametrize("via", ["direct", "mu1", "muinf"])
def test_very_large_numbers_are_answered(files: list[str], via: str) -> None:
    for a, b in ((10**30, 1), (1, 10**30), (4, 4)):
        result = CliRunner().invoke(biclique, [files[0], "-a", str(a), "-b", str(b), "--via", via, "--json"])
        assert json.loads(result.stdout)["exists"] is False


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
    assert "15 questions are tests, not a proof" in text
    assert list(tmp_path.iterdir()) == []


def test_verify_reductions_says_how_long_it_takes_and_has_a_quick_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def count(kind: str, numbers: range, **how: Any) -> theorem.Count:
        tried.append((kind, how["most"]))
        return theorem.Count()

    monkeypatch.setattr(theorem, "verify", count)
    result = CliRunner().invoke(verify_reductions, [])
    assert "takes about 3 minutes on one processor, with --quick about 10 seconds\n" in result.stderr
    assert tried.pop(0) == ("small", 4)
    tried.clear()
    result = CliRunner().invoke(verify_reductions, ["--quick"])
    assert "minutes" not in result.stderr
    assert tried[0] == ("small", 3)
    assert (
        "--graphs: not used with --quick" in CliRunner().invoke(verify_reductions, ["--quick", "--graphs", "7"]).output
    )


def test_an_interrupted_verification_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_BLOCK", 4)
    arguments = ["--kind", "planted", "--kind", "near-miss", "--graphs", "10", "--json"]
    plainly = CliRunner().invoke(verify_reductions, [*arguments, "--failures", str(tmp_path / "failures")]).stdout
    kept = [*arguments, "--results", str(tmp_path / "kept"), "--failures", str(tmp_path / "failures")]
    verified = []

    def stop_at_the_third(*given: object) -> dict[str, object]:
        verified.append(given[:3])
        if len(verified) == 3:
            raise KeyboardInterrupt
        return verify_some(*given)

    verify_some = blocks._verify_some
    monkeypatch.setattr(blocks, "_verify_some", stop_at_the_third)
    assert CliRunner().invoke(verify_reductions, kept).exit_code == 1
    assert CliRunner().invoke(verify_reductions, kept).stdout == plainly
    assert verified == [*[("planted", *block) for block in ((0, 4), (4, 8), (8, 10))], ("planted", 8, 10)] + [
        ("near-miss", *block) for block in ((0, 4), (4, 8), (8, 10))
    ]


def test_blocks_of_instances_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_BLOCK", 5)
    arguments = ["--instances", "12", "--solver", "plain", "--solver", "brute", "--json"]
    first = CliRunner().invoke(verify_solvers, [*arguments, "--results", str(tmp_path)])
    assert first.stdout == CliRunner().invoke(verify_solvers, arguments).stdout
    monkeypatch.setattr(blocks, "_agree_on_some", None)  # nothing is left to do
    assert CliRunner().invoke(verify_solvers, [*arguments, "--results", str(tmp_path)]).stdout == first.stdout


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
    answered = agree(Sample(90, seed=2))
    assert answered["plain"] == answered["cpsat"] == answered["highs"] == answered["cbc"] == 90
    assert answered["brute"] >= 50
    assert answered["periods"] >= 15


def test_the_sample_has_every_kind_of_instance() -> None:
    drawn = [random_instance(number) for number in range(60)]
    assert {bound for instance in drawn for bound in instance.mu} >= {None, 1, 2}
    assert {len(set(instance.w)) > 1 for instance in drawn} == {True, False}
    assert {bool((instance.states == 2).any()) for instance in drawn} == {True, False}


def test_a_disagreement_is_a_file_and_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "possible_lengths", lambda problem: [])
    with pytest.raises(SelfCheckError, match="back ends disagree"):
        agree(Sample(200, failures=tmp_path), ["plain", "brute"])
    (path,) = tmp_path.iterdir()
    assert read(path).num_workers >= 1
    assert any(path.name.startswith(question) for question in QUESTIONS)


def test_verify_solvers_prints_the_solvers_that_answered() -> None:
    result = CliRunner().invoke(
        verify_solvers, ["--instances", "12", "--solver", "plain", "--solver", "brute", "--json"]
    )
    assert [json.loads(line)["solver"] for line in result.stdout.splitlines()] == ["plain", "brute"]


def test_the_general_solvers_agree_on_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_BLOCK", 5)
    arguments = ["--general", "--instances", "12", "--json"]
    plainly = CliRunner().invoke(verify_solvers, arguments).stdout
    counts = {row["solver"]: row["instances"] for row in map(json.loads, plainly.splitlines())}
    assert list(counts) == ["native", "native-in-rounds", "cpsat", "brute"]
    assert counts["native"] == counts["native-in-rounds"] == counts["cpsat"] == 12
    assert 1 <= counts["brute"] < 12
    kept = [*arguments, "--results", str(tmp_path)]
    assert CliRunner().invoke(verify_solvers, kept).stdout == plainly
    monkeypatch.setattr(blocks, "_agree_on_some", None)  # nothing is left to do
    assert CliRunner().invoke(verify_solvers, kept).stdout == plainly


def test_the_general_sample_has_every_kind_of_instance() -> None:
    drawn = [general_instance(number) for number in range(90)]
    assert {bound for instance in drawn for bound in instance.mu} >= {None, 1, 2, 3}
    assert {instance.t_prog for instance in drawn} == {0, 1, 2, 3, 4}
    assert {instance.iterations for instance in drawn} == {1, 2, 3, 4}
    assert {instance.n_com is None for instance in drawn} == {True, False}


def test_a_disagreement_of_general_solvers_is_a_file_and_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lie(instance: object, objective: Objective, *_: object, **__: object) -> CoupledResult:
        return CoupledResult.of(Status.INFEASIBLE, objective, None, None, None, "cpsat", 0.0)

    monkeypatch.setattr("hindsched.offline.coupled.models.cpsat_solver.solve", lie)
    with pytest.raises(SelfCheckError, match="solvers disagree"):
        agree_in_general(Sample(50, failures=tmp_path), ["native", "cpsat"])
    (path,) = tmp_path.iterdir()
    assert read(path) == general_instance(int(path.stem.split("-")[-1]))


def test_an_unknown_general_solver_is_refused(tmp_path: Path) -> None:
    for arguments in ([], ["--results", str(tmp_path)]):
        result = CliRunner().invoke(verify_solvers, ["--general", "--solver", "nobody", *arguments])
        assert isinstance(result.exception, InputError)
        assert "solver: 'nobody'" in str(result.exception)
