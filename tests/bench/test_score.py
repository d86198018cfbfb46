"""Campaigns whose results folder, instances or policies have changed."""

import json
import sys

import pytest

from hindsched import instances
from hindsched.bench.campaign.score import score
from hindsched.bench.campaign.sources import Given, from_file
from hindsched.bench.run_records import Options
from hindsched.instances import InputError
from hindsched.instances import bags as instances_bags
from hindsched.instances.chains import fit
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import small
from tests.cases.jobs import policy_job

INSTANCE = small(5, p=3, slots=30, tasks=2, iterations=2, up=0.8, down=0.05)


def given(name, instance=INSTANCE):
    return Given(name, "files", instance)


def rows(folder):
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]


def test_an_instance_under_a_new_name_is_not_solved_again(tmp_path):
    score([given("old")], ["IE"], Options(), tmp_path)
    found = score([given("new")], ["IE", "IP"], Options(), tmp_path)
    assert len({row["key"] for row in rows(tmp_path)}) == 3
    assert set(found.results.optima["instance"]) == set(found.results.runs["instance"]) == {"new"}


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are Unicode there")
def test_a_file_may_be_called_anything(tmp_path):
    path = tmp_path / "caf\udce9.json"
    instances.write(INSTANCE, path)
    score([from_file(path)], ["IE"], Options(), tmp_path / "out")
    assert {row["instance"] for row in rows(tmp_path / "out")} == {f"{tmp_path}/caf\\udce9.json"}


def test_an_option_given_at_its_default_is_the_same_job():
    plain, given_too = (policy_job(given("one"), "IE", Options(run=run)) for run in ((), (("estimator", "printed"),)))
    assert plain.key == given_too.key


def test_a_file_that_an_option_names_counts_by_its_content(tmp_path):
    bag = instances_bags.Instance.from_letters(["uudu"], ticks=[9], slot=4, tasks=1, segments=1, on_demand=True)
    source = Given("bag", "files", bag)
    states, own = tmp_path / "states.json", tmp_path / "mine.py"
    for predictor in (f"hour:{states}", f"{own}:Mine"):
        keys = set()
        for text in ("{}", "[]", "{}"):
            states.write_text(text)
            own.write_text(text)
            job = policy_job(source, "FCFS-PRDCT-DMD", Options(run=(("predictor", predictor),)))
            keys.add(job.key)
        assert len(keys) == 2


def test_one_instance_under_two_names_would_count_twice(tmp_path):
    with pytest.raises(InputError, match=r"^b: the same instance as a, expected every instance once$"):
        score([given("a"), given("b")], ["IE"], Options(), tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"makespan":', '"span":', "missing key makespan"),
        ('"bound":', '"bound":"', "broken row"),
        ('"status":"optimal"', '"status":"perfect"', "status: "),
        ('"key":"', '"key":["', "line 1: broken row"),
    ],
)
def test_changed_rows_are_named(tmp_path, before, after, said):
    score([given("a")], ["IE"], Options(), tmp_path)
    path = tmp_path / "runs.jsonl"
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(InputError, match=rf"^{path}: .*{said}") as caught:
        score([given("a")], ["IE"], Options(), tmp_path)
    assert len(str(caught.value).splitlines()) == 1


def test_a_torn_row_is_reported_and_repeated(tmp_path, capsys):
    score([given("a")], ["IE"], Options(), tmp_path)
    table = (tmp_path / "table.csv").read_bytes()
    path = tmp_path / "runs.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    capsys.readouterr()
    score([given("a")], ["IE"], Options(), tmp_path)
    assert "the last row was cut off" in capsys.readouterr().err
    assert len(rows(tmp_path)) == 2
    assert (tmp_path / "table.csv").read_bytes() == table


def test_without_the_schedules_of_the_optima_there_is_no_example(tmp_path):
    score([given("a")], ["IE"], Options(), tmp_path)
    for schedule in (tmp_path / "schedules").iterdir():
        schedule.unlink()
    found = score([given("a")], ["IE"], Options(), tmp_path)
    assert [path.name for path in found.files] == ["runs.jsonl", "table.csv", "ratios.csv", "ratios.svg"]


