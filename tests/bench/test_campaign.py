"""Campaigns from a file: runs, refusals, and the rows that remain after kill -9."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from hindsched.bench.campaign.file import read_campaign
from hindsched.bench.campaign.plan import Campaign, results_of_rows, run_campaign
from hindsched.bench.campaign.sources import Given
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.results.read import read_results
from hindsched.bench.run_records import Options
from hindsched.instances import InputError, write
from hindsched.instances.bags.generate import small as small_bag
from hindsched.instances.coupled.generate import small

SMALL = """
policies = ["IE", "P-IP", "mine.py:Mine"]
estimators = ["printed", "conditional"]
ties = ["lowest", "highest"]
[[instances]]
m = [2, 3]
n_com = [2, "none"]
wmin = [1]
scenarios = 2
trials = 3
slots = 400
p = 4
iterations = 2
[[instances]]
files = ["one.json"]
"""
MINE = """
class Mine:
    name = "mine"
    def choose(self, visible):
        if visible.is_complete or not visible.up:
            return None
        return {visible.up[0]: visible.problem.tasks}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    write(small(3, p=3, slots=40, tasks=2), tmp_path / "one.json")
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path


def rows(folder):
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]


def test_a_file_lists_the_runs(folder):
    campaign = read_campaign(folder / "small.toml")
    assert len(campaign.sources) == 2 * 2 * 2 * 3 + 1
    assert {source.point["n_com"] for source in campaign.sources[:-1]} == {2, None}
    assert campaign.policies == ["IE", "P-IP", f"{folder}/mine.py:Mine"]
    assert [tuple(dict(each.run).values()) for each in campaign.combinations] == [
        ("printed", "lowest"),
        ("printed", "highest"),
        ("conditional", "lowest"),
        ("conditional", "highest"),
    ]
    assert len(campaign.jobs(folder)) == 25 * (1 + 4 * 3)


def test_every_run_and_optimum_is_a_row_and_resuming_makes_none_again(folder):
    campaign = read_campaign(folder / "small.toml")
    run_campaign(campaign, folder / "out", num_processes=2)
    before = (folder / "out" / "runs.jsonl").read_bytes()
    found = rows(folder / "out")
    assert len(found) == len({row["key"] for row in found}) == 25 * 13
    runs = [row for row in found if row["kind"] == "run"]
    for row in runs:
        assert {"fingerprint", "seed", "estimator", "service", "ties", "slot_limit", "version", "code"} <= set(row)
        assert (row["check"], row["checked_slots"]) == ("valid", row["slots"])
    optima = {row["instance"]: row for row in found if row["kind"] == "optimum"}
    assert {row["status"] for row in optima.values()} <= {"optimal", "infeasible"}
    for row in runs:
        best = optima[row["instance"]]["value"]
        assert row["makespan"] is None or best <= row["makespan"]
    run_campaign(campaign, folder / "out", num_processes=1)
    assert (folder / "out" / "runs.jsonl").read_bytes() == before


def test_results_are_those_of_the_policies_as_they_are_now(tmp_path):
    """A policy that was changed and changed back has its first result again, in the campaign and in its report."""
    own, folder = tmp_path / "mine.py", tmp_path / "results"
    campaign = Campaign([Given("one", "files", small(3, p=3, slots=40, tasks=2))], [f"{own}:Mine"], [Options()])
    values = []
    for text in (MINE, MINE.replace("return {visible", "return None and {visible"), MINE):
        own.write_text(text)
        values.append(results_of_rows(run_campaign(campaign, folder), folder).runs["value"].tolist())
        assert read_results(folder).runs["value"].tolist() == pytest.approx(values[-1], nan_ok=True)
    assert len({row["key"] for row in rows(folder)}) == 3  # an optimum and two runs
    assert values[0] == values[2] != values[1]
    before = (folder / "runs.jsonl").read_bytes()
    run_campaign(campaign, folder)
    assert (folder / "runs.jsonl").read_bytes() == before


