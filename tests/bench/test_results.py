"""Results of folders, tables and journals as one frame."""

import gzip
import json
import sys
from itertools import product

import pandas as pd
import pytest

from hindsched.bench.bags.paper import Paper as Bag
from hindsched.bench.batches.sources import Drawn
from hindsched.bench.campaign.plan import Campaign, option_combinations, run_campaign
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.family import family_named
from hindsched.bench.grid.sources import Generated
from hindsched.bench.results.read import read_results
from hindsched.bench.results.records import records_or_none
from hindsched.bench.results.summary import summary
from hindsched.bench.run_records import Options
from hindsched.instances import InputError
from hindsched.instances.families import BUILT_IN

POINT = {"p": 20, "m": 5, "n_com": None, "wmin": 2, "iterations": 10, "scenario": 3, "trial": 1, "seed": 7, "slots": 90}
SETTING = "paper p=20 m=5 n_com=none wmin=2 K=10"


def run(policy="IE", makespan=20, instance="a", **others):
    row = {"key": "k", "kind": "run", "setting": SETTING, "instance": instance, "fingerprint": f"sha256:{instance}"}
    return row | {"policy": policy, "makespan": makespan, "estimator": "printed", "service": "index"} | others


def optimum(instance="a", status="optimal", value=10, bound=10, **others):
    row = {"kind": "optimum", "setting": SETTING, "instance": instance, "fingerprint": f"sha256:{instance}"}
    return row | {"stand_by": True, "status": status, "value": value, "bound": bound, "solver": "native"} | others


@pytest.fixture
def read(tmp_path):
    def write_and_read(*rows, torn=""):
        (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + torn)
        return read_results(tmp_path)

    return write_and_read


def test_a_run_gets_its_point_and_its_optimum(read):
    found = read(run(point=POINT, seed=99), optimum(point=POINT, runtime_s=0.5, time_limit_s=60))
    (row,) = found.runs.to_dict("records")
    assert (row["m"], row["wmin"], row["scenario"], row["trial"], row["instance_seed"]) == (5, 2, 3, 1, 7)
    assert pd.isna(row["n_com"])
    assert (row["value"], row["limit"], row["optimum"], row["optimum_bound"]) == (20, 90, 10, 10)
    assert (row["optimum_status"], row["solver"], row["population"]) == ("optimal", "native", "paper p=20 K=10")
    assert (found.left_out, found.torn, len(found.optima)) == (0, False, 1)


def test_a_row_with_required_keys_only(read):
    (row,) = read({"kind": "run", "instance": "x.json", "policy": "mine.py:Mine", "makespan": None}).runs.to_dict(
        "records"
    )
    assert all(pd.isna(row[name]) for name in ("value", "limit", "optimum", "optimum_status", "m"))
    assert row["setting"] == row["population"] == "all runs"


def test_the_newest_row_of_an_instance_a_policy_and_options_counts(read):
    found = read(
        optimum(status="unknown", value=None, bound=3),
        run(makespan=30, code="old"),
        run(makespan=31, estimator="conditional"),
        run(makespan=32, ties="highest"),
        {"kind": "note"},
        run(makespan=20, code="new"),
        optimum(),
    )
    assert sorted(found.runs["value"]) == [20, 31, 32]
    assert set(found.runs["optimum_status"]) == {"optimal"}
    assert found.left_out == 3


def test_the_slot_limit_of_a_run_counts_before_that_of_its_instance(read):
    assert read(run(point=POINT, slot_limit=50)).runs["limit"].tolist() == [50]


def test_only_the_optimum_with_stand_by_bounds_policies(read):
    answer = {"status": "optimal", "value": 10, "bound": 10}
    both = optimum("b", stand_by=answer, no_stand_by=answer | {"value": 30}, kind="optima")
    found = read(run(), run(instance="b"), optimum(value=25, bound=25, stand_by=False), both).runs
    assert found["optimum"].isna().tolist() == [True, False]
    assert found["optimum"].tolist()[1] == 10


