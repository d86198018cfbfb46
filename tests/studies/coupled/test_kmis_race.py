from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from docs.studies.commands.kmis import kmis
from docs.studies.coupled.kmis_race import duels, eclat, report, sides
from docs.studies.coupled.kmis_race.cells import LENGTH, Cell, cells_of
from docs.studies.coupled.kmis_race.outcome import Outcome
from docs.studies.coupled.kmis_race.sides import Side, make_sides
from hindsched.bench.campaign.journal import Journal
from hindsched.instances.errors import InputError, SelfCheckError

CELL = Cell("small", 8, 60, 0.8, 3)
REFERENCE = """
import time
from hindsched import offline

def largest_w(up, m, limit=60.0):
    return offline.max_common_slots(up, m).value, 0.0

largest_w_plain = largest_w

def earliest_prefix(up, m, w=20, limit=60.0):
    found = offline.earliest_common_slots(up, m, w)
    return (found.value if found else None), 0.0
"""


def _mine(transactions, *, target, supp, zmin, zmax, algo):
    """Return the miner's answer by trying every item set."""
    from itertools import combinations

    assert (target, algo) == ("s", "b")
    assert transactions[-1] == []  # the miner loses item sets where an item is everywhere
    items = sorted({item for items in transactions for item in items})
    counted = [
        (team, sum(set(team) <= set(items) for items in transactions))
        for size in range(zmin, zmax + 1)
        for team in combinations(items, size)
    ]
    return [(team, support) for team, support in counted if support >= -supp]


def _rows(answers, monkeypatch, tmp_path, *, seeds=1, proven=True, cell=CELL):
    calls = []

    def side(name, value):
        def run(up, m, task, limit_s):
            calls.append((name, task))
            return Outcome(proven or name == "core", value)

        return Side(name, name, run)

    monkeypatch.setattr(duels, "_warmed", set(answers))
    sides = [side(name, value) for name, value in answers.items()]
    rows = duels.duel([cell], sides, tmp_path, seeds=seeds, few_seeds=1, limit_s=1.0)
    return rows, calls


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("density", [0.5, 0.8, 0.95])
def test_sides_agree_with_the_miner(seed, density):
    up = Cell("small", 7, 70, density, 3).draw(seed)
    transactions = [np.flatnonzero(column).tolist() for column in up.T]
    (side,) = make_sides(("core",), None)
    assert eclat.widest(_mine, transactions, up, 3) == side.run(up, 3, "A", 10.0).value
    assert eclat.earliest(_mine, transactions, up, 3) == side.run(up, 3, "B", 10.0).value


def test_greedy_bounds_are_reached_by_a_team():
    up = CELL.draw(1)
    (side,) = make_sides(("core",), None)
    width, end = eclat.seeded(up, 3)
    assert 0 < width <= side.run(up, 3, "A", 10.0).value
    assert side.run(up, 3, "B", 10.0).value <= end <= up.shape[1]


def test_models_and_a_file_give_equal_answers(tmp_path):
    path = tmp_path / "searches.py"
    path.write_text(REFERENCE)
    sides = make_sides(("core", "c-plain", "c-tuned", "cpsat", "highs", "cbc"), path)
    rows = duels.duel([CELL], sides, tmp_path, seeds=1, few_seeds=1, limit_s=20.0)
    assert {row["side"] for row in rows if row["task"] == "A"} == {side.name for side in sides}
    assert "c-plain" not in {row["side"] for row in rows if row["task"] == "B"}
    assert all(row["is_proven"] for row in rows)
    assert all(row["value"] >= LENGTH for row in rows)


def test_different_proofs_end_the_measuring(monkeypatch, tmp_path):
    with pytest.raises(SelfCheckError, match="sides disagree"):
        _rows({"core": 3, "other": 4}, monkeypatch, tmp_path)


def test_unproven_answers_may_differ_and_are_given_up_after_two_seeds(monkeypatch, tmp_path):
    rows, _ = _rows({"core": 3, "other": 4}, monkeypatch, tmp_path, seeds=4, proven=False)
    assert [row["seed"] for row in rows if row["side"] == "other" and row["task"] == "A"] == [0, 1]
    assert len([row for row in rows if row["side"] == "core"]) == 8
    compared = duels.compare(rows)
    (other,) = (row for row in compared if row["side"] == "other" and row["task"] == "A")
    assert (other["seeds"], other["tried"], other["stopped"]) == (4, 2, 2)
    assert "(2 of 2 stopped)" in report.report(compared)


def test_rows_of_the_journal_are_not_measured_again(monkeypatch, tmp_path):
    rows, calls = _rows({"core": 3}, monkeypatch, tmp_path)
    assert {task for _, task in calls} == {"A", "B"}
    again, calls = _rows({"core": 3}, monkeypatch, tmp_path)
    assert calls == []
    assert again == rows


def test_models_meet_small_cells_only(monkeypatch, tmp_path):
    rows, _ = _rows({"core": 3, "cpsat": 3}, monkeypatch, tmp_path, cell=Cell("hard", 8, 60, 0.8, 3))
    assert {row["side"] for row in rows} == {"core"}


