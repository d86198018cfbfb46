"""Distributions of ratios, by hand: intervals, unfinished runs, shares, bootstraps, profiles."""

import math

import numpy as np
import pandas as pd
import pytest

from hindsched.bench.results.bootstrap import percentiles, resample, resampled_means, resampled_medians
from hindsched.bench.results.curves import thinned
from hindsched.bench.results.quantile import quantile
from hindsched.bench.results.ratio_statistics import distribution, in_median_order, medians
from hindsched.bench.results.ratios import contradictions, profile, with_ratios

INF = math.inf


def runs(*rows, **fixed):
    """Return runs of (instance, policy, value), by default on instances with a proven optimum of 10."""
    frame = pd.DataFrame(rows, columns=["instance", "policy", "value"]).astype({"value": float})
    known = {"optimum": 10.0, "optimum_bound": 10.0, "optimum_status": "optimal", "limit": 100.0, "solver": "native"}
    known |= {"m": None, "n_com": None, "wmin": None, "scenario": None, "instance_seed": None, "setting": "s"}
    known |= {"family": "coupled", "sense": "min", "options": "", "population": "s", "has_own_optimum": False}
    frame = frame.assign(fingerprint=frame["instance"], **known, check="valid", optimum_check="valid").assign(**fixed)
    numbers = dict.fromkeys(("optimum", "optimum_bound", "limit"), "float64")
    axes = ["m", "n_com", "wmin", "scenario", "instance_seed"]
    frame = frame.astype(numbers | dict.fromkeys(axes, "Int64"))
    drawn = frame[axes].astype("string").fillna("none").agg(" ".join, axis=1)
    return frame.assign(cluster=drawn.where(frame["scenario"].notna(), frame["fingerprint"]))


def ends(frame):
    return with_ratios(frame)[["low", "high"]].to_numpy().tolist()


def test_a_ratio_is_a_number_where_the_optimum_is_proven_and_an_interval_where_not():
    assert ends(runs(("a", "IE", 15))) == [[1.5, 1.5]]
    open_ = {"optimum": 12.0, "optimum_status": "feasible"}
    assert ends(runs(("a", "IE", 15), ("a", "IP", 30), **open_)) == [[1.25, 1.5], [2.5, 3.0]]
    assert ends(runs(("a", "IE", 11), ("a", "IP", 33), **open_)) == [[1.0, 1.1], [3.0, 3.3]]  # a policy knows better
    unknown = {"optimum": None, "optimum_bound": None, "optimum_status": "unknown"}
    assert ends(runs(("a", "IE", 15), ("a", "IP", 30), **unknown)) == [[1.0, INF], [2.0, INF]]


def test_an_unfinished_run_is_more_than_its_limit():
    assert ends(runs(("a", "IE", None))) == [[10.0, INF]]
    assert ends(runs(("a", "IE", None), limit=None)) == [[INF, INF]]


def test_an_unfinished_run_is_never_optimal():
    at_the_limit = runs(("a", "IE", None), ("a", "IP", 10), limit=10.0)
    assert ends(at_the_limit)[0] == [1.0, INF]
    table = distribution(with_ratios(at_the_limit)).set_index("policy")
    assert table.loc["IE", ["optimal", "optimal_high"]].tolist() == [0.0, 0.0]
    assert table.loc["IP", ["optimal", "optimal_high"]].tolist() == [1.0, 1.0]
    assert ends(runs(("a", "IE", None), limit=5.0)) == [[1.0, INF]]  # the limit is below the optimum


def test_instances_that_nothing_finishes_are_left_out():
    assert ends(runs(("a", "IE", None), optimum=None, optimum_bound=None, optimum_status="infeasible")) == []
    assert ends(runs(("a", "IE", None), optimum=None, optimum_bound=5.0, optimum_status="unknown")) == []


