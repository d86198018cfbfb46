"""The ratio table: the same rows give the same numbers everywhere, and bounds where runs are missing."""

import json
import re

import pandas as pd
import pytest
from click.testing import CliRunner

from hindsched.bench.commands.group import hindsched
from hindsched.bench.results.curves import ecdf
from hindsched.bench.results.print_table import between
from hindsched.bench.results.ratio_statistics import STATISTICS, ends
from hindsched.bench.results.read import read_results
from hindsched.bench.results.records import records
from hindsched.bench.results.summary import plain, summary
from hindsched.instances import SelfCheckError

CAMPAIGN = """
policies = ["IP", "IE", "RANDOM"]
[[instances]]
m = [3]
n_com = [2]
wmin = [1, 2]
scenarios = 3
trials = 2
slots = 120
p = 4
iterations = 3
"""


def invoke(*arguments):
    result = CliRunner().invoke(hindsched, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("campaign")
    (place / "c.toml").write_text(CAMPAIGN)
    printed = invoke("campaign", place / "c.toml", "--results", place / "out", "--jobs", 1, "--json")
    return place / "out", lines(printed)


def test_campaign_report_and_files_agree_to_the_last_digit(folder):
    place, printed = folder
    table = plain(summary(read_results(place).runs))
    assert printed == table
    assert any(row["unfinished"] for row in table)
    written = pd.read_csv(place / "table.csv", keep_default_na=False, na_values=[""])
    assert len(written) == len(table)
    invoke("report", place)
    paged = pd.read_csv(place / "report" / "ratios.csv").set_index("policy")
    for row in table:
        for name in (*(f"{name}_low" for name in STATISTICS), "ci_low", "ci_high", "optimal", "within30", "runs"):
            cell = paged.loc[row["policy"], name]
            assert (None if pd.isna(cell) else cell) == row[name], (row["policy"], name)
        assert written.set_index("policy").loc[row["policy"], "mean_low"] == row["mean_low"]


def test_score_and_campaign_agree_on_the_same_rows(folder, tmp_path):
    place, _ = folder
    point = ["--m", 3, "--n-com", 2, "--wmin", 1, "--p", 4, "--iterations", 3, "--scenarios", 3, "--trials", 2]
    names = [text for name in ("IP", "IE", "RANDOM") for text in ("--policy", name)]
    rows = [json.loads(line) for line in (place / "runs.jsonl").read_text().splitlines()]
    mine = [row for row in rows if row["point"]["wmin"] == 1]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in mine))
    scored = lines(invoke("score", *point, "--slots", 120, *names, "--results", tmp_path, "--jobs", 1, "--json"))
    drawn = [row for row in scored if row["population"].startswith("paper")]
    assert drawn == plain(summary(read_results(tmp_path).runs.query("population.str.startswith('paper')")))
    assert (tmp_path / "runs.jsonl").read_text().startswith("".join(json.dumps(row) + "\n" for row in mine)[:200])


def rows_of(makespans, *, limit=100, optimum=10):
    for number, makespan in enumerate(makespans):
        fixed = {"instance": f"i{number}", "fingerprint": f"sha256:{number}", "setting": "s"}
        yield {"kind": "optimum", **fixed, "status": "optimal", "value": optimum, "bound": optimum}
        yield {"kind": "run", **fixed, "policy": "RANDOM", "makespan": makespan, "slot_limit": limit}


def table_of(tmp_path, makespans):
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_of(makespans)))
    return summary(read_results(tmp_path).runs)


def test_a_statistic_among_unfinished_runs_is_a_bound_and_never_a_number(tmp_path):
    (row,) = records(table_of(tmp_path, [None, None, None, 20]))
    assert ends(row, "median") == (10.0, float("inf"))
    assert between(*ends(row, "median")) == ">= 10.000"
    (row,) = plain(table_of(tmp_path, [None, None, None, 20]))
    assert (row["median"], row["median_low"], row["median_high"]) == (None, 10.0, None)
    (row,) = plain(table_of(tmp_path, [None, None]))
    assert [row[name] for name in STATISTICS] == [None] * 4
    assert row["mean_low"] is None


def test_no_number_of_the_table_for_people_hides_an_unfinished_part(tmp_path):
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_of([None, None, None, 20])))
    table = summary(read_results(tmp_path).runs)
    from hindsched.bench.results.print_table import show_table

    result = CliRunner()
    with result.isolation() as streams:
        show_table(read_results(tmp_path), table, False)
        text = streams[0].getvalue().decode()
    assert re.search(r"RANDOM +3 +>= 10\.000", text), text
    assert "hindsight optima: 4 optimal; runs of each policy: 4\n" in text
    assert "An unfinished run counts as more than its limit" in " ".join(text.split())


def test_the_table_names_the_time_limit_of_unproven_optima(tmp_path):
    rows = list(rows_of([12, 15]))
    rows[0] |= {"status": "feasible", "value": 12, "lower": 9, "bound": 9, "time_limit_s": 2.5}
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    from hindsched.bench.results.print_table import show_table

    result = CliRunner()
    with result.isolation() as streams:
        show_table(read_results(tmp_path), summary(read_results(tmp_path).runs), False)
        text = streams[0].getvalue().decode()
    text = " ".join(text.split())
    assert "hindsight optima: 1 feasible, 1 optimal (time limit 2.5 s); runs of each policy: 2 " in text
    assert "Where the optimum is not proven, a statistic is given by both ends" in text


@pytest.mark.parametrize(
    ("status", "value", "bound", "makespan"),
    [("optimal", 10, 10, 9), ("feasible", 20, 10, 9), ("unknown", None, 10, 9), ("infeasible", None, None, 50)],
)
def test_a_ratio_below_one_is_an_error(tmp_path, status, value, bound, makespan):
    rows = [*rows_of([makespan])]
    rows[0] |= {"status": status, "value": value, "bound": bound}
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(SelfCheckError, match=r"RANDOM on i0: makespan"):
        summary(read_results(tmp_path).runs)


def test_ecdf_ends_below_one_when_runs_are_missing():
    x, share = ecdf([1.0, 3.0, 1.0], total=5)
    assert x.tolist() == [1.0, 3.0]
    assert share.tolist() == [0.4, 0.6]
