"""The metrics relative to a reference, on small frames computed by hand."""

import math

import pandas as pd
import pytest

from hindsched.bench.coupled.versus import COLUMNS, diff_by_wmin, in_order, versus
from hindsched.instances import InputError


def runs(*rows, **fixed):
    """Return a frame of (scenario, trial, policy, makespan)."""
    frame = pd.DataFrame(rows, columns=["scenario", "trial", "policy", "makespan"])
    return frame.assign(**{"m": 5, "n_com": 10, "wmin": 1, **fixed})


def of(frame, policy, reference="IE"):
    table = versus(frame, reference).set_index("policy")
    return table.loc[policy]


TWO_SCENARIOS = runs(
    (0, 0, "IE", 10),
    (0, 1, "IE", 30),  # scenario 0: mean 20
    (1, 0, "IE", 40),
    (1, 1, "IE", None),
    (0, 0, "IP", 20),
    (0, 1, "IP", 30),  # mean 25: (25 - 20) / 20 = 25 %
    (1, 0, "IP", 20),
    (1, 1, "IP", 50),  # only trial 0 counts: (20 - 40) / 20 = -100 %
    # of the four trials three are won: 30 = 30, 20 < 40, and 50 where IE has no makespan
)


def test_a_table_by_hand():
    row = of(TWO_SCENARIOS, "IP")
    assert (row.runs, row.fails, row.scenarios, row.compared) == (4, 0, 2, 2)
    assert row["diff"] == pytest.approx((25 - 100) / 2)
    assert (row.wins, row.wins30) == (75, 75)
    assert row.stdv == pytest.approx(math.hypot(62.5, 62.5))  # about the mean -37.5, one degree of freedom


def test_the_reference_against_itself():
    row = of(TWO_SCENARIOS, "IE")
    assert (row.runs, row.fails, row.compared, row["diff"], row.stdv) == (4, 1, 2, 0, 0)
    assert (row.wins, row.wins30) == (100, 100)  # the trial that it does not finish is not counted


def test_wins_are_counted_by_trials_not_by_scenarios():
    """In one scenario IP loses nine trials narrowly and wins one by so much that its mean is better."""
    lost = [(0, trial, policy, makespan) for trial in range(9) for policy, makespan in (("IE", 100), ("IP", 101))]
    frame = runs(*lost, (0, 9, "IE", 1000), (0, 9, "IP", 100))
    row = of(frame, "IP")
    assert row["diff"] < 0
    assert (row.wins, row.wins30) == (10, 100)


def test_a_makespan_30_percent_above_is_still_within():
    row = of(runs((0, 0, "IE", 10), (0, 0, "IP", 13), (0, 1, "IE", 100), (0, 1, "IP", 131)), "IP")
    assert (row.wins, row.wins30) == (0, 50)


def test_a_run_that_did_not_finish_loses_against_one_that_did():
    frame = runs(
        (0, 0, "IE", 10), (0, 0, "IP", 5),
        (0, 1, "IE", 10), (0, 1, "IP", None),  # lost
        (0, 2, "IE", None), (0, 2, "IP", 900),  # won
        (0, 3, "IE", None), (0, 3, "IP", None),  # not counted
        (0, 4, "IP", 1),  # IE was not run: no trial
    )  # fmt: skip
    row = of(frame, "IP")
    assert (row.runs, row.wins, row.wins30) == (5, pytest.approx(200 / 3), pytest.approx(200 / 3))
    assert of(frame, "IE").wins == 100


def test_swapping_the_two_changes_the_sign_only():
    there, back = of(TWO_SCENARIOS, "IP"), of(TWO_SCENARIOS, "IE", reference="IP")
    assert there["diff"] == -back["diff"]
    assert there.stdv == back.stdv


def test_a_scenario_that_only_one_finishes_is_left_out_but_its_fail_counts():
    frame = runs((0, 0, "IE", 10), (0, 0, "IP", None), (1, 0, "IE", 10), (1, 0, "IP", 13), (2, 0, "IP", 1))
    row = of(frame, "IP")
    assert (row.runs, row.fails, row.scenarios, row.compared) == (3, 1, 2, 1)  # scenario 2 was not run by IE
    assert (row["diff"], row.wins, row.wins30) == (pytest.approx(30), 0, 50)
    assert math.isnan(row.stdv)  # of one scenario


