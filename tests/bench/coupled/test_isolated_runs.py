"""`score --isolated` and `leaderboard`: the same rows, no future, and faults that cost one row."""

import json
from pathlib import Path

import pytest

from hindsched import instances
from hindsched.bench.campaign.engine import FailedJobsError
from hindsched.bench.campaign.score import score
from hindsched.bench.campaign.sources import from_file
from hindsched.bench.coupled import leaderboard
from hindsched.bench.run_records import Options
from hindsched.instances.bags.generate import small as small_bag
from hindsched.instances.batches.model import Instance as Batches
from hindsched.instances.coupled.generate import small

POLICIES = """
import gc, os, sys


class First:
    name = "first"

    def choose(self, visible):
        return None if visible.is_complete or not visible.up else {visible.up[0]: visible.problem.capacities[0]}


class Peek(First):
    name = "peek"

    def choose(self, visible):
        frame = None if visible.slot else sys._getframe()
        while frame:
            found = [name for name, value in frame.f_locals.items() if type(value).__name__ == "Instance"]
            sys.stderr.write("".join(f"FUTURE in {name}\\n" for name in found))
            frame = frame.f_back
        if not visible.slot and any(type(one).__name__ == "Instance" for one in gc.get_objects()):
            sys.stderr.write("FUTURE among the objects\\n")
        return super().choose(visible)


class Exit(First):
    name = "exit"

    def choose(self, visible):
        os._exit(0)


class Loop(First):
    name = "loop"

    def choose(self, visible):
        while True:
            pass
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(POLICIES)
    instances.write(small(5, p=3, slots=30, tasks=2, iterations=2, up=0.8, down=0.05), "5.json")


def test_rows_are_the_same_but_for_their_keys():
    rows = []
    for isolated in (False, True):
        score([from_file("5.json")], ["mine.py:First", "IE"], Options(isolated=isolated), Path(f"r{isolated}"))
        rows.append([json.loads(line) for line in Path(f"r{isolated}/runs.jsonl").read_text().splitlines()])
    for one, other in zip(*rows, strict=True):
        assert {**one, "key": "", "runtime_s": 0} == {**other, "key": "", "runtime_s": 0}
        assert (one["key"] != other["key"]) is (one.get("policy") == "mine.py:First")


def test_score_shows_a_policy_no_future(hindsched):
    arguments = ("score", "5.json", "--policy", "mine.py:Peek", "--policy", "IE", "--jobs", 1, "--json")
    assert "FUTURE" in hindsched(*arguments, "--results", "r")[2]
    code, out, err = hindsched(*arguments, "--results", "r", "--isolated")  # rows of other runs are not reused
    assert code == 0
    assert "FUTURE" not in err
    assert {json.loads(line)["policy"] for line in out.splitlines()} >= {"mine.py:Peek", "IE"}


def test_a_policy_that_ends_its_process_costs_its_own_row():
    try:
        failure = score([from_file("5.json")], ["mine.py:Exit", "IE"], Options(isolated=True), Path("r")).failure
    except FailedJobsError as error:
        failure = error
    assert "policy exit, slot 0: ended its process with exit code 0" in str(failure)
    policies = [json.loads(line).get("policy") for line in Path("r/runs.jsonl").read_text().splitlines()]
    assert "IE" in policies


@pytest.mark.parametrize("family", ["bags", "batches"])
def test_other_families_refuse_before_a_policy_is_loaded(hindsched, family):
    made = {
        "bags": lambda: small_bag(1, tasks=2),
        "batches": lambda: Batches(tasks=2, batches=[(0, 4)], c=[1, 2], up=[[(0, 2), (3, 6)], [(0, 9)]]),
    }
    instances.write(made[family](), "other.json")
    Path("mine.py").write_text("open('loaded', 'w')")
    code, _, err = hindsched("score", "other.json", "--policy", "mine.py:First", "--isolated", "--results", "r")
    assert (code, err) == (2, f"hindsched: --isolated: users' policies of {family} run in this process only\n")
    assert not Path("loaded").exists()


def test_leaderboard_shows_no_future_and_a_fault_costs_one_row(hindsched, monkeypatch):
    known, sources = leaderboard.known_runs().head(1), leaderboard.sources()[:1]
    monkeypatch.setattr(leaderboard, "known_runs", lambda: known)
    monkeypatch.setattr(leaderboard, "sources", lambda: sources)
    policies = [f"mine.py:{name}" for name in ("Peek", "Exit", "Loop")]
    code, out, err = hindsched("leaderboard", *policies, "no.py:Mine", "--policy-time-limit", 10, "--json")
    assert code == 2
    assert "peek" in {json.loads(line)["policy"] for line in out.splitlines()}
    assert "FUTURE" not in err
    said = [line.rpartition(": ")[2] for line in err.splitlines() if line.startswith("hindsched: ")]
    assert said == [
        "no such file",
        "ended its process with exit code 0, expected a choice",
        "has not finished after 10 s, the time limit of a run",
    ]