def test_an_instance_that_was_edited_is_not_pooled_with_its_older_self(tmp_path, hindsched):
    one, other, folder = small(3, p=3, slots=40, tasks=2), small(4, p=3, slots=40, tasks=2), tmp_path / "results"
    shown = []
    # a is edited, edited back, and becomes b; nothing is computed twice
    for a, b in ((one, None), (other, None), (one, None), (other, one)):
        write(a, tmp_path / "a.json")
        files = ["a.json"] if b is None else ["a.json", "b.json"]
        if b is not None:
            write(b, tmp_path / "b.json")
        (tmp_path / "now.toml").write_text(f'policies = ["IE"]\n[[instances]]\nfiles = {files}\n')
        campaign = read_campaign(tmp_path / "now.toml")
        found = results_of_rows(run_campaign(campaign, folder), folder)
        reported = read_results(folder)
        for name in ("instance", "fingerprint", "value"):
            assert reported.runs[name].tolist() == found.runs[name].tolist()
        shown.append(reported.mixed)
    assert shown[0] == ()
    assert all(f"{tmp_path}/a.json: rows of several contents under one name" in said[0] for said in shown[1:3])
    assert len({row["key"] for row in rows(folder)}) == 4
    code, out, _ = hindsched("report", folder, "--json")
    assert (code, json.loads(out)["runs"]) == (0, 2)


def test_a_policy_that_was_edited_is_not_pooled_with_its_older_self(tmp_path):
    """The older runs are on another instance, so that no row replaces them."""
    own, folder = tmp_path / "mine.py", tmp_path / "results"
    for seed, text in ((3, MINE), (4, MINE + "# changed\n")):
        own.write_text(text)
        source = Given(f"number {seed}", "files", small(seed, p=3, slots=40, tasks=2))
        run_campaign(Campaign([source], ["IE", f"{own}:Mine"], [Options()]), folder)
    reported = read_results(folder)
    assert sorted(reported.runs["policy"]) == [f"{own}:Mine", "IE", "IE"]
    assert f"{own}:Mine: rows of several contents under one name" in reported.mixed[0]


def test_replaying_can_be_limited_to_the_first_slots(tmp_path):
    source = Paper(3, 2, 1, 0, 0, 300, 0, 5, 3)
    run_campaign(Campaign([source], ["IE", "RANDOM"], [Options(check_slots=7)]), tmp_path)
    assert [row["checked_slots"] for row in rows(tmp_path) if row["kind"] == "run"] == [7, 7]


