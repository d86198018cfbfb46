"""The study of strategy files: rows of built-in policies and of files on the same windows."""

from types import SimpleNamespace

import pandas as pd
import pytest

from docs.studies.deadline import strategy_runs
from docs.studies.rows import read_rows
from hindsched.instances import InputError
from hindsched.instances.deadline import spot_zones


def test_files_run_beside_built_in_policies(tmp_path, monkeypatch):
    monkeypatch.setattr(spot_zones, "spot_zone_names", lambda: ("us-east-2a",))
    monkeypatch.setattr(strategy_runs, "BESIDE", ("on_demand",))
    head = "from sky_spot.strategies.strategy import Strategy\nfrom sky_spot.utils import ClusterType\n\n"
    body = "class A(Strategy):\n    def _step(self, last, has):\n        return "
    files = {"same": "ClusterType.ON_DEMAND", "bad": "self.env.trace"}
    for name, answer in files.items():
        (tmp_path / f"{name}.py").write_text(f"{head}{body}{answer}\n")
    rows = list(strategy_runs.measure([str(tmp_path / f"{name}.py") for name in files], 2))
    assert [tuple(row) for row in rows] == [strategy_runs.COLUMNS] * 3
    built_in, same, bad = rows
    assert built_in["cost"] == same["cost"] >= built_in["free"]
    assert (bad["cost"], "env.trace shows the future" in bad["failure"]) == (None, True)
    assert {row["free"] for row in rows} == {built_in["free"]}
    assert built_in["start_sample"] == spot_zones.starts(["us-east-2a"], 52 * 3600, 1)[0]


def test_the_best_solution_runs_again_on_windows_that_did_not_choose_it(tmp_path, monkeypatch):
    def run_policy(job, policy):
        if policy.endswith("bad.py"):
            raise InputError("stops")
        return SimpleNamespace(cost=len(policy), finish=1)

    monkeypatch.setattr(strategy_runs, "run_policy", run_policy)
    monkeypatch.setattr(strategy_runs, "solve", lambda job: SimpleNamespace(value=1))
    monkeypatch.setattr(spot_zones, "spot_zone_names", lambda: ("us-east-2a", "us-west-2b"))
    files = ["a/solutions/bad.py", "a/solutions/long_name.py", "a/solutions/short.py", "x.py"]
    rows = list(strategy_runs.measure(files, 2))
    first, fresh = rows[: 2 * (4 + len(files))], rows[2 * (4 + len(files)) :]
    assert {row["policy"] for row in first} == {*strategy_runs.BESIDE, *files}
    assert [(row["zone"], row["policy"]) for row in fresh] == [
        (zone, policy) for zone in ("us-east-2a", "us-west-2b") for policy in ("uniform", files[2]) * 2
    ]
    assert not {row["start_sample"] for row in first} & {row["start_sample"] for row in fresh}
    frame = pd.DataFrame(rows)
    assert strategy_runs.best_solution(frame) == files[2]
    assert len(strategy_runs.ratios(frame)) == 2
    assert len(strategy_runs.ratios(frame, is_fresh=True)) == 4
    assert (strategy_runs.ratios(frame)[files[0]] == float("inf")).all()


def test_the_file_of_all_has_every_policy_once():
    frame = strategy_runs.files_frame()
    assert frame["policy"].is_unique
    assert set(strategy_runs.BESIDE) < set(frame["policy"])
    assert (frame["runs"] == 9).all()


def test_the_simulators_own_files_cost_what_their_twins_cost():
    rows = read_rows("deadline_strategies")
    costs = rows.pivot_table(index=["zone", "start_sample"], columns="policy", values="cost").dropna(subset="greedy")
    assert len(costs) == 9
    own = "andylizf/skynomad-artifact/sky_spot/strategies/"
    for file, twin in (("rc_cr_threshold", "uniform"), ("rc_threshold", "uniform_plain"), ("on_demand", "on_demand")):
        assert (costs[f"{own}{file}.py"] == costs[twin]).all()
    (greedy,) = (name for name in costs.columns if name.endswith("initial_greedy.py"))
    assert (costs[greedy] == costs["greedy"]).all()


def test_unfinished_files_stay_in_the_denominator():
    rows = read_rows("deadline_strategies").groupby(["zone", "policy"]).first()
    failed = set(rows[rows["cost"].isna()].reset_index()["policy"])
    means = (rows["cost"] / rows["free"]).groupby("policy").mean()
    files = means[means.index.str.contains("/solutions/")]
    done = files[~files.index.isin(failed)]
    assert strategy_runs.num_files("written") == len(files) > len(done)
    for policy in ("uniform", "uniform_plain"):
        assert strategy_runs.num_files(policy) == sum(mean < means[policy] for mean in done)
        assert strategy_runs.mean_ratio(policy) == f"{means[policy]:.3f}"
    assert strategy_runs.mean_ratio("best") == f"{done.min():.3f}"
    assert strategy_runs.best_solution() == done.idxmin()


def test_the_lead_is_that_of_the_fresh_windows():
    rows = read_rows("deadline_strategies")
    rows["ratio"] = rows["cost"] / rows["free"]
    found = rows.pivot_table(index=["zone", "start_sample"], columns="policy", values="ratio")
    fresh = found[found["greedy"].isna()]
    assert len(fresh) == strategy_runs.num_files("fresh")
    lead = strategy_runs.lead_of_best()
    assert lead.value == pytest.approx((fresh["uniform"] - fresh[strategy_runs.best_solution()]).mean())
    assert lead.low < lead.value < lead.high
