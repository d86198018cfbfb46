"""A complete family on one page: everything works on it, and nothing changes for other families.

The problem: n equal tasks of one slot each on one machine that is UP or not; all tasks in the fewest slots.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import click
import pytest
from click.testing import CliRunner

from hindsched import instances
from hindsched.bench.campaign.engine import code_digest
from hindsched.bench.campaign.jobs import optimum_job
from hindsched.bench.commands.group import hindsched
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.family import Family, family_named
from hindsched.bench.family_commands import FamilyCommands
from hindsched.bench.run_records import Options, RunRecord
from hindsched.instances import InputError, Verdict
from hindsched.instances.families import names, register, unregister
from hindsched.instances.text_files import encode
from hindsched.offline.results import Result, Sense, Status
from tests.cases.jobs import policy_job

# --- the family: sixty lines ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instance:
    family: ClassVar[str] = "dummy"
    tasks: int
    states: str

    @property
    def fingerprint(self):
        return "sha256:" + hashlib.sha256(f"dummy {self.tasks} {self.states}".encode()).hexdigest()


@dataclass(frozen=True)
class Schedule:
    family: ClassVar[str] = "dummy"
    instance: str
    slots: tuple[int, ...]


def check(instance, schedule):
    for slot in schedule.slots:
        if slot >= len(instance.states) or instance.states[slot] != "u":
            return Verdict(slot, "UP", "the machine is not UP", None)
    done = len(set(schedule.slots)) >= instance.tasks
    return Verdict(None, None, None, SimpleNamespace(span=max(schedule.slots) + 1 if done else None))


def solve(instance, *, solver="auto", time_limit_s=None, threads=1):
    slots = [slot for slot, state in enumerate(instance.states) if state == "u"][: instance.tasks]
    if len(slots) < instance.tasks:
        return Result(Status.INFEASIBLE, Sense.MIN, None, None, None, None, "scan", 0.0)
    span = slots[-1] + 1
    return Result(
        Status.OPTIMAL, Sense.MIN, span, span, span, Schedule(instance.fingerprint, tuple(slots)), "scan", 0.0
    )


def run_policy(instance, policy, *, rest=0, seed=0):
    """Rest for some slots, then work whenever the machine is UP. The policy sees the present state only."""
    slots = []
    for slot, state in enumerate(instance.states):
        if state == "u" and slot >= rest and len(slots) < instance.tasks:
            slots.append(slot)
    done = slots[-1] + 1 if len(slots) == instance.tasks else None
    return RunRecord(policy, done, len(instance.states), Schedule(instance.fingerprint, tuple(slots)))


class DummyCommands(FamilyCommands):
    options: ClassVar = {
        "generate": [click.Option(["--tasks"], type=int, default=2), click.Option(["--seed"], default=0)]
    }

    def generate(self, given):
        return Instance(given["tasks"], "rur" + "u" * (given["tasks"] + given["seed"]))


class Dummy(Family):
    name, value, heading, unit = "dummy", "span", "span", "slots"
    run_options: ClassVar = {"rest": ("0", "2")}

    @property
    def commands(self):
        return DummyCommands(self)

    def run(self, instance, policy, options, seed):
        return run_policy(instance, policy, rest=int(self.run_values(options)["rest"]))


def make_policy(text, **options):
    if text != "eager":
        raise InputError(f"{text!r}, expected eager", place="policy")
    return SimpleNamespace(name=text)


MODULE = SimpleNamespace(
    INSTANCE_FORMATS=("dummy/1",),
    SCHEDULE_FORMATS=("dummy-schedule/1",),
    read_instance=lambda document: Instance(document["tasks"], document["states"]),
    write_instance=lambda instance: encode({"format": "dummy/1", "tasks": instance.tasks, "states": instance.states}),
    read_schedule=lambda document: Schedule(document["instance"], tuple(document["slots"])),
    write_schedule=lambda plan: encode({"format": "dummy-schedule/1", "instance": plan.instance, "slots": plan.slots}),
    check=check,
    solve=solve,
    available_solvers=lambda: ["scan"],
    POLICIES=("eager",),
    make_policy=make_policy,
    run_policy=run_policy,
    FAMILY=Dummy(),
    __file__=__file__,
)

# --- the tests --------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def dummy():
    register("dummy", MODULE)
    yield
    unregister("dummy")


def invoke(*arguments, code=0):
    result = CliRunner().invoke(hindsched, [str(argument) for argument in arguments], catch_exceptions=code == 0)
    assert result.exit_code == code or (result.exception is not None and code), result.output
    return result


def test_every_command_accepts_a_users_family(tmp_path):
    file, best, ran = tmp_path / "a.json", tmp_path / "best.json", tmp_path / "ran.json"
    invoke("generate", "--family", "dummy", "--tasks", 3, "-o", file)
    assert instances.read(file) == Instance(3, "ruruuu")
    row = json.loads(invoke("solve", file, "--schedule", best, "--json").stdout)
    assert [row[name] for name in ("status", "value", "lower", "upper", "by")] == ["optimal", 5, 5, 5, "scan"]
    row = json.loads(invoke("simulate", file, "--option", "rest=2", "--schedule", ran, "--json").stdout)
    assert row == {"file": str(file), "policy": "eager", "rest": "2", "span": 6}
    assert json.loads(invoke("check", file, ran, "--json").stdout)["valid"]
    invoke("score", file, "--option", "rest=2", "--results", tmp_path / "out", "--jobs", 1)
    (line,) = invoke("score", file, "--option", "rest=2", "--results", tmp_path / "out", "--json").stdout.splitlines()
    row = json.loads(line)
    assert (row["family"], row["options"], row["policy"], row["median"]) == ("dummy", "rest 2", "eager", 1.2)
    said = invoke("report", tmp_path / "out").stdout
    assert "Best by median ratio" in said or "eager: half of the runs" in said
    assert "span / hindsight optimum" in (tmp_path / "out" / "report" / "ranges.svg").read_text()


def test_a_broken_schedule_is_refused_by_rule(tmp_path):
    file, bad = tmp_path / "a.json", tmp_path / "bad.json"
    invoke("generate", "--family", "dummy", "-o", file)
    bad.write_text(MODULE.write_schedule(Schedule(instances.read(file).fingerprint, (0, 1))))
    result = CliRunner().invoke(hindsched, ["check", str(file), str(bad), "--json"])
    assert result.exit_code == 1
    row = json.loads(result.stdout)
    assert (row["valid"], row["time"], row["rule"]) == (False, 0, "UP")


def test_options_of_one_family_are_refused_for_another(tmp_path):
    result = CliRunner().invoke(hindsched, ["generate", "--family", "dummy", "--wmin", "3"])
    assert result.exit_code == 2
    assert "--wmin is an option of coupled, not of dummy" in result.stderr
    result = CliRunner().invoke(hindsched, ["generate", "--tasks", "3"])
    assert "dummy, not of coupled" in result.stderr
    file = tmp_path / "a.json"
    invoke("generate", "--family", "dummy", "-o", file)
    result = CliRunner().invoke(hindsched, ["solve", str(file), "--objective", "makespan"])
    assert result.exit_code == 2
    assert f"--objective is an option of coupled, and {file} is of dummy" in result.stderr


def test_two_families_in_one_campaign_each_with_its_own_policies(tmp_path):
    for family, name in (("dummy", "a.json"), ("coupled", "b.json")):
        flags = [] if family == "dummy" else ["--small", "--slots", 40]
        invoke("generate", "--family", family, *flags, "-o", tmp_path / name)
    (tmp_path / "c.toml").write_text('policies = ["eager", "RANDOM"]\n[[instances]]\nfiles = ["a.json", "b.json"]\n')
    printed = invoke("campaign", tmp_path / "c.toml", "--results", tmp_path / "out", "--jobs", 1, "--json").stdout
    rows = [json.loads(line) for line in printed.splitlines()]
    assert [(row["family"], row["policy"]) for row in rows] in (
        [("coupled", "RANDOM"), ("dummy", "eager")],
        [("dummy", "eager")],  # RANDOM may finish nothing there
    )
    assert (invoke("report", tmp_path / "out") and tmp_path / "out" / "report" / "report.html").is_file()


def test_another_family_changes_no_key_of_this_one(tmp_path):
    source = Paper(5, 5, 1, 0, 0, 100, 0, 20, 10)
    unregister("dummy")
    without = optimum_job(source, Options(), tmp_path).key, policy_job(source, "IE", Options()).key
    register("dummy", MODULE)
    code_digest.cache_clear()
    assert (optimum_job(source, Options(), tmp_path).key, policy_job(source, "IE", Options()).key) == without
    assert "dummy" in names()
    assert family_named("dummy") is MODULE.FAMILY


def test_a_folder_of_another_family_changes_no_key(tmp_path, monkeypatch):
    """Another file in another family's folder does not change the digest of this one."""
    from hindsched.bench.campaign import engine

    root = tmp_path / "house"
    for place in ("instances/coupled", "offline/coupled", "offline/kmis", "online"):
        (root / place).mkdir(parents=True)
        (root / place / "a.py").write_text("1\n")
    monkeypatch.setattr(engine, "__file__", str(root / "bench" / "campaign" / "engine.py"))
    before = code_digest.__wrapped__("instances", "offline", family="coupled")
    (root / "offline" / "dummy").mkdir()
    (root / "offline" / "dummy" / "__init__.py").write_text("")
    assert code_digest.__wrapped__("instances", "offline", family="coupled") == before
    assert code_digest.__wrapped__("instances", "offline", family="dummy") != before
    (root / "offline" / "kmis" / "a.py").write_text("2\n")  # what all share counts
    assert code_digest.__wrapped__("instances", "offline", family="coupled") != before


def test_no_family_is_called_as_one_of_the_toolkit():
    with pytest.raises(InputError, match="expected a name in lower case that no family of the toolkit has"):
        register("coupled", MODULE)
    with pytest.raises(InputError, match="expected one of coupled"):
        family_named("nobody")
    assert Path(__file__).read_text().count("\n") < 250