RUN = """
import sys
from pathlib import Path
from hindsched.bench.campaign.plan import run_campaign
from hindsched.bench.campaign.file import read_campaign
run_campaign(read_campaign(sys.argv[1]), Path(sys.argv[2]), num_processes=2)
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of posix systems")
def test_killed_at_random_moments_it_repeats_nothing_and_loses_nothing(folder):
    draw = random.Random(4)
    command = [sys.executable, "-c", RUN, str(folder / "small.toml"), str(folder / "out")]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    seen: set[str] = set()
    journal = folder / "out" / "runs.jsonl"
    for _ in range(4):
        campaign = subprocess.Popen(command, **quiet)
        wanted = len(seen) + draw.randrange(1, 60)
        while campaign.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < wanted):
            time.sleep(0.01)
        campaign.send_signal(signal.SIGKILL)
        campaign.wait()
        whole = journal.read_bytes().rpartition(b"\n")[0].splitlines()
        keys = [json.loads(line)["key"] for line in whole]
        assert len(keys) == len(set(keys))
        assert seen <= set(keys)
        seen = set(keys)
    assert subprocess.run(command, **quiet, check=False).returncode == 0
    found = rows(folder / "out")
    assert len(found) == len({row["key"] for row in found}) == 25 * 13


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("[[instances]\n", "not TOML: "),
        ("instances = []\n", "instances: no instance, expected at least one"),
        ('policies = ["XY"]\n[[instances]]\nfiles = ["one.json"]', "policy: 'XY', expected one of IP, "),
        (
            'options.colour = ["red"]\n[[instances]]\nfiles = ["one.json"]',
            "options.colour: no option of coupled, expected one of estimator, ",
        ),
        ('estimators = ["best"]\n[[instances]]\nfiles = ["one.json"]', "estimators: 'best', expected one of printed"),
        ('ties = []\n[[instances]]\nfiles = ["one.json"]', "nothing to run, expected at least one policy and a value"),
        ("colour = 1\n[[instances]]\nm = [1]", "unknown key colour"),
        ("[[instances]]\nm = [1]\nwmin = [1]", "instances[0].n_com: missing or empty, expected a list of integers"),
        ("[[instances]]\nm = [0]\nwmin = [1]\nn_com = [1]", "instances[0].m[0]: 0, expected an integer >= 1"),
        ('[[instances]]\nm = [1]\nwmin = [1]\nn_com = ["all"]', "instances[0].n_com[0]: "),
        ('[[instances]]\nm = [1]\nwmin = [1]\nn_com = [1]\nstart = "down"', "instances[0].start: 'down', expected one"),
        (
            'options.estimator = "best"\n[[instances]]\nfiles = ["one.json"]',
            "options.estimator: 'best', expected one of",
        ),
        (
            'time_limit_s = inf\n[[instances]]\nfiles = ["one.json"]',
            "time_limit_s: inf, expected a finite number above 0",
        ),
        (
            'time_limit_s = nan\n[[instances]]\nfiles = ["one.json"]',
            "time_limit_s: nan, expected a finite number above 0",
        ),
        ('[[instances]]\nfamily = "grid"\nloads = [inf]', "instances[0].loads: inf, expected a finite number above 0"),
    ],
)
def test_invalid_campaign_files_are_refused_in_one_line(folder, change, said):
    (folder / "wrong.toml").write_text(change)
    with pytest.raises(InputError) as caught:
        read_campaign(folder / "wrong.toml")
    assert str(caught.value).startswith(f"{folder}/wrong.toml: {said}")
    assert len(str(caught.value).splitlines()) == 1


def test_an_unknown_solver_is_reported_with_the_file(folder, hindsched):
    (folder / "wrong.toml").write_text('solver = "magic"\n[[instances]]\nfiles = ["one.json"]')
    code, _, error = hindsched("campaign", folder / "wrong.toml", "--results", folder / "out")
    assert code == 2
    assert error.startswith(f"hindsched: {folder}/wrong.toml: solver: 'magic', expected auto or one of native, ")
    assert not (folder / "out").exists()


def test_an_optimum_that_fails_names_its_instance(folder, hindsched):
    (folder / "none.toml").write_text('policies = ["IE"]\nsolver = "periods"\n[[instances]]\nfiles = ["one.json"]')
    code, _, error = hindsched("campaign", folder / "none.toml", "--results", folder / "out", "--jobs", 1)
    assert code == 2
    assert error.splitlines()[-1].startswith(f"hindsched: {folder}/one.json: ")
    assert [row["kind"] for row in rows(folder / "out")] == ["run"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
@pytest.mark.parametrize("command", ["campaign", "score"])
def test_a_full_disk_is_bad_luck_and_no_contradiction(folder, hindsched, monkeypatch, command):
    (folder / "out").mkdir()
    (folder / "out" / "runs.jsonl").symlink_to("/dev/full")
    monkeypatch.setattr("hindsched.bench.campaign.journal.Journal._read", lambda journal: None)  # the device has no end
    code, out, error = hindsched(command, folder / RUNS[command], "--results", folder / "out", "--jobs", 1)
    assert (code, out) == (2, "")
    said = "row not written: No space left on device; earlier rows are kept: the same command resumes"
    assert error.splitlines()[-1] == f"hindsched: {folder}/out/runs.jsonl: {said}"


RUNS = {"campaign": "small.toml", "score": "one.json"}


@pytest.mark.parametrize("command", ["campaign", "score", "report"])
def test_files_contain_no_infinite_number(folder, hindsched, command):
    (folder / "mine.py").write_text(MINE.replace("return {visible", "return None and {visible"))  # never ends
    (folder / "mine.toml").write_text('policies = ["IE", "mine.py:Mine"]\n[[instances]]\nfiles = ["one.json"]')
    out = folder / "out"
    if command == "score":
        command = ("score", folder / "one.json", "--policy", "IE", "--policy", f"{folder}/mine.py:Mine")
    else:
        command = ("campaign", folder / "mine.toml")
    assert hindsched(*command, "--results", out, "--jobs", 1)[0] == 0
    if command == "report":
        assert hindsched("report", out)[0] == 0
    for file in out.rglob("*.csv"):
        assert not {"inf", "-inf"} & {cell for row in csv.reader(file.open()) for cell in row}, file
    (mine,) = (row for row in csv.DictReader((out / "table.csv").open()) if row["policy"].endswith("Mine"))
    assert (mine["unfinished"], mine["median"], mine["median_high"], mine["mean_low"]) == ("1", "", "", "")
    assert float(mine["median_low"]) > 1


def test_a_missing_instance_file_is_named(folder):
    (folder / "wrong.toml").write_text('[[instances]]\nfiles = ["two.json"]')
    with pytest.raises(
        InputError, match=rf"^{folder}/two\.json: instances\[0\]: no such file$|two\.json: no such file"
    ):
        read_campaign(folder / "wrong.toml")


def test_an_instance_counts_once(folder):
    given = Given("a", "files", small(3))
    with pytest.raises(InputError, match=r"^b: the same instance as a, expected every instance once$"):
        Campaign([given, Given("b", "files", small(3))], ["IE"], [Options()])


def test_instances_that_no_policy_is_for_are_refused_before_the_work(folder, hindsched, monkeypatch):
    monkeypatch.chdir(folder)
    write(small_bag(1, tasks=2), "bag.json")
    (folder / "mixed.toml").write_text('policies = ["IE"]\n[[instances]]\nfiles = ["one.json", "bag.json"]\n')
    said = "no policy for bag.json (bags), expected one\n"
    for arguments, where in (
        (("score", "one.json", "bag.json", "--policy", "IE"), "--policy: "),
        (("campaign", "mixed.toml"), "mixed.toml: policies: "),
    ):
        assert hindsched(*arguments) == (2, "", f"hindsched: {where}{said}")
    assert not (folder / "results").exists()


def test_no_cell_of_a_table_is_a_formula(tmp_path, hindsched, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(small(3, p=3, slots=40, tasks=2), "=1+1.json")
    (tmp_path / "@mine.py").write_text(MINE)
    write(small(4, p=3, slots=40, tasks=2), "-2.json")
    command = ("score", "=1+1.json", "./-2.json", "--policy", "IE", "--policy", "@mine.py:Mine", "--results", "out")
    assert hindsched(*command)[0] == 0
    assert hindsched("report", "out")[0] == 0
    cells = {cell for file in tmp_path.rglob("*.csv") for row in csv.reader(file.open()) for cell in row}
    assert {"'=1+1.json", "'@mine.py:Mine"} <= cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]


EXITS = """
import os
class InRun:
    name = "run"
    def choose(self, visible):
        os._exit(0)
