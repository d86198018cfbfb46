"""The commands on bags: generated, imported, solved, run, checked, drawn, scored."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hindsched import instances
from hindsched.bench.bags.paper import Paper, starts
from hindsched.bench.campaign.sources import Given
from hindsched.bench.commands.group import hindsched
from hindsched.bench.family import family_named
from hindsched.bench.run_records import Options
from hindsched.instances.bags import ideal_time
from hindsched.instances.bags.generate import paper
from hindsched.online.bags import BASELINES, PAPER_POLICIES, POLICIES
from tests.cases.bags import letters, randoms


def invoke(*arguments: object, code: int = 0) -> Any:
    result = CliRunner().invoke(hindsched, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def refused(*arguments: object) -> str:
    """Return the message about bad input: of the command, or of the error that ends it."""
    result = CliRunner().invoke(hindsched, [str(argument) for argument in arguments])
    return f"{result.stderr}{result.exception}"


def rows(*arguments: object) -> list[dict[str, Any]]:
    return [json.loads(line) for line in invoke(*arguments, "--json").stdout.splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.json"
    flags = ["--set", "M04", "--tasks", 10, "--checkpoints", 1, "--on-demand", "--start", 300, "--slots", 200]
    invoke("generate", "--family", "bags", *flags, "--seed", 4, "-o", path)
    return path


def test_generate(file: Path, tmp_path: Path) -> None:
    assert instances.read(file) == paper("M04", tasks=10, checkpoints=1, on_demand=True, start=300, slots=200, seed=4)
    invoke("generate", "--family", "bags", "--small", "--tasks", 3, "--checkpoints", 2, "-o", tmp_path / "s.json")
    small = instances.read(tmp_path / "s.json")
    assert (small.tasks, small.segments) == (3, 3)


def test_flags_without_a_use_are_named_as_they_are_given(tmp_path: Path) -> None:
    flags = ["--set", "M04", "--reference", 900, "--mix", "interleaved", "--start", 5, "--tasks", 2]
    said = refused("generate", "--family", "bags", "--small", *flags, "-o", tmp_path / "s.json")
    assert "--mix, --reference, --set, --start: not used with --small" in said
    assert not (tmp_path / "s.json").exists()


def test_moves_that_cost_seconds(tmp_path: Path) -> None:
    path = tmp_path / "paid.json"
    flags = ["--set", "M04", "--tasks", 10, "--checkpoints", 1, "--start", 300, "--slots", 200, "--move", 30]
    invoke("generate", "--family", "bags", *flags, "-o", path)
    assert instances.read(path).move == 30_000
    (answer,) = rows("solve", path)
    assert answer["status"] == "bounds"
    (row,) = rows("simulate", path, "--policy", "LEVEL")
    assert row["turnaround"] >= answer["lower"]
    assert all(row["quartile_1_high"] >= 1 for row in rows("score", path, "--policy", "LEVEL", "--policy", "FCFS"))
    assert "--move: not used with --small" in refused("generate", "--family", "bags", "--small", "--move", 3)


def test_solve_for_stores_and_kinds_of_checkpoints(file: Path) -> None:
    found = {
        (row["store"], row["on_demand"]): row for row in rows("solve", file, "--store", "both", "--on-demand", "both")
    }
    assert {row["status"] for row in found.values()} == {"optimal"}
    value = {key: row["value"] for key, row in found.items()}
    assert value["shared", True] <= value["shared", False] <= value["private", False]
    assert value["shared", True] <= value["private", True] <= value["private", False]
    (own,) = rows("solve", file)
    assert own["value"] == value["shared", True]
    assert set(own) >= {"file", "status", "value", "lower", "upper", "by", "runtime_s"}


def test_simulate_all_and_the_policies_left_out(file: Path, tmp_path: Path) -> None:
    found = rows("simulate", file, "--predictor", "oracle")
    assert [row["policy"] for row in found] == list(POLICIES)
    assert found[0]["turnaround"] == found[1]["turnaround"]
    assert found[0]["predictor"] == "oracle"
    private = tmp_path / "private.json"
    instances.write(instances.read(file).replace(store="private", on_demand=False), private)
    result = invoke("simulate", private, "--json")
    assert [json.loads(line)["policy"] for line in result.stdout.splitlines()] == [*PAPER_POLICIES[:3], *BASELINES]
    assert "FCFS-PRDCT-DMD is skipped: states are not saved on demand" in result.stderr
    assert "LEVEL is skipped: stores are private" in result.stderr
    said = refused("simulate", private, "--policy", "FCFS-PRDCT-DMD")
    assert "on_demand: false, expected true for FCFS-PRDCT-DMD" in said
    assert "--max-copies: 0, expected" in refused("simulate", private, "--policy", "FCFS-TR", "--max-copies", "0")


def test_options_of_a_run_are_in_the_row(file: Path) -> None:
    (row,) = rows("simulate", file, "--policy", "FCFS-TR", "--max-copies", 2, "--option", "handover=boundary")
    assert (row["max_copies"], row["handover"]) == (2, "boundary")
    (same,) = rows("simulate", file, "--policy", "FCFS-TR", "--handover", "immediate")
    assert "handover" not in same
    assert row["turnaround"] >= same["turnaround"] or row["turnaround"] > 0


USUAL = {"max_copies": "3", "day_tolerance": "formula", "predictor": "hour", "handover": "immediate"}


def test_an_option_given_at_its_default_is_the_same_as_none(file: Path, tmp_path: Path) -> None:
    family = family_named("bags")
    assert family.run_values(Options().with_run(USUAL)) == family.run_values(Options())
    assert family.run_values(Options().with_run({"max_copies": "03"})) == family.run_values(Options())
    others = {"max_copies": "2", "day_tolerance": "0.2", "predictor": "never", "handover": "boundary"}
    for name, value in others.items():
        assert family.run_values(Options().with_run({name: value}))[name] == value
    flags = [word for name, value in USUAL.items() for word in (f"--{name.replace('_', '-')}", value)]
    policies = ["--policy", "FCFS-TR", "--policy", "FCFS-PRDCT-DMD"]
    assert rows("simulate", file, *policies, *flags) == rows("simulate", file, *policies)
    scored = [rows("score", file, *policies, *more, "--results", tmp_path / "r") for more in ([], flags)]
    assert scored[0] == scored[1]
    lines = (tmp_path / "r" / "runs.jsonl").read_text().splitlines()
    assert sum(json.loads(line)["kind"] == "run" for line in lines) == 2  # none is repeated
    clockless = letters("u", ticks=[1], on_demand=True)
    assert (
        family.refuses(clockless, "FCFS-PRDCT-DMD", Options().with_run(USUAL)) == "the default predictor needs a clock"
    )


def test_check_and_gantt(file: Path, tmp_path: Path) -> None:
    ran, drawn = tmp_path / "ran.json", tmp_path / "ran.svg"
    (row,) = rows("simulate", file, "--policy", "FCFS-PRDCT-DMD", "--predictor", "always", "--schedule", ran)
    (verdict,) = rows("check", file, ran)
    assert (verdict["valid"], verdict["rule"], verdict["turnaround"]) == (True, None, row["turnaround"])
    invoke("gantt", file, ran, "-o", drawn)
    assert "turnaround" in drawn.read_text()
    broken = json.loads(ran.read_text())
    broken["turnaround"] += 1
    ran.write_text(json.dumps(broken))
    result = invoke("check", file, ran, "--json", code=1)
    verdict = json.loads(result.stdout)
    assert (verdict["valid"], verdict["rule"]) == (False, "turnaround")
    broken["runs"][0][3] = 0.5
    ran.write_text(json.dumps(broken))
    assert json.loads(invoke("check", file, ran, "--json", code=1).stdout)["rule"] == "form"
    ran.write_text("[]")
    assert "a list, expected a JSON object" in refused("check", file, ran)


def test_import_of_the_packaged_zones(tmp_path: Path) -> None:
    path = tmp_path / "zones.json"
    invoke("import", "--family", "bags", "spot_aws_v100", "--slot", 195, "--tasks", 9, "--slots", 50, "-o", path)
    zones = instances.read(path)
    assert (zones.num_machines, zones.slot, zones.segments, len(set(zones.ticks))) == (9, 195_000, 1, 1)


def test_a_campaign_and_its_invariants(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(
        'time_limit_s = 5\n[[instances]]\nfamily = "bags"\nmachines = ["M01"]\ntasks = [8]\nreference_s = [1800]\n'
        'checkpoints = [0, 1]\nstores = ["shared", "private"]\nstarts = 2\nslots = 800\n'
    )
    out = tmp_path / "out"
    table = rows("campaign", tmp_path / "c.toml", "--results", out, "--jobs", 1)
    assert {row["population"] for row in table} == {"M01 shared weekday", "M01 private weekday"}
    assert all(row["quartile_1_low"] >= 1 for row in table)
    assert all(row["slowdown"] > 0 for row in table if not row["unfinished"])
    shared = {row["policy"]: row for row in table if "shared" in row["population"]}
    assert set(shared) == set(POLICIES)
    assert shared["FCFS"]["mean"] == shared["FCFS-AT"]["mean"]
    assert all(row["differs"] is None for row in rows("recheck", out, "--sample", 12))
    assert (invoke("report", out) and out / "report" / "report.html").is_file()


def test_prdct_is_measured_by_the_optimum_with_saves_on_demand() -> None:
    family = family_named("bags")
    for instance in randoms(12, seed=9, store="shared", on_demand=True, segments=2, tasks=2):
        played = family.run(instance, "FCFS-PRDCT-DMD", Options(run=(("predictor", "oracle"),)), 0)
        assert played.optimum is not None
        if played.value is None:
            continue
        usual = family.solve(instance, Options())
        assert played.optimum.value is not None
        assert played.optimum.value <= played.value
        assert usual.value is None or played.optimum.value <= usual.value
        assert played.facts["slowdown"] == played.value / ideal_time(instance)


def test_starts() -> None:
    for when, is_weekend in (("weekday", False), ("weekend", True)):
        chosen = starts(when, 40)
        assert len(set(chosen)) == 40
        points = [Paper("M01", 1, 1800, 0, "shared", start) for start in chosen]
        assert all(point.is_weekend == is_weekend for point in points) or when == "weekday"
        assert points[0].load().clock_s == chosen[0] * 120


def test_policies_are_left_out_of_files_too() -> None:
    family = family_named("bags")
    plain = Given("x", "files", letters("u", ticks=[1], store="private"))
    assert family.refuses(plain.instance, "PACE", Options()) == "stores are private"
    assert family.refuses(plain.instance, "FCFS", Options()) is None
