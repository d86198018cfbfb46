"""Readings and seeds: resumed rows, metrics on the runs that readings share, and the page."""

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from docs.studies.commands.readings import readings
from docs.studies.coupled import readings as study
from docs.studies.coupled.pages.readings import ReadingsPage
from hindsched.bench.coupled.paper import experiment
from hindsched.bench.coupled.reproduction import READINGS
from hindsched.bench.coupled.versus import versus
from hindsched.instances import InputError
from hindsched.online.coupled import POLICIES, run_policy

HERE = {"n_coms": [5], "wmins": [1], "scenarios": [0], "slots": 3000}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("readings")
    for seed, names in ((0, ("printed", "frozen")), (1, ("printed",))):
        study.run_on(experiment(seed=seed, trials=[0, 1], **HERE), [READINGS[name] for name in names], path)
    study.run_on(experiment(trials=[1], **HERE), [READINGS["held-frozen"]], path)
    return path


@pytest.fixture(scope="module")
def runs(folder: Path) -> pd.DataFrame:
    return study.read_runs(folder)


def test_a_reading_runs_the_policies_that_it_changes(runs: pd.DataFrame) -> None:
    counts = runs.groupby(["reading", "instance_seed", "m", "trial"])["policy"].nunique()
    assert set(counts["printed"]) == {17}
    assert set(counts["frozen"]) == set(counts["held-frozen"]) == {12}
    assert len(counts) == 2 * 2 * 2 + 2 * 2 + 2


def test_the_rows_are_the_runs(runs: pd.DataFrame) -> None:
    source = experiment(trials=[1], **HERE)[0]
    for name, comparison in (("printed", "updated"), ("frozen", "frozen"), ("held-frozen", "held-frozen")):
        mine = runs[runs["reading"] == name].query("instance_seed == 0 and m == 5 and trial == 1")
        for policy in ("E-IE", "P-IY"):
            run = run_policy(source.load(), policy, comparison=comparison)
            assert mine.set_index("policy")["makespan"][policy] == run.makespan


def test_existing_rows_are_not_run_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (folder / "runs.jsonl").read_bytes()
    monkeypatch.setattr(study, "_run", None)
    study.run_on(experiment(trials=[0, 1], **HERE), [READINGS["frozen"], READINGS["printed"]], folder)
    assert (folder / "runs.jsonl").read_bytes() == before


def test_metrics_cover_the_runs_that_readings_share(runs: pd.DataFrame) -> None:
    metrics = study.metrics_of(runs)
    sizes = metrics.groupby(["reading", "seed", "sample", "table"])["instances"].unique().map(list).to_dict()
    common = {(name, 0, "common", table): [1] for name in ("printed", "frozen", "held-frozen") for table in ("I", "II")}
    more = {(name, 0, "all", table): [2] for name in ("printed", "frozen") for table in ("I", "II")}
    assert sizes == common | more | {("printed", 1, "common", table): [2] for table in ("I", "II")}
    frozen = metrics.query("reading == 'frozen' and sample == 'all' and table == 'I'").set_index("policy")
    changed = runs.query("reading == 'frozen' and instance_seed == 0 and m == 5")
    others = runs.query("reading == 'printed' and instance_seed == 0 and m == 5 and policy in ['IE', 'IAY']")
    by_hand = versus(pd.concat([changed, others])).set_index("policy")
    for policy in ("E-IE", "IAY"):
        assert frozen["diff"][policy] == pytest.approx(by_hand["diff"][policy])
        assert frozen["wins"][policy] == by_hand["wins"][policy]


def test_an_instance_on_which_a_run_is_missing_is_left_out(runs: pd.DataFrame) -> None:
    torn = runs.drop(runs.query("reading == 'frozen' and m == 5 and trial == 0 and policy == 'E-IE'").index)
    metrics = study.metrics_of(torn)
    assert metrics.query("reading == 'frozen' and table == 'I'")["instances"].unique().tolist() == [1]
    random = runs.drop(runs.query("policy == 'RANDOM'").index)  # it takes most of the time and may be missing
    assert study.metrics_of(random)["instances"].sum() == 16 / 17 * study.metrics_of(runs)["instances"].sum()


def test_no_policy_is_run_where_no_schedule_finishes(tmp_path: Path) -> None:
    impossible = experiment(ms=[10], n_coms=[5], wmins=[10], scenarios=[6], trials=[3], slots=2000)
    study.run_on(impossible, [READINGS["frozen"]], tmp_path)
    runs = study.read_runs(tmp_path)
    assert runs["makespan"].isna().all()
    assert set(runs["status"]) == {"infeasible"}
    assert len(runs) == 12


def test_the_published_runs_are_those_of_seed_0() -> None:
    published = study.published_runs()
    assert set(published["reading"]) == set(study.PUBLISHED)
    assert len(published) == 2 * 6000 * 17
    assert set(published["instance_seed"]) == {0}
    impossible = published.query("status == 'infeasible'")[["m", "n_com", "wmin", "scenario", "trial"]]
    assert len(impossible.drop_duplicates()) == 200


def test_a_folder_without_runs_is_reported(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text("")
    with pytest.raises(InputError, match=r"no runs, expected those of python -m docs.studies readings"):
        study.read_runs(tmp_path)


def test_the_command_runs_and_measures(tmp_path: Path) -> None:
    arguments = "--m 5 --n-com 5 --wmin 1 --scenarios 0 --seed 0,3 --slots 2000 --jobs 1 --json --results"
    out = tmp_path / "metrics.csv"
    result = CliRunner().invoke(readings, [*arguments.split(), str(tmp_path / "runs"), "--out", str(out)])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["reading"], row["seed"]) for row in rows] == [
        ("printed", 0), ("frozen", 0), ("printed", 3), ("frozen", 3)
    ]  # fmt: skip
    written = pd.read_csv(out)
    assert set(written["policy"]) == set(POLICIES)
    assert out.read_bytes() == (tmp_path / "runs" / "metrics.csv").read_bytes()
    refused = CliRunner().invoke(readings, ["--policy", "IX", "--results", str(tmp_path)])
    assert "expected one of IP, IE" in str(refused.exception)


def test_files_and_numbers_agree_with_the_metrics(runs: pd.DataFrame) -> None:
    metrics = study.metrics_of(runs)
    page = ReadingsPage(metrics)
    mine = metrics.query(
        "reading == 'frozen' and seed == 0 and sample == 'common' and table == 'I' and policy == 'E-IE'"
    )
    row = page.diff_by_reading().set_index(["table", "policy"]).loc["I", "E-IE"]
    assert row["paper"] == 53.93
    assert row["frozen"] == pytest.approx(mine["diff"].iloc[0])
    assert set(page.files()) == {"readings_closeness.csv", "readings_diff.csv", "readings_seeds.csv"}
    assert "`frozen`" in page.readings()
    assert page.closeness("I", "core").startswith("| reading | %diff |")
    with pytest.raises(InputError, match="expected one of"):
        page.closeness("III", "core")


def test_the_spread_is_over_seeds(runs: pd.DataFrame) -> None:
    metrics = study.metrics_of(runs)
    diff = metrics.query("reading == 'printed' and sample == 'common' and table == 'I' and policy == 'P-IE'")["diff"]
    spread = ReadingsPage(metrics).spread_over_seeds().set_index(["reading", "table", "policy"])
    row = spread.loc["printed", "I", "P-IE"]
    assert (row["diff_min"], row["diff_max"], row["seeds"]) == (diff.min(), diff.max(), len(diff))
    assert 1 <= row["rank_min"] <= row["rank_max"] <= 17