def test_a_table_by_hand():
    frame = runs(
        *((name, "IE", makespan) for name, makespan in zip("abcdefgh", [10, 11, 12, 13, 20, 21, 30, 40], strict=True))
    )
    (row,) = distribution(with_ratios(frame)).to_dict("records")
    assert (row["runs"], row["unfinished"]) == (8, 0)
    assert [row[name] for name in ("quartile_1", "median", "quartile_3")] == pytest.approx([1.175, 1.65, 2.325])
    assert row["mean"] == row["mean_high"] == pytest.approx(1.9625)
    assert [row[name] for name in ("optimal", "within10", "within30", "within100")] == [1 / 8, 2 / 8, 4 / 8, 5 / 8]
    assert math.isnan(row["ci_low"])
    assert math.isnan(row["ci_high"])


def test_unfinished_runs_stay_in_the_denominator():
    frame = runs(("a", "IE", 10), ("b", "IE", 20), ("c", "IE", None), ("d", "IE", None), ("e", "IE", None))
    (row,) = distribution(with_ratios(frame)).to_dict("records")
    assert (row["runs"], row["unfinished"], row["optimal"], row["within100"]) == (5, 3, 0.2, 0.4)
    assert (row["quartile_1"], row["quartile_1_high"]) == (2.0, 2.0)
    assert math.isnan(row["median"])
    assert (row["median_low"], row["median_high"]) == (10.0, INF)  # more than 100 slots over 10
    assert row["mean"] == 1.5  # of those that finished


def test_nothing_finished_is_no_mean():
    (row,) = distribution(with_ratios(runs(("a", "IE", None), ("b", "IE", None)))).to_dict("records")
    assert math.isnan(row["median"])
    assert (row["median_low"], row["median_high"]) == (10.0, INF)
    assert all(math.isnan(row[name]) for name in ("mean", "mean_high", "ci_low", "ci_high"))


def test_ratios_with_only_a_lower_bound_come_last():
    frame = runs(
        *(("a", policy, makespan) for policy, makespan in (("IP", None), ("IE", 300), ("IY", 200))), limit=50.0
    )
    assert in_median_order(distribution(with_ratios(frame)))["policy"].tolist() == ["IY", "IE", "IP"]


def test_by_a_parameter_with_unbounded_n_com_last():
    parts = [runs(("a", "IE", 10), m=5, n_com=None), runs(("b", "IE", 20), m=5, n_com=7), runs(("c", "IE", 90))]
    table = distribution(with_ratios(pd.concat(parts, ignore_index=True)), ["n_com"])
    assert table["median"].tolist() == [2.0, 1.0]  # the last instance belongs to no point
    assert table["n_com"].isna().tolist() == [False, True]


