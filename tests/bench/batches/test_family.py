"""The commands on batches: generated, imported, solved, run, checked, drawn, scored, reproduced."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

import instances
from bench.batches.family import FAMILY, expect_sandwich
from bench.cli import hindsched
from bench.family import Options
from instances import SelfCheckError
from instances.batches import Rung
from instances.batches.generate import paper, small
from offline import solve
from online.batches import POLICIES, run_policy


def invoke(*arguments: object, code: int = 0) -> Any:
    result = CliRunner().invoke(hindsched, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def rows(*arguments: object, code: int = 0) -> list[dict[str, Any]]:
    return [json.loads(line) for line in invoke(*arguments, "--json", code=code).stdout.splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.json"
    invoke("generate", "--family", "batches", "--small", "--seed", 3, "--tasks", 2, "-o", path)
    return path


def test_generate(file: Path, tmp_path: Path) -> None:
    assert instances.read(file) == small(3, tasks=2)
    flags = [
        "--workers",
        5,
        "--tasks",
        2,
        "--deadline",
        "1h",
        "--c",
        600,
        "--batches",
        3,
        "--first-day",
        20,
        "--seed",
        2,
    ]
    invoke("generate", "--family", "batches", *flags, "--drawn", "-o", tmp_path / "d.json")
    invoke("generate", "--family", "batches", *flags, "-o", tmp_path / "s.json")
    drawn, spelled = (instances.read(tmp_path / name) for name in ("d.json", "s.json"))
    assert drawn == paper(workers=5, tasks=2, deadline_s=3600, c=600, batches=3, first_day=20, seed=2)
    assert spelled != drawn
    assert (spelled.up.ups == drawn.up.ups).all()
    invoke("generate", "--family", "batches", "--deadline", "soon", code=2)


def test_simulate_tells_the_lists_of_the_model(file: Path) -> None:
    instance = instances.read(file)
    found = rows("simulate", file)
    assert {row["policy"] for row in found} <= set(POLICIES)
    for row in found:
        run = run_policy(instance, row["policy"])
        assert row["satisfied"] == list(run.satisfied)
        assert row["latency"] == list(run.latency)
        assert row["all_contacts"] == run.all_contacts
        for name in ("copies", "requests", "distributed", "contacts"):
            assert row[name] == list(getattr(run, name))
    (row,) = rows("simulate", file, "--policy", "A2", "--option", "overdue=drop", "--option", "p0=3")
    assert (row["overdue"], row["p0"]) == ("drop", 3)


def test_solve_and_check_the_rungs(file: Path, tmp_path: Path) -> None:
    run, best, claim = (tmp_path / name for name in ("run.json", "best.json", "claim.json"))
    invoke("simulate", file, "--policy", "A3-copies", "--schedule", run)
    (checked,) = rows("check", file, run)
    assert checked["valid"]
    for rung in Rung:
        of = ["--of", run]
        (row,) = rows("solve", file, "--rung", rung, *of, "--schedule", best)
        assert (row["rung"], row["status"], row["value"]) == (rung, "optimal", sum(row["satisfied"]))
        assert row["satisfied_tasks"] == row["value"] == row["lower"] == row["upper"]
        assert row["value"] >= sum(checked["satisfied"])
        claim.write_text(json.dumps(row))
        assert rows("check", file, claim, *of)[0]["valid"]
        assert rows("check", file, best, *of)[0]["satisfied"] == row["satisfied"]
        del row["format"]  # somebody else's claim
        row["satisfied"][0] += 1
        claim.write_text(json.dumps(row))
        (refused,) = rows("check", file, claim, *of, code=1)
        assert (refused["rule"], refused["time"]) == ("H3", instances.read(file).batches[0][1])


def test_a_rung_needs_its_run(file: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(hindsched, ["solve", str(file), "--rung", "stream"])
    assert "expected the run it is measured by" in result.output
    text = {"format": "batches-run/1", "instance": "", "rung": "traffic", "contacts": []}
    (tmp_path / "r.json").write_text(json.dumps(text))
    result = CliRunner().invoke(hindsched, ["check", str(file), str(tmp_path / "r.json")])
    assert isinstance(result.exception, instances.InputError)


def test_import(tmp_path: Path) -> None:
    table = tmp_path / "t.tab"
    table.write_text("1 0 1 1 a 1 0 864000 x\n2 0 2 1 b 0 0 500000 x\n3 0 2 1 b 1 500000 864000 x\n")
    flags = ["--tasks", 2, "--deadline", "1h", "--batches", 2, "--first-day", 8, "--homogeneous"]
    invoke("import", table, "--family", "batches", *flags, "-o", tmp_path / "i.json")
    instance = instances.read(tmp_path / "i.json")
    assert instance.c == (1800, 1800)
    assert [instance.up.of_worker(j).tolist() for j in range(2)] == [[[0, 864000]], [[500000, 864000]]]
    assert instance.start == 86_400


def test_gantt(file: Path, tmp_path: Path) -> None:
    invoke("simulate", file, "--policy", "A2", "--schedule", tmp_path / "r.json")
    invoke("gantt", file, tmp_path / "r.json", "-o", tmp_path / "g.svg")
    assert (tmp_path / "g.svg").read_text().count("<path") > 10


def test_rungs_are_asserted_for_every_row(file: Path) -> None:
    instance = instances.read(file)
    played = FAMILY.run(instance, "A2", Options(), 0)
    row = FAMILY.replay(instance, played, "A2")
    assert row["free"] >= row["traffic"] >= row["stream"] >= (played.value or 0)
    run = run_policy(instance, "A2")
    rungs = {rung: solve(instance, rung, of=run.run).certificate for rung in Rung}
    expect_sandwich("x", rungs, run)
    num = instance.num_batches
    for impossible in (
        SimpleNamespace(satisfied=(instance.tasks + 1,) * num, latency=(None,) * num),
        SimpleNamespace(satisfied=(0,) * num, latency=(0,) * num),
    ):
        with pytest.raises(SelfCheckError, match="by the run"):
            expect_sandwich("x", rungs, impossible)


def test_score(file: Path, tmp_path: Path) -> None:
    found = rows("score", file, "--policy", "A1", "--policy", "A3-copies", "--jobs", 1, "--results", tmp_path / "r")
    assert {row["policy"] for row in found} == {"A1", "A3-copies"}
    for row in found:
        assert row["median"] is None or row["median"] >= 1
        assert row["over_stream"] is None or 1 <= row["over_stream"] <= row["over_traffic"]


def test_reproduce(tmp_path: Path) -> None:
    flags = ["--days", 12, "--batches", 2, "--scale", 0.004, "--jobs", 1, "--results", tmp_path]
    first = rows("reproduce", "--family", "batches", *flags)
    assert {"Theorem 1", "Hypothesis 1", "Figure 8"} <= {row["source"] for row in first}
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert len(lines) == 4 * (13 + 2 * 5) + 2  # the runs, the arrivals, Theorem 1
    for name in ("table.csv", "claims.md", "arrivals.csv", "requests.svg", "satisfied.svg"):
        assert (tmp_path / name).stat().st_size > 0
    assert rows("reproduce", "--family", "batches", *flags) == first
    assert rows("reproduce", "--family", "batches", *flags, "--held") == first
    assert (tmp_path / "runs.jsonl").read_text().splitlines() == lines
    flags[1] = 13
    invoke("reproduce", "--family", "batches", *flags, "--held", code=1)


def test_bench_requests_answers_three_questions(tmp_path: Path) -> None:
    size = ["--workers", 60, "--tasks", 3, "--batches", 4, "--crowds", 2, "--jobs", 1, "--results", tmp_path]
    found = rows("bench", "requests", *size)
    assert [row["question"] for row in found].count("requests") == 6
    assert [row["question"] for row in found].count("begin") == 8
    closing = [row for row in found if row["question"] == "closing"]
    assert {(row["overdue"], row["runs"]) for row in closing} == {("carry", 2), ("drop", 2)}
    assert sum(row["stuck"] for row in closing if row["overdue"] == "carry") > 0
    for row in found:
        if row["stream_tasks"] is not None:
            assert row["stream_tasks"] >= row["satisfied_tasks"]
            assert row["stream_batches"] >= row["satisfied_batches"]
    assert rows("bench", "requests", *size) == found  # from the folder
