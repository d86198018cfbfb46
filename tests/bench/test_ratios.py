"""Competitive ratios: numbers where the optimum is proven, intervals where not, an error below 1."""

import pytest

from bench.results.ratios import COLUMNS, ratios, records, table
from bench.results.stats import bootstrap_mean, ecdf
from instances import SelfCheckError


def optimum(instance, status, value, bound):
    return {"instance": instance, "status": status, "value": value, "bound": bound, "solver": "cpsat"}


def run(instance, policy, makespan):
    return {"setting": "s", "instance": instance, "policy": policy, "makespan": makespan}


def test_a_proven_optimum_gives_a_number():
    (ratio,) = ratios([optimum("a", "optimal", 10, 10)], [run("a", "IP", 15)])
    assert (ratio.low, ratio.high) == (1.5, 1.5)


def test_an_open_optimum_gives_an_interval_and_a_better_policy_narrows_it():
    found = ratios([optimum("a", "feasible", 20, 10)], [run("a", "IP", 30), run("a", "IE", 15)])
    assert [(ratio.low, ratio.high) for ratio in found] == [(2.0, 3.0), (1.0, 1.5)]


def test_an_unknown_optimum_is_bounded_by_the_best_policy():
    found = ratios([optimum("a", "unknown", None, 10)], [run("a", "IP", 30), run("a", "IE", 15)])
    assert [(ratio.low, ratio.high) for ratio in found] == [(2.0, 3.0), (1.0, 1.5)]
    (ratio,) = ratios([optimum("a", "unknown", None, None)], [run("a", "IP", 30)])
    assert (ratio.low, ratio.high) == (1.0, None)


@pytest.mark.parametrize(
    ("row", "makespan"),
    [
        (optimum("a", "optimal", 10, 10), 9),
        (optimum("a", "feasible", 20, 10), 9),
        (optimum("a", "unknown", None, 10), 9),
        (optimum("a", "infeasible", None, None), 50),
    ],
)
def test_a_ratio_below_one_is_an_error(row, makespan):
    with pytest.raises(SelfCheckError, match=r"IP on a: makespan"):
        ratios([row], [run("a", "IP", makespan)])


def test_instances_that_nobody_can_finish_are_left_out():
    assert ratios([optimum("a", "infeasible", None, None)], [run("a", "IP", None)]) == []


def test_the_table_keeps_unfinished_runs_in_the_denominator():
    optima = [optimum(name, "optimal", 10, 10) for name in "abcd"]
    runs = [run("a", "IP", 10), run("b", "IP", 20), run("c", "IP", None), run("d", "IP", 10)]
    (row,) = records(table(ratios(optima, runs), ["IP"]))
    assert list(row) == list(COLUMNS)
    assert (row["solved"], row["unfinished"], row["optimal"]) == (3, 1, 0.5)
    assert row["mean"] == pytest.approx(4 / 3)
    assert row["median"] == 1.0
    assert row["ci_low"] <= row["mean"] <= row["ci_high"]


def test_missing_numbers_are_none():
    optima = [optimum("a", "optimal", 10, 10), optimum("b", "unknown", None, None)]
    runs = [run("a", "IP", None), run("b", "IP", None), run("a", "IE", 12), run("b", "IE", 13)]
    rows = records(table(ratios(optima, runs), ["IP", "IE"]))
    assert rows[0]["mean"] is None
    assert rows[0]["ci_low"] is None
    assert rows[0]["optimal"] == 0.0
    assert rows[1]["mean_high"] is None  # one ratio has no upper end
    assert rows[1]["mean"] == pytest.approx(1.1)


def test_bootstrap_interval_covers_and_is_reproducible():
    sample = [1.0, 1.1, 1.2, 1.5, 2.0, 1.3]
    low, high = bootstrap_mean(sample)
    assert 1.0 <= low < sum(sample) / 6 < high <= 2.0
    assert bootstrap_mean(sample) == (low, high)


def test_ecdf_ends_below_one_when_runs_are_missing():
    x, share = ecdf([1.0, 3.0, 1.0], total=5)
    assert x.tolist() == [1.0, 3.0]
    assert share.tolist() == [0.4, 0.6]