def test_the_slow_get_fewer_seeds(monkeypatch, tmp_path):
    rows, _ = _rows({"core": 3, "eclat": 3, "cpsat": 3}, monkeypatch, tmp_path, seeds=3)
    assert [sum(row["side"] == side for row in rows) for side in ("core", "eclat", "cpsat")] == [6, 6, 2]
    rows, _ = _rows({"core": 3, "eclat": 3}, monkeypatch, tmp_path, seeds=3, cell=Cell("growth", 8, 60, 0.8, 3, "p"))
    assert [sum(row["side"] == side for row in rows) for side in ("core", "eclat")] == [6, 2]


def _row(side, seed, seconds, *, proven=True, m=10, task="A"):
    cell = Cell("hard", 100, 1000, 0.5, m)
    return {"cell": cell, "side": side, "seed": seed, "task": task, "seconds": seconds, "is_proven": proven, "value": 1}


def test_ratios_are_taken_array_by_array():
    rows = [_row("core", 0, 1.0), _row("c-plain", 0, 8.0), _row("c-tuned", 0, 2.0), _row("eclat", 0, 20.0)]
    rows += [_row("core", 1, 2.0), _row("c-plain", 1, 1.0), _row("c-tuned", 1, 3.0), _row("eclat", 1, 10.0)]
    compared = {row["side"]: row for row in duels.compare(rows)}
    assert compared["best-c"]["ratio"] == pytest.approx((2.0 + 0.5) / 2)
    assert compared["eclat"]["ratio"] == pytest.approx((20 + 5) / 2)
    assert compared["core"]["median_ms"] == pytest.approx(1500)


def test_a_stopped_search_is_not_the_better_one():
    rows = [_row("core", 0, 1.0), _row("c-plain", 0, 2.0, proven=False), _row("c-tuned", 0, 4.0)]
    assert {row["side"]: row["ratio"] for row in duels.compare(rows)}["best-c"] == pytest.approx(4.0)


def test_targets_say_yes_and_no():
    rows = [_row("core", 0, 3.0), _row("c-plain", 0, 8.0), _row("c-tuned", 0, 1.0), _row("eclat", 0, 60.0)]
    verdicts = {row["target"]: (row["measured"], row["met"]) for row in report.targets(duels.compare(rows))}
    assert verdicts["core / better C, worst cell"] == (pytest.approx(3.0), "no")
    assert verdicts["Eclat / core, worst cell with m = 10, p > 20"] == (pytest.approx(20.0), "yes")
    assert verdicts["core, 100 x 1000, .5, m=10, seconds"] == (pytest.approx(3.0), "no")


def test_a_stopped_side_leaves_a_target_open():
    rows = [_row("core", 0, 1.0), _row("eclat", 0, 10.0, proven=False)]
    verdicts = {row["target"]: row["met"] for row in report.targets(duels.compare(rows))}
    assert verdicts["Eclat / core, worst cell"] == "yes"
    assert verdicts["Eclat / core, worst cell with m = 10, p > 20"] == "open: stopped"


def test_a_sure_miss_counts_more_than_an_open_one():
    rows = [_row("core", 0, 1.0), _row("eclat", 0, 2.0, proven=False)]
    rows += [_row("core", 0, 1.0, m=5), _row("eclat", 0, 3.0, m=5)]
    verdicts = {row["target"]: row for row in report.targets(duels.compare(rows))}
    assert verdicts["Eclat / core, worst cell"]["met"] == "no"
    assert verdicts["Eclat / core, worst cell"]["measured"] == pytest.approx(3.0)


def test_picture_of_tables_and_growth(tmp_path):
    cells = [Cell("small", 20, 200, 0.5, 5), Cell("markov", 20, 200, None, 5), *cells_of(["growth"])]
    rows = [
        {**_row(side, 0, 0.01 * cell.p, task=task, proven=side == "core"), "cell": cell}
        for cell in cells
        for side in ("core", "eclat")
        for task in "AB"
    ]
    path = tmp_path / "kmis.svg"
    report.draw(duels.compare(rows), path)
    text = path.read_text()
    assert all(word in text for word in ("eclat", "workers p", "density", "chains"))


def test_sides_that_cannot_run_report_the_reason(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="expected core"):
        make_sides(("cor",), None)
    with pytest.raises(InputError, match="needs --reference"):
        make_sides(("c-plain",), None)
    monkeypatch.setattr(sides, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pyfim"):
        make_sides(("eclat",), None)
    path = tmp_path / "searches.py"
    path.write_text("largest_w = None\n")
    with pytest.raises(InputError, match="no function largest_w_plain"):
        make_sides(("c-plain",), path)


def test_command_writes_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr("docs.studies.coupled.kmis_race.cells._SMALL", ((8, 60, 0.8),))
    monkeypatch.setattr(duels, "loading_times", lambda folder: {"import_s": 0.5, "compile_s": 9.0})
    ran = CliRunner().invoke(
        kmis, ["--cells", "small", "--sides", "core", "--seeds", "1", "--results", str(tmp_path), "--json"]
    )
    assert ran.exit_code == 0, ran.output
    assert "compilation 9.0 s" in (tmp_path / "tables.md").read_text()
    assert (tmp_path / "table.csv").read_text().startswith("group,axis,p,N,density,m,task,side")
    assert (tmp_path / "kmis.svg").exists()
    with Journal(tmp_path) as journal:
        assert not journal.torn