def test_nothing_to_compare_is_no_number():
    row = of(runs((0, 0, "IE", None), (0, 0, "IP", None)), "IP")
    assert (row.fails, row.scenarios, row.compared) == (1, 1, 0)
    assert all(math.isnan(row[name]) for name in ("diff", "wins", "wins30", "stdv"))
    assert math.isnan(of(runs((0, 0, "IE", 1), (1, 0, "IP", 1)), "IP").wins)  # no trial in which both were run


def test_scenarios_of_different_points_and_seeds_are_different():
    here, there = runs((0, 0, "IE", 10), (0, 0, "IP", 20)), runs((0, 0, "IE", 10), (0, 0, "IP", 10))
    for changed in ({"wmin": 2}, {"m": 10}, {"n_com": None}, {"setting": "other"}, {"instance_seed": 1}):
        named = here.assign(setting="one", instance_seed=0, fingerprint="x")
        other = there.assign(setting="one", instance_seed=0, fingerprint="y").assign(**changed)
        row = of(pd.concat([named, other], ignore_index=True), "IP")
        assert (row.compared, row["diff"], row.wins) == (2, 50, 50)


def test_an_instance_without_a_scenario_is_its_own_scenario():
    frame = pd.DataFrame({"instance": ["a", "a", "b", "b"], "policy": ["IE", "IP"] * 2, "makespan": [10, 20, 10, 10]})
    for shown in (frame, frame.assign(m=None, n_com=None, wmin=None, scenario=None, trial=None)):
        assert of(shown, "IP").compared == 2
        assert of(shown, "IP")["diff"] == 50


def test_a_repeated_run_and_a_missing_reference_are_refused():
    once = runs((0, 0, "IE", 10), (0, 0, "IP", 20))
    with pytest.raises(InputError, match=r"^IP: was run twice on an instance"):
        versus(pd.concat([once, once.iloc[1:]], ignore_index=True))
    with pytest.raises(InputError, match=r"^reference: 'Y-IE', expected a policy that was run: IP, IE$"):
        versus(once, "Y-IE")


def test_policies_of_users_come_last():
    frame = runs((0, 0, "b.py:B", 1), (0, 0, "a.py:A", 1), (0, 0, "RANDOM", 1), (0, 0, "IE", 1))
    assert versus(frame)["policy"].tolist() == ["IE", "RANDOM", "a.py:A", "b.py:B"] == in_order(frame["policy"])


def test_diff_by_wmin_is_the_table_at_each_point():
    one, two = runs((0, 0, "IE", 10), (0, 0, "IP", 20)), runs((0, 0, "IE", 10), (0, 0, "IP", 15), wmin=2)
    other = runs((0, 0, "IE", 10), (0, 0, "IP", 10), n_com=None)
    found = diff_by_wmin(pd.concat([two, other, one], ignore_index=True))
    mine = found[found["policy"] == "IP"]
    assert mine[["m", "wmin", "diff"]].to_numpy().tolist() == [[5, 1, 100], [5, 2, 50], [5, 1, 0]]
    assert mine["n_com"].isna().tolist() == [False, False, True]
    together = diff_by_wmin(pd.concat([two, other, one], ignore_index=True), panels=())
    assert together[together["policy"] == "IP"][["wmin", "diff"]].to_numpy().tolist() == [[1, 50], [2, 50]]


def test_diff_by_wmin_of_nothing_is_empty():
    for frame in (
        runs((0, 0, "IP", 10)),
        runs((0, 0, "IE", 10), wmin=None),
        runs((0, 0, "IE", 1)).drop(columns="wmin"),
    ):
        found = diff_by_wmin(frame)
        assert list(found.columns) == ["m", "n_com", "wmin", *COLUMNS]
        assert len(found) == 0