def test_the_order_of_rows_does_not_show(read):
    rows = [run(policy, instance=name) for policy in ("IP", "IE") for name in "ab"]
    pd.testing.assert_frame_equal(read(*rows).runs, read(*reversed(rows)).runs)


def test_the_last_row_may_be_torn_for_a_campaign_may_be_running(read):
    found = read(run(), torn='{"kind": "run", "inst')
    assert (len(found.runs), found.torn) == (1, True)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (['{"kind": '], "line 1: broken row"),
        (["[1]"], "line 1: broken row"),
        ([run(), run(makespan="7")], "line 2, makespan: "),
        ([{"kind": "run", "instance": "a", "policy": "IE"}], "line 1: missing key makespan"),
        ([run(makespan=0)], "line 1, makespan: 0, expected a number >= 1"),
        ([run(), run(point={"m": "x"})], 'line 2, point.m: "x", expected an integer'),
        ([run(point={"m": 2**63})], "line 1, point.m: 9223372036854775808, expected an integer <= "),
        ([optimum(point={"slots": 1.5})], "line 1, point.slots: 1.5, expected an integer"),
        ([run(point="x")], 'line 1, point: "x", expected an object'),
        ([run(family=["coupled"])], "line 1, family: a list of 1, expected a text"),
        ([run(family="coupling")], "line 1, family: 'coupling', expected one of coupled, "),
        ([run(estimator=["printed"])], "line 1, estimator: a list of 1, expected a text"),
        ([run(checked_slots="all")], 'line 1, checked_slots: "all", expected '),
        ([{"kind": "optima", "instance": "a", "stand_by": {"value": 3}}], "line 1, stand_by: missing key status"),
        ([optimum(status="perfect")], "line 1, status: "),
        ([optimum()], "no runs, expected rows of policies on instances"),
        ([], "no runs, "),
    ],
)
def test_broken_rows_are_named(tmp_path, rows, said):
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    (tmp_path / "runs.jsonl").write_text(text)
    with pytest.raises(InputError) as caught:
        read_results(tmp_path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))
    assert len(str(caught.value).splitlines()) == 1


def compact(**columns):
    known = {"m": [5, 5], "n_com": [10, None], "wmin": 1, "scenario": [0, 1], "trial": 0, "policy": "IE"}
    return pd.DataFrame(known | {"makespan": [20, None], "optimum": [10, 12], "slots": 100} | columns)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.xz"])
def test_a_compact_table_gives_the_same_results(tmp_path, ending):
    path = tmp_path / f"runs{ending}"
    compact().to_csv(path, index=False)
    found = read_results(path)
    assert found.runs["instance"].tolist() == [
        "m=5 n_com=10 wmin=1 scenario=0 trial=0",
        "m=5 n_com=none wmin=1 scenario=1 trial=0",
    ]
    assert found.runs["optimum_status"].tolist() == ["optimal", "optimal"]
    assert found.runs["optimum_bound"].tolist() == [10, 12]
    assert found.runs["limit"].tolist() == [100, 100]
    assert found.runs["value"].isna().tolist() == [False, True]


