"""The reproduced tables: numbers by hand, separate readings, and comparisons with the paper."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from hindsched.bench.commands.reproduce import reproduce
from hindsched.bench.coupled import reproduction
from hindsched.bench.coupled.paper import experiment
from hindsched.bench.coupled.reproduction import READINGS, closeness, compare, run_readings, tables
from hindsched.bench.results.read import read_results
from hindsched.bench.run_records import Options
from hindsched.online import coupled as online_coupled

COMPARISONS = ("frozen", "held-frozen", "candidate-fresh")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    sources = experiment(n_coms=[5], wmins=[1, 2], scenarios=[0], trials=[0, 1], slots=3000)
    runs = run_readings(sources, list(READINGS.values()), Options(check_slots=100), folder, num_processes=2)
    return folder, runs


def test_every_reading_has_its_own_runs(found):
    _, runs = found
    assert set(runs) == set(READINGS)
    for name, frame in runs.items():
        assert len(frame) == 2 * 2 * 2 * 17
        assert set(frame["estimator"]) == {name if name in ("conditional", "undivided") else "printed"}
        assert set(frame["service"]) == {name if name in ("longest", "begun") else "index"}
        assert set(frame["comparison"]) == {name if name in COMPARISONS else "updated"}
        assert set(frame["ties"]) == {"highest" if name == "highest" else "lowest"}
        assert frame["setting"].str.contains("start=stationary").all() == (name == "stationary")
        assert frame["setting"].str.contains("mu=1").all() == (name == "mu1")
    spans = {name: tuple(frame["makespan"].fillna(0)) for name, frame in runs.items()}
    assert spans["printed"] != spans["conditional"]
    assert spans["printed"] != spans["stationary"] != spans["mu1"]
    assert len({spans[name] for name in ("printed", *COMPARISONS)}) == 4
    of_ie = [runs[name].query("policy == 'IE'")["makespan"] for name in ("printed", *COMPARISONS)]
    assert len({tuple(spans.fillna(0)) for spans in of_ie}) == 1


def test_runs_of_another_seed_or_length_in_the_folder_do_not_count(tmp_path):
    printed = [READINGS["printed"]]
    spans = []
    for seed, slots in ((0, 400), (1, 400), (0, 60), (0, 400)):
        sources = experiment(ms=[5], n_coms=[5], wmins=[1], scenarios=[0], trials=[0], slots=slots, seed=seed)
        (runs,) = run_readings(sources, printed, Options(check_slots=100), tmp_path).values()
        assert len(runs) == 17
        spans.append(tuple(runs["makespan"].fillna(0)))
    assert spans[0] == spans[3]
    assert len(set(spans)) == 3


def test_tables_have_the_printed_figures_beside_those_of_the_runs(tmp_path):
    sources = experiment(n_coms=[5], wmins=[1], scenarios=[0], trials=[0], slots=600)
    reproduction.reproduce(tmp_path, sources, Options(check_slots=100), readings=["printed"])
    written = pd.read_csv(tmp_path / "tables.csv").set_index(["table", "policy"])
    assert written.loc[("I", "E-IE"), "printed_diff"] == 53.93
    assert written.loc[("II", "Y-IE"), "printed_fails"] == 141
    assert pd.isna(written.loc[("II", "E-IE"), "printed_diff"])
    assert written.loc[("I", "E-IE"), "runs"] == 1


def test_metrics_are_those_of_the_runs(found):
    _, runs = found
    metrics = tables(runs).set_index(["reading", "table", "policy"])
    for table, m in (("I", 5), ("II", 10)):
        mine = runs["printed"][runs["printed"]["m"] == m]
        wide = mine.pivot_table(index=["wmin", "trial"], columns="policy", values="makespan", dropna=False)
        assert metrics.loc[("printed", table, "Y-IE"), "fails"] == wide["Y-IE"].isna().sum()
        both = wide[["IE", "Y-IE"]].dropna().groupby("wmin").mean()
        diff = 100 * (both["Y-IE"] - both["IE"]) / both.min(axis=1)
        assert metrics.loc[("printed", table, "Y-IE"), "diff"] == pytest.approx(diff.mean())
        assert metrics.loc[("printed", table, "IE"), ["diff", "wins", "stdv"]].tolist() == [0, 100, 0]


def test_a_compact_table_reads_back(found):
    folder, runs = found
    path = folder / "runs.csv.xz"
    reproduction.write_compact(runs, path)
    again = read_results(path).runs
    assert len(again) == sum(len(frame) for frame in runs.values())
    printed = again[(again["estimator"] == "printed") & (again["service"] == "index") & (again["ties"] == "lowest")]
    printed = printed[~printed["setting"].str.contains("mu=|start=") & (printed["comparison"] == "updated")]
    printed = printed.rename(columns={"value": "makespan"})
    assert tables({"printed": printed}).equals(tables({"printed": runs["printed"]}))


def test_the_figure_is_drawn(found):
    folder, runs = found
    reproduction.draw_figure_2(runs, folder / "figure2.svg")
    text = (folder / "figure2.svg").read_text()
    assert all(f"reading {name}" in text for name in READINGS)


def test_the_command_writes_every_file_that_its_help_names(tmp_path):
    arguments = "--m 5 --n-com 5 --wmin 1 --scenarios 0 --trials 0 --slots 500 --check-slots 50 --json --results"
    result = CliRunner().invoke(reproduce, [*arguments.split(), str(tmp_path)], catch_exceptions=False)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["reading"], row["policy"]) for row in rows] == [
        (reading, policy) for reading in ("printed", "conditional") for policy in online_coupled.POLICIES
    ]
    written = {path.name for path in tmp_path.iterdir()}
    assert written >= {"runs.jsonl", "runs.csv.xz", "figure2.svg"}
    assert written >= {f"{name}.{end}" for name in ("tables", "closeness", "metrics") for end in ("csv", "md")}


def figures(**changes):
    rows = [
        {"table": "I", "policy": policy, "fails": 0, "diff": float(i), "wins": 50, "wins30": 60, "stdv": 1.0}
        for i, policy in enumerate(online_coupled.POLICIES)
    ]
    return pd.DataFrame(rows).assign(**changes)


def test_a_table_is_closest_to_itself_and_far_from_its_reverse():
    mine = figures(reading="mine")
    same = compare(mine, figures(), "theirs").iloc[0]
    assert (same.spearman, same.kendall, same.largest, same.largest_fails) == (1.0, 1.0, 0.0, 0)
    other = compare(mine, figures(diff=[float(-i) for i in range(17)], fails=3), "theirs").iloc[0]
    assert (other.spearman, other.kendall, other.largest) == (-1.0, -1.0, 32.0)
    assert (other.where_largest, other.largest_fails) == ("RANDOM", 3)


def test_closeness_is_to_the_first_reading_and_to_the_paper():
    two = pd.concat([figures(reading="printed"), figures(reading="conditional")])
    assert closeness(two, figures())["against"].tolist() == ["printed", "the paper", "the paper"]
    assert closeness(figures(reading="printed"), figures())["against"].tolist() == ["the paper"]