def test_where_no_schedule_finishes_there_is_nothing_to_compare_with(tmp_path):
    never = Instance.from_letters(["dd"], w=[1], tasks=1)
    found = score([given("never", never)], ["RANDOM"], Options(), tmp_path)
    assert len(found.table) == 0
    assert found.results.optima["optimum_status"].tolist() == ["infeasible"]


MINE = "class Mine:\n    name = 'mine'\n\n    def choose(self, visible):\n        return None\n"


def test_a_policy_of_a_user_is_identified_by_its_file(tmp_path):
    path = tmp_path / "mine.py"
    keys = []
    for text in (MINE, MINE + "# naïve\n", MINE):
        path.write_text(f"# -*- coding: latin-1 -*-\n{text}", encoding="latin-1")
        keys.append(policy_job(given("a"), f"{path}:Mine", Options()).key)
    assert keys[0] == keys[2] != keys[1]


@pytest.mark.parametrize(
    ("module", "changed"), [("their_policy", "their_policy.py"), ("their_package.policy", "their_package/helpers.py")]
)
def test_a_policy_of_an_entry_point_counts_by_the_source_of_its_package(tmp_path, monkeypatch, module, changed):
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[hindsched.policies]\ntheirs = {module}:Mine\n")
    (tmp_path / "their_package").mkdir()
    for name in ("their_policy.py", "their_package/__init__.py", "their_package/policy.py"):
        (tmp_path / name).write_text(MINE)
    keys = []
    for text in (MINE, MINE + "# changed\n", MINE):
        (tmp_path / changed).write_text(text)
        keys.append(policy_job(given("a"), "theirs", Options()).key)
    assert keys[0] == keys[2] != keys[1]
    score([given("a")], ["theirs"], Options(), tmp_path / "out")
    assert [row["policy"] for row in rows(tmp_path / "out") if row["kind"] == "run"] == ["theirs"]


def test_files_of_different_kinds_are_pooled_only_on_request(hindsched, tmp_path):
    for number, tasks in enumerate((2, 2, 3)):
        instances.write(small(number + 3, p=3, slots=40, tasks=tasks), tmp_path / f"{number}.json")
    files = [tmp_path / f"{number}.json" for number in range(3)]
    command = ("score", *files, "--policy", "IE", "--results", tmp_path / "out", "--json")
    code, out, _ = hindsched(*command)
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert len({row["population"] for row in rows}) > 1
    assert sum(row["runs"] for row in rows) <= 3
    code, out, _ = hindsched(*command, "--pool")
    (row,) = map(json.loads, out.splitlines())
    assert row["population"] == "all instances"
    sections = [line for line in hindsched("report", tmp_path / "out")[1].splitlines() if line.startswith("files: ")]
    assert sections
    assert not hindsched("report", tmp_path / "out", "--pool")[1].startswith("files: ")


def test_an_instance_on_which_all_policies_tie_is_named_with_the_reason(hindsched, tmp_path):
    chains = [fit([0, 0, 0, 2, 0])] * 2
    steady = Instance.from_letters(["u" * 9] * 2, w=[1, 1], tasks=2, iterations=3, chains=chains)
    instances.write(steady, tmp_path / "steady.json")
    code, _, err = hindsched("score", tmp_path / "steady.json", "--results", tmp_path / "out")
    assert code == 0
    assert "steady.json does not tell policies apart: every policy but RANDOM reaches the optimum, 3 slots" in err
    assert "; tasks take one slot, nothing is sent to workers, all workers stay UP until then" in err


def test_a_trace_is_answered_with_the_command_that_reads_it(hindsched, tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("date,availability\n0,1\n600,0\n")
    code, out, err = hindsched("score", trace, "--results", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err.endswith("trace.csv: not an instance, expected one: hindsched import makes them from traces\n")
    assert not (tmp_path / "out").exists()
