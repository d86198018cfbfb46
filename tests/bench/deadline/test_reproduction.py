"""The reproduction of the experiment on one zone, and tables in dollars."""

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from docs.studies.cli import studies
from hindsched.bench.commands.group import hindsched
from hindsched.bench.deadline import reproduction
from hindsched.bench.deadline.cells import cells, line_of_row, with_ratios
from hindsched.bench.deadline.reproduction import WORK_S, Setup, experiment
from hindsched.bench.family import family_named
from hindsched.instances.errors import InputError


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduction, "DEADLINES_H", (52,))
    monkeypatch.setattr(reproduction, "OVERHEADS_S", (720,))


@pytest.mark.usefixtures("small")
def test_one_zone_runs_resumes_and_is_judged(tmp_path: Path) -> None:
    words = ["reproduce", "--family", "deadline", "--starts", "2", "--zones", "us-west-2a", "--results", str(tmp_path)]
    first = CliRunner().invoke(hindsched, [*words, "--json"])
    assert first.exit_code == 0, first.output
    table = [json.loads(line) for line in first.stdout.splitlines()]
    rows = (tmp_path / "runs.jsonl").read_text().splitlines()
    again = CliRunner().invoke(hindsched, words)
    assert (tmp_path / "runs.jsonl").read_text().splitlines() == rows
    assert "renewal" in again.stdout
    assert "step_old" not in again.stdout

    lines = pd.read_csv(tmp_path / "runs.csv")
    assert len(lines) == 2 * (10 + 6 + 2)
    assert (lines.loc[lines["guard"] == "step", "finish"].notna() | (lines["policy"] == "guarded")).sum() >= 2 * 11
    ratios = with_ratios(lines)
    done = ratios[ratios["finish"].notna()]
    assert (done["ratio"] >= 1).all()
    assert (done.loc[done["guard"] == "step", "guarded_ratio"] >= 1).all()
    found = cells(lines, WORK_S)
    assert [row["policy"] for row in table] == found["policy"].to_list()
    greedy = found[(found["policy"] == "greedy") & (found["guard"] == "step")].iloc[0]
    mine = ratios[(ratios["policy"] == "greedy") & (ratios["guard"] == "step")]
    assert greedy["dollars"] == pytest.approx(mine["cost"].mean() / 3.6e9)
    assert greedy["gap_closed"] == 0
    assert greedy["score"] == pytest.approx((3.06 * 48 - greedy["dollars"]) / ((3.06 - 0.9731) * 48))
    assert (tmp_path / "ratios.svg").is_file()

    judged = CliRunner().invoke(studies, ["claims", "deadline", "--results", str(tmp_path), "--json"])
    assert judged.exit_code == 0, judged.output
    assert len(judged.stdout.splitlines()) >= 9


def test_points_of_the_experiment() -> None:
    windows = experiment(Setup())
    assert len({window.name for window in windows}) == len(windows)
    assert 2_150 < len(windows) <= 2_160
    assert len({window.setting for window in windows}) == 6
    assert set(windows) >= set(experiment(Setup(starts=3)))
    assert set(windows) != set(experiment(Setup(seed=1)))
    with pytest.raises(InputError, match="us-east-9"):
        experiment(Setup(zones=("us-east-9",)))


def test_a_missed_run_keeps_what_was_paid_and_counts_as_missed() -> None:
    window = experiment(Setup(starts=1, zones=("us-west-2a",)))[0]
    lines = [
        line_of_row(window, {"value": 10}, "free"),
        line_of_row(window, {"value": 10}, "guarded"),
        line_of_row(window, {"value": None, "paid": 5, "finish": None, "guard": "step_old"}, "greedy"),
        line_of_row(window, {"value": 20, "paid": 20, "finish": 900, "guard": "step"}, "greedy"),
    ]
    found = cells(pd.DataFrame(lines), WORK_S).set_index(["policy", "guard"])
    assert found.loc[("greedy", "step_old"), "missed"] == 1
    assert found.loc[("greedy", "step"), "ratio"] == 2
    assert pd.isna(found.loc[("greedy", "step_old"), "ratio"])


def test_tables_show_dollars_and_rows_units(tmp_path: Path) -> None:
    words = ["score", "--family", "deadline", "--zone", "us-west-2a", "--zone", "us-east-1a", "--starts", "1"]
    words += ["--deadline-h", "52", "--policy", "greedy", "--results", str(tmp_path)]
    shown = CliRunner().invoke(hindsched, words)
    assert shown.exit_code == 0, shown.output
    assert "e+11" not in shown.stdout
    values = pd.read_csv(tmp_path / "ratios.csv")
    assert len(set(values["population"])) == 1  # zones of one setting share a table
    for value in (*values["value"], *values["optimum"]):
        assert f"{value / 3.6e9:.2f} $" in shown.stdout
        assert family_named("deadline").shown(value) == f"{value / 3.6e9:.2f} $"