class InConstructor:
    name = "made"
    def __init__(self):
        os._exit(0)
"""


@pytest.mark.parametrize("policy", ["InRun", "InConstructor"])
@pytest.mark.parametrize("command", ["simulate", "score"])
def test_a_policy_that_exits_is_no_success(tmp_path, hindsched, command, policy):
    write(small(3, p=3, slots=40, tasks=1), tmp_path / "one.json")
    (tmp_path / "exits.py").write_text(EXITS)
    options = ("--results", tmp_path / "out") if command == "score" else ()
    code, _, error = hindsched(command, tmp_path / "one.json", "--policy", f"{tmp_path}/exits.py:{policy}", *options)
    assert code == 2
    assert f"exits.py:{policy}" in error.splitlines()[-1]
    assert error.endswith("its process ended with exit code 0\n")


def test_modules_of_the_current_folder_are_not_imported(tmp_path, hindsched, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(small(3, p=3, slots=40, tasks=1), "one.json")
    for name in ("signal", "queue", "types", "platform", "numpy", "random"):
        (tmp_path / f"{name}.py").write_text(MINE + "\nraise SystemExit('imported')\n" * (name != "random"))
    assert hindsched("score", "one.json", "--policy", "IE", "--policy", "random.py:Mine")[0] == 0
