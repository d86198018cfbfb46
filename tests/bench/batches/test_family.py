"""The commands on batches: generated, imported, solved, run, checked, drawn, scored, reproduced."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from hindsched import instances
from hindsched.bench.batches.family import FAMILY
from hindsched.bench.batches.hindsight_order import expect_ordered
from hindsched.bench.commands.group import hindsched
from hindsched.bench.run_records import Options, RunRecord
from hindsched.instances import SelfCheckError
from hindsched.instances.batches import Contacts, Instance, Run, Rung
from hindsched.instances.batches.cut_certificate import CUT_FORMAT
from hindsched.instances.batches.generate import paper, small
from hindsched.offline import solve
from hindsched.online.batches import POLICIES, run_policy
from hindsched.online.batches import Options as OnlineOptions


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


def test_simulate_prints_the_lists_of_the_model(file: Path) -> None:
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
    (row,) = rows("simulate", file, "--policy", "A3-copies", "--option", "copies=3")
    run = run_policy(instance, "A3-copies", OnlineOptions(copies=3))
    assert (row["option_copies"], row["copies"]) == (3, list(run.copies))


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
        del row["format"]  # not a document of this toolkit
        row["satisfied"][0] += 1
        claim.write_text(json.dumps(row))
        (refused,) = rows("check", file, claim, *of, code=1)
        assert (refused["rule"], refused["time"]) == ("H3", instances.read(file).batches[0][1])


def test_a_rung_needs_its_run(file: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(hindsched, ["solve", str(file), "--rung", "stream"])
    assert "expected the run that defines it" in result.output
    result = CliRunner().invoke(hindsched, ["solve", str(file), "--of", str(file)])
    assert "--of: not used without --rung traffic or stream" in result.output
    result = CliRunner().invoke(hindsched, ["solve", str(file), "--threads", "2"])
    assert "--threads: the solvers of batches use one" in result.output
    text = {"format": "batches-run/1", "instance": "", "rung": "traffic", "contacts": []}
    (tmp_path / "r.json").write_text(json.dumps(text))
    result = CliRunner().invoke(hindsched, ["check", str(file), str(tmp_path / "r.json")])
    assert isinstance(result.exception, instances.InputError)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[0, 99]], "second 0: F broken: worker 99"),
        ([[3, 0], [1, 0]], "second 1: F broken"),
        ([[2, 0], [2, 0]], "second 2: V5 broken"),
        ([[-5, 0]], "second -5: V5 broken"),
        ([[99_999, 0]], "second 99999: V6 broken"),
        ([[4, 0]], "second 4: V1 broken"),
        ([[2, 0], [3]], "F broken: contacts[1]"),
    ],
)
def test_a_rung_is_measured_by_a_run_of_the_instance(rows: list, reason: str, tmp_path: Path) -> None:
    instance = Instance(tasks=1, batches=[(0, 9)], c=[1], up=[[(0, 4), (5, 9)]])
    file, run, claim = (tmp_path / name for name in ("i.json", "r.json", "claim.json"))
    instances.write(instance, file)
    claim.write_text(json.dumps({"format": CUT_FORMAT, "rung": "stream", "satisfied": [1], "cut": [[]]}))
    for wrong in (False, True):
        contacts = rows if wrong else [[2, 0, 0, 0, 77]]  # what was sent does not matter
        run.write_text(json.dumps({"format": "batches-run/1", "instance": "x", "contacts": contacts}))
        for command in (["solve", file, "--rung", "traffic"], ["check", file, claim]):
            result = CliRunner().invoke(hindsched, [*map(str, command), "--of", str(run)])
            said = result.stderr + str(result.exception or "")
            assert ("not a run of this instance: " + reason in said) == wrong
            assert (f"{run}: not a run" if wrong else f"{run}: made for another instance;") in said
    text = instances.read_schedule(run)
    with pytest.raises(instances.InputError, match="not a run of this instance"):
        solve(instance, "traffic", of=text)
    with pytest.raises(instances.InputError, match="not a run of this instance"):
        instances.check(instance, instances.read_schedule(claim), of=text)


def test_one_run_goes_with_one_instance(file: Path, tmp_path: Path) -> None:
    invoke("simulate", file, "--policy", "A2", "--schedule", tmp_path / "r.json")
    result = invoke("solve", file, file, "--rung", "stream", "--of", tmp_path / "r.json", code=2)
    assert "--of goes with one FILE" in result.output


def test_cuts_are_no_run(file: Path, tmp_path: Path) -> None:
    claim = tmp_path / "claim.json"
    claim.write_text(invoke("solve", file, "--json").stdout)
    refused = (
        ["gantt", file, claim, "-o", tmp_path / "g.svg"],
        ["check", file, claim, "--of", claim],
    )
    for command in refused:
        result = CliRunner().invoke(hindsched, [str(word) for word in command])
        assert isinstance(result.exception, instances.InputError)
        assert result.exception.expected == "cuts, expected a run"


def test_import(tmp_path: Path) -> None:
    table = tmp_path / "t.tab"
    table.write_text("1 0 1 1 a 1 0 864000 x\n2 0 2 1 b 0 0 500000 x\n3 0 2 1 b 1 500000 864000 x\n")
    flags = ["--tasks", 2, "--deadline", "1h", "--batches", 2, "--first-day", 8, "--homogeneous"]
    messages = invoke("import", table, "--family", "batches", *flags, "-o", tmp_path / "i.json").stderr
    assert messages.splitlines()[-3:] == [
        "UP in the 612000 seconds to the last deadline: 66.2% of all",
        "  worker 0: 100.0% UP, 0 changes, longest absence 0 seconds",
        "  worker 1: 32.4% UP, 1 change, longest absence 413600 seconds",
    ]
    instance = instances.read(tmp_path / "i.json")
    assert instance.c == (1800, 1800)
    assert [instance.up.of_worker(j).tolist() for j in range(2)] == [[[0, 864000]], [[500000, 864000]]]
    assert instance.start == 86_400
    flags[flags.index(8)] = 10
    refused = CliRunner().invoke(hindsched, ["import", str(table), "--family", "batches", *map(str, flags)])
    assert str(refused.exception).startswith(
        "--first-day: 10, expected less than 10: no worker is UP after the first 10 days"
    )
    assert not refused.stdout
    table.write_text("2 0 2 1 b 0 0 500000 x\n3 0 2 1 b 1 500000 864000 x\n")
    flags[flags.index(10)] = 1
    messages = invoke("import", table, "--family", "batches", *flags, "-o", tmp_path / "i.json").stderr
    assert messages.splitlines()[-1].startswith("no worker is UP: --first-day counts from the beginning of the trace")


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
    expect_ordered("x", rungs, run)
    num = instance.num_batches
    for impossible in (
        SimpleNamespace(satisfied=(instance.tasks + 1,) * num, latency=(None,) * num),
        SimpleNamespace(satisfied=(0,) * num, latency=(0,) * num),
    ):
        with pytest.raises(SelfCheckError, match="by the run"):
            expect_ordered("x", rungs, impossible)


def test_lateness_looks_at_the_batches_that_the_run_satisfied() -> None:
    """One batch is satisfied in 4 s (least times: 2, 3 and 4 s), one is partly in time, and one not at all."""
    batches = [(0, 5), (10, 15), (20, 25)]
    instance = Instance(tasks=2, batches=batches, c=[2, 2, 2], up=[[(0, 30)]] * 3)
    rows = [(0, 0, 0, 0, 2), (1, 0), (2, 1, 0, 1, 4), (10, 0, 1, 0, 12), (14, 0, 1, 1, 16)]
    run = Run(instance.fingerprint, Contacts.of(rows))
    row = FAMILY.replay(instance, RunRecord("mine", 3, None, run, {}), "mine")
    assert (row["lateness_free"], row["lateness_traffic"], row["lateness_stream"]) == (4 / 2, 4 / 3, 4 / 4)
    nothing = Run(instance.fingerprint, Contacts.of(rows[:1]))
    row = FAMILY.replay(instance, RunRecord("mine", 1, None, nothing, {}), "mine")
    assert row["lateness_free"] is row["lateness_traffic"] is row["lateness_stream"] is None


def test_score(file: Path, tmp_path: Path) -> None:
    found = rows("score", file, "--policy", "A1", "--policy", "A3-copies", "--jobs", 1, "--results", tmp_path / "r")
    assert {row["policy"] for row in found} == {"A1", "A3-copies"}
    for row in found:
        assert row["median"] is None or row["median"] >= 1
        assert row["over_stream"] is None or 1 <= row["over_stream"] <= row["over_traffic"]
    for row in map(json.loads, (tmp_path / "r" / "runs.jsonl").read_text().splitlines()):
        if row.get("lateness_free") is not None:
            assert row["lateness_free"] >= row["lateness_traffic"] >= row["lateness_stream"] >= 1


def test_reproduce(tmp_path: Path) -> None:
    flags = ["--days", 12, "--batches", 2, "--scale", 0.004, "--jobs", 1, "--results", tmp_path]
    first = rows("reproduce", "--family", "batches", *flags)
    assert {row["part"] for row in first} == {"arrivals", "batches"}
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert len(lines) == sum(row["runs"] for row in first) == 4 * (13 + 2 * 5)
    for name in ("table.csv", "batches_runs.csv", "requests.svg", "satisfied.svg"):
        assert (tmp_path / name).stat().st_size > 0
    assert rows("reproduce", "--family", "batches", *flags) == first
    assert rows("reproduce", "--family", "batches", *flags, "--held") == first
    assert (tmp_path / "runs.jsonl").read_text().splitlines() == lines
    flags[1] = 13
    invoke("reproduce", "--family", "batches", *flags, "--held", code=1)


def test_held_makes_nothing(tmp_path: Path) -> None:
    result = CliRunner().invoke(hindsched, ["reproduce", "--family", "batches", "--held", "--results", str(tmp_path)])
    assert isinstance(result.exception, instances.InputError)
    assert list(tmp_path.iterdir()) == []