def test_trials_of_a_scenario_are_drawn_together():
    names = [f"i{number:02}" for number in range(40)]
    frame = runs(*((name, "IE", 10 if number < 20 else 30) for number, name in enumerate(names)))
    alone = distribution(with_ratios(frame)).iloc[0]
    together = frame.assign(m=5, scenario=[number // 4 for number in range(40)])
    together = together.assign(cluster=together["scenario"].astype(str))
    row = distribution(with_ratios(together)).iloc[0]
    assert row.ci_low < alone.ci_low < row["mean"] < alone.ci_high < row.ci_high  # ten scenarios, not forty instances
    few = distribution(with_ratios(together[:36])).iloc[0]
    assert math.isnan(few.ci_low)  # nine scenarios


def test_clusters_with_several_parents_are_drawn_in_two_steps():
    names = [f"i{number:02}" for number in range(40)]
    frame = runs(*((name, "IE", 10 if number < 20 else 30) for number, name in enumerate(names)))
    alone = distribution(with_ratios(frame)).iloc[0]
    parents = frame.assign(parent=[str(number // 10) for number in range(40)])
    row = distribution(with_ratios(parents)).iloc[0]
    assert row.ci_low < alone.ci_low < row["mean"] < alone.ci_high < row.ci_high  # four parents differ, not their runs
    pd.testing.assert_series_equal(distribution(with_ratios(frame.assign(parent="a"))).iloc[0], alone)
    ends = medians(with_ratios(parents)).iloc[0]
    assert (ends.ci_low, ends.ci_high) == (1.0, 3.0)


def test_medians_mark_policies_that_do_not_differ_significantly_from_the_best():
    names = [f"i{number}" for number in range(40)]
    rows = [(name, "IE", 20 + number % 5) for number, name in enumerate(names)]
    rows += [(name, "IY", 20 + (number + 2) % 5) for number, name in enumerate(names)]
    rows += [(name, "IP", 60) for name in names]
    table = medians(with_ratios(runs(*rows))).set_index("policy")
    assert table.loc["IP", ["ci_low", "ci_high"]].tolist() == [6.0, 6.0]
    assert table.loc["IE", ["behind_low", "behind_high"]].tolist() == [0.0, 0.0]
    assert table.loc["IE"].isna().sum() == 0
    assert table.loc["IY", "behind_low"] <= 0 < table.loc["IP", "behind_low"]


def test_one_instance_gives_no_interval():
    table = medians(with_ratios(runs(("a", "IE", 10), ("a", "IP", 20)))).set_index("policy")
    assert table.loc["IP"].isna().all()
    assert table.loc["IE", ["behind_low", "behind_high"]].tolist() == [0.0, 0.0]


def test_a_profile_is_over_instances_that_all_were_run_on_and_one_finished():
    frame = runs(
        *(("a", "IE", 10), ("a", "IP", 15)),
        *(("b", "IE", 30), ("b", "IP", None)),
        *(("c", "IE", None), ("c", "IP", None)),
        ("d", "IE", 10),
    )
    found = profile(frame)
    assert list(found) == ["IP", "IE"]
    assert found.loc["a"].tolist() == [1.5, 1.0]
    assert found.loc["b"].tolist() == [INF, 1.0]
    assert len(found) == 2


def test_impossible_ratios_are_refused():
    assert contradictions(runs(("a", "IE", 10), ("b", "IE", None))) == []
    assert contradictions(runs(("a", "IE", 9))) == [
        "IE on a: makespan 9, although native proved that the optimum is >= 10"
    ]
    never = {"optimum": None, "optimum_bound": None, "optimum_status": "infeasible"}
    assert contradictions(runs(("a", "IE", 9), **never)) == [
        "IE on a: makespan 9, although native proved that no schedule finishes"
    ]
    refused = runs(("a", "IE", 10), ("a", "IP", 10), optimum_check="R3", check=["valid", "R1"])
    assert contradictions(refused) == ["IP on a: the checker says R1", "optimum of a: the checker says R3"]


def test_quantiles_and_medians_among_infinite_numbers():
    assert quantile([1, 2, INF, INF], 0.5) == INF
    assert quantile([1, 2, 3, INF], 0.5) == 2.5
    assert quantile([-INF, 1], 0.0) == -INF
    assert math.isnan(quantile([], 0.5))
    weights = np.array([[2.0, 1.0], [0.0, 3.0], [0.0, 0.0]])
    sample, clusters = np.array([1.0, INF]), np.array([0, 1])
    assert resampled_medians(sample, clusters, weights).tolist()[:2] == [1.0, INF]
    assert math.isnan(resampled_medians(sample, clusters, weights)[2])
    assert math.isnan(percentiles(np.array([]))[0])


def test_a_bootstrap_of_means_comes_near_the_normal_interval():
    sample = np.random.default_rng(5).normal(3, 1, 400)
    weights = resample(400)
    assert (weights.sum(axis=1) == 400).all()
    low, high = percentiles(resampled_means(sample, np.arange(400), weights))
    half = 1.96 * sample.std(ddof=1) / 20
    assert (low, high) == pytest.approx((sample.mean() - half, sample.mean() + half), abs=0.01)


def test_a_thinned_curve_keeps_the_last_step_and_hides_less_than_a_point():
    x = np.geomspace(1, 50, 5000)
    share = np.linspace(0.1, 1, 5000)
    thin, kept = thinned(x, share, left=1, right=50, points=100)
    assert len(thin) <= 100
    assert (thin[-1], kept[-1]) == (x[-1], share[-1])
    true = share[np.searchsorted(x, thin)]
    assert (kept == true).all()