def test_one_point_under_two_settings_is_two_instances(tmp_path):
    path = tmp_path / "runs.csv"
    pd.concat([compact(setting="one"), compact(setting="one mu=1", makespan=[7, 8])]).to_csv(path, index=False)
    assert len(read_results(path).runs) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty, expected a table of runs"),
        ("m,policy\n5,IE\n", "no column 'makespan', expected one row per run"),
        (
            "instance,policy,makespan\na,IE,7\na,IP,soon\n",
            "row 2, makespan: 'soon', expected a finite number >= 1, or nothing",
        ),
        ("instance,policy,makespan\na,IE,-7\n", "row 1, makespan: -7, expected a finite number >= 1"),
        ("instance,policy,makespan\na,IE,7\na,IP,inf\n", "row 2, makespan: inf, expected a finite number >= 1"),
        ("instance,policy,makespan\na,IE,0\n", "row 1, makespan: 0, expected a finite number >= 1"),
        ("instance,policy,makespan,optimum\na,IE,7,inf\n", "row 1, optimum: inf, expected a finite number >= 1"),
        ("instance,policy,makespan,optimum\na,IE,7,0\n", "row 1, optimum: 0, expected a finite number >= 1"),
        ("instance,policy,makespan,limit\na,IE,,inf\n", "row 1, limit: inf, expected a finite number >= 0"),
        ("instance,policy,makespan,slots\na,IE,,x\n", "row 1, slots: 'x', expected a finite number >= 0"),
        ("instance,policy,makespan,trial\na,IE,7,0.5\n", "row 1, trial: 0.5, expected a whole number >= 0"),
        ("instance,policy,makespan,wmin\na,IE,7,1e30\n", "row 1, wmin: 1e+30, expected a whole number >= 0"),
        ("instance,policy,makespan\na,,7\n", "row 1, policy: nothing, expected a name"),
        ("instance,policy,makespan\n,IE,7\n", "row 1, instance: nothing, expected a name"),
        ("family,instance,policy,makespan\n,a,IE,7\n", "row 1, family: nothing, expected a name"),
        ("family,instance,policy,makespan\ncats,a,IE,7\n", "family: 'cats', expected one of coupled, "),
        ("family,instance,policy,turnaround,iet\nbags,a,AT,7,x\n", "row 1, iet: 'x', expected a finite number, or"),
        ("instance,policy,makespan,has_own_optimum\na,IE,7,x\n", "row 1, has_own_optimum: 'x', expected True, False"),
        (
            "instance,policy,makespan,optimum,optimum_status\na,IE,7,,optimal\n",
            "row 1, optimum: nothing, expected a number where it is proven",
        ),
        ("policy,makespan\nIE,7\n", "no column 'instance', and not both 'scenario' and 'trial'"),
        ("instance,policy,makespan,optimum_status\na,IE,7,good\n", "row 1, optimum_status: 'good', expected one of"),
        ("instance,policy,makespan\n", "no runs, "),
    ],
)
def test_broken_tables_are_named(tmp_path, text, said):
    path = tmp_path / "runs.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_results(path)
    assert str(caught.value).startswith(f"{path}: {said}")
    assert len(str(caught.value).splitlines()) == 1


def test_files_that_are_no_tables_are_named(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "torn.csv.gz").write_bytes(gzip.compress(b"policy,makespan\n" * 1000)[:40])
    (tmp_path / "no.csv.xz").write_bytes(b"policy")
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "empty").mkdir()
    for name, said in (
        ("a.txt", "no column 'policy', expected one row per run"),
        ("torn.csv.gz", "truncated gzip data, expected a whole file"),
        ("no.csv.xz", "no column 'instance'"),
        ("picture.png", "picture.png: line 1: not UTF-8, expected the text of a table of runs"),
        ("a.parquet", "cannot be read as a table"),
        ("absent.csv", "no such file"),
        ("empty", "no such file"),
    ):
        with pytest.raises(InputError, match=said):
            read_results(tmp_path / name)

    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match="needs pyarrow"):
        read_results(tmp_path / "a.parquet")


def test_control_characters_are_escaped(read):
    found = read(run("a\x00b\u202e", instance="c\nd")).runs
    assert found["policy"].tolist() == ["a\\x00b\\u202e"]
    assert found["instance"].tolist() == ["c\\nd"]


