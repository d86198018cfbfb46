"""The printed tables: facts read from them, and distances from them by hand."""

import math

import pandas as pd
import pytest

from hindsched.bench.coupled.paper_tables import METRICS, SUBSETS, compare_metrics, printed_tables, read_tables
from hindsched.instances import InputError
from hindsched.online.coupled import POLICIES

HEAD = "table,policy,fails,diff,wins,wins30,stdv"


def test_the_printed_tables_are_complete() -> None:
    printed = printed_tables().set_index(["table", "policy"])
    assert set(printed.loc["I"].index) == set(POLICIES)
    assert set(printed.loc["II"].index) == {"Y-IE", "P-IE", "E-IAY", "E-IY", "E-IP", "IAY", "IY"}
    assert printed.loc[("I", "IE"), ["diff", "wins", "wins30", "stdv"]].tolist() == [0, 100, 100, 0]
    assert (printed["wins"] <= printed["wins30"]).all()
    assert printed.loc["I"]["diff"].is_monotonic_increasing  # as the paper orders its rows


def test_the_core_leaves_out_random_and_the_long_tails() -> None:
    assert len(SUBSETS["core"]) == 10
    left_out = set(POLICIES) - set(SUBSETS["core"]) - {"RANDOM"}
    tails = printed_tables().query("table == 'I' and stdv > 500 and policy != 'RANDOM'")
    assert left_out == set(tails["policy"])


def distance(found: pd.DataFrame, printed: pd.DataFrame, metric: str, subset: str = "all") -> pd.Series:
    table = compare_metrics(found, printed).query(f"metric == '{metric}' and subset == '{subset}'")
    assert len(table) == 1
    return table.iloc[0]


def rows(**of_policies: tuple[float, ...]) -> pd.DataFrame:
    named = [dict(zip(METRICS, numbers, strict=True), policy=name) for name, numbers in of_policies.items()]
    return pd.DataFrame(named).assign(table="I", reading="mine")


def test_distances_by_hand() -> None:
    mine = rows(IP=(0, 10.0, 1, 2, 3), IE=(0, 0.0, 100, 100, 0), RANDOM=(0, 50.0, 0, 0, 9), IY=(0, math.nan, 5, 5, 1))
    printed = rows(IP=(3, 4.0, 9, 9, 9), IE=(1, 0.0, 100, 100, 0), RANDOM=(0, 2.0, 0, 1, 9), IAY=(9, 9.0, 9, 9, 9))
    row = distance(mine, printed, "diff")  # IP 6, IE 0, RANDOM 48; IY has no number, IAY was not run
    assert (row["rows"], row["mean"], row["largest"], row["where"]) == (3, 18.0, 48.0, "RANDOM")
    assert row["spearman"] == pytest.approx(0.5)  # ranks 2 1 3 against 3 1 2
    row = distance(mine, printed, "diff", "core")
    assert (row["rows"], row["mean"], row["spearman"]) == (2, 3.0, pytest.approx(1.0))
    assert math.isnan(distance(mine, printed, "fails")["spearman"])  # no policy that was run fails: no order


def test_fails_are_brought_to_the_size_of_the_experiment() -> None:
    mine = rows(IP=(2, 0, 0, 0, 0), IE=(1, 0, 0, 0, 0)).assign(runs=[300, 600])
    printed = rows(IP=(25, 0, 0, 0, 0), IE=(5, 0, 0, 0, 0))
    row = distance(mine, printed, "fails")  # 20 and 5
    assert (row["mean"], row["largest"], row["where"]) == (2.5, 5.0, "IP")


def test_every_group_and_table_is_compared() -> None:
    two = pd.concat([printed_tables().assign(reading=name, seed=seed) for name in "ab" for seed in (0, 1)])
    found = compare_metrics(two, by=("reading", "seed"))
    assert len(found) == 2 * 2 * 2 * 2 * 5
    assert (found["mean"] == 0).all()
    assert found["spearman"].min() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty, expected a table"),
        ("a,b\n1,2\n", "line 1: columns a, b, expected table, policy, fails, diff, wins, wins30, stdv"),
        ("{head}\nIII,IE,0,0,0,0,0\n", "line 2: table 'III', expected one of I, II"),
        ("{head}\nI,IX,0,0,0,0,0\n", "line 2: 'IX', expected a heuristic of the paper"),
        ("{head}\nI,IE,0,0,0,0,0\nI,IP,0,x,0,0,0\n", "line 3, diff: 'x', expected a number"),
        ("{head}\nI,IE,0,0,0,0,0\nI,IE,0,1,0,0,0\n", "line 3: a repeated heuristic, expected each once per table"),
    ],
)
def test_invalid_figures_are_refused_in_one_line(tmp_path, text, said) -> None:
    path = tmp_path / "figures.csv"
    path.write_text(text.format(head=HEAD))
    with pytest.raises(InputError) as caught:
        read_tables(path)
    assert str(caught.value).startswith(f"{path}: {said}")
    assert len(str(caught.value).splitlines()) == 1


def test_figures_read_back(tmp_path) -> None:
    printed_tables().to_csv(tmp_path / "figures.csv", index=False)
    pd.testing.assert_frame_equal(read_tables(tmp_path / "figures.csv"), printed_tables())