def test_rows_that_repeat_others_are_no_matter(read):
    found = read(run(seed=1, code="old", makespan=20), run(seed=2, code="new", makespan=20), optimum(), optimum())
    assert (found.left_out, found.mixed) == (2, ())


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [run(makespan=20, seed=1), run(makespan=30, seed=2)],
            "1 run came out differently in rows that differ in seed:",
        ),
        (
            [run(makespan=20, code="old"), run(makespan=None, code="new"), run("IP", code="old")],
            "1 run came out differently in rows that differ in code:",
        ),
        (
            [run(makespan=20), run(makespan=30), run(makespan=20)],
            "1 run came out differently in rows that differ in no other column:",
        ),
        (
            [run(), *(optimum(name, "unknown", None, 3, time_limit_s=1) for name in "ab"), optimum(), optimum("b")],
            "2 optima came out differently in rows that differ in time_limit_s:",
        ),
    ],
)
def test_rows_of_several_campaigns_are_reported(read, rows, said):
    (sentence,) = read(*rows).mixed
    assert sentence.startswith(f"{said} the last row of each counts.")


def test_conflicting_rows_of_a_table_are_reported(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("instance,policy,seed,makespan\na,RANDOM,1,9\na,RANDOM,2,11\na,IE,1,7\na,IE,2,7\n")
    found = read_results(path)
    assert sorted(found.runs["value"]) == [7, 11]
    assert found.mixed[0].startswith("1 run came out differently in rows that differ in seed:")


def test_instances_of_several_lengths_are_no_population(read):
    long = POINT | {"slots": 500}
    found = read(run(point=POINT), run(point=POINT, instance="b"), run(point=long, instance="c")).runs
    assert found["population"].tolist() == ["paper p=20 K=10 slots=500"] + ["paper p=20 K=10 slots=90"] * 2
    assert set(read(run(point=POINT), run(point=POINT, instance="b")).runs["population"]) == {"paper p=20 K=10"}


def test_no_family_calls_an_axis_as_another_calls_an_option():
    families = [family_named(name) for name in BUILT_IN]
    for one, other in product(families, families):
        assert not set(one.run_options) & {*other.axes, *other.columns}


SOURCES = [
    Paper(2, 2, 1, 0, 0, 300, 0, 3, 2),
    Paper(2, 2, 1, 0, 0, 20, 0, 3, 2),
    Bag("M01", 2, 1800, 1, "shared", 720, slots=400),
    Drawn(workers=20, tasks=4, batches=2),
    Generated(8, 3600, 6, 0.9, 1),
]
POLICIES = ["IE", "RANDOM", "FCFS", "FCFS-PRDCT-DMD", "A1", "dgs", "easy"]


@pytest.fixture(scope="module")
def of_every_family(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    readings = option_combinations(
        Options(time_limit_s=20.0), {"max_copies": ["3", "2"], "estimator": ["printed", "conditional"]}
    )
    run_campaign(Campaign(SOURCES, POLICIES, readings), folder)
    return folder


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_runs_written_as_a_table_are_read_again(of_every_family, tmp_path, ending):
    path = tmp_path / f"runs{ending}"
    runs = read_results(of_every_family).runs
    assert len(runs) == 8 + 4 + 1 + 2
    if ending == ".csv":
        runs.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        runs.to_parquet(path)
    again = read_results(path).runs
    assert records_or_none(again[runs.columns]) == records_or_none(runs)
    pd.testing.assert_frame_equal(summary(again), summary(runs))


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("optimum", ["10", "", "9"], "9.0"),
        ("optimum_bound", ["8", "", "9"], "9.0"),
        ("optimum_status", ["optimal", "", "feasible"], "'feasible'"),
    ],
)
def test_rows_of_one_instance_have_one_optimum(tmp_path, column, values, said):
    given = pd.DataFrame({"policy": ["IE", "IP", "IY", "IE"], "instance": ["a", "a", "a", "b"], "makespan": 20})
    given["optimum"] = 10
    given["optimum_status"] = "optimal" if column == "optimum_status" else "feasible"
    given = given.astype(object)
    given[column] = [*values, values[0]]
    given.to_csv(tmp_path / "runs.csv", index=False)
    with pytest.raises(InputError) as refused:
        read_results(tmp_path / "runs.csv")
    place = f"{tmp_path / 'runs.csv'}: row 3, {column}"
    assert str(refused.value) == f"{place}: {said}, expected the optimum in earlier rows of the instance"
