"""The study of strategy files: rows of built-in policies and of files on the same windows."""

import pytest

from docs.studies.deadline import strategy_runs
from docs.studies.rows import read_rows
from hindsched.instances.deadline import spot_zones


def test_files_run_beside_built_in_policies(tmp_path, monkeypatch):
    monkeypatch.setattr(spot_zones, "spot_zone_names", lambda: ("us-east-2a",))
    monkeypatch.setattr(strategy_runs, "BESIDE", ("on_demand",))
    head = "from sky_spot.strategies.strategy import Strategy\nfrom sky_spot.utils import ClusterType\n\n"
    body = "class A(Strategy):\n    def _step(self, last, has):\n        return "
    files = {"same": "ClusterType.ON_DEMAND", "bad": "self.env.trace"}
    for name, answer in files.items():
        (tmp_path / f"{name}.py").write_text(f"{head}{body}{answer}\n")
    rows = list(strategy_runs.measure([str(tmp_path / f"{name}.py") for name in files], 1))
    assert [tuple(row) for row in rows] == [strategy_runs.COLUMNS] * 3
    built_in, same, bad = rows
    assert built_in["cost"] == same["cost"] >= built_in["free"]
    assert (bad["cost"], "env.trace shows the future" in bad["failure"]) == (None, True)
    assert {row["free"] for row in rows} == {built_in["free"]}
    assert built_in["start_sample"] == spot_zones.starts(["us-east-2a"], 52 * 3600, 1)[0]


def test_the_table_has_every_policy_once():
    lines = strategy_runs.strategies_table().splitlines()
    assert len(lines) > 2 + 10 + len(strategy_runs.BESIDE)
    assert all(sum(line.startswith(f"| `{name}`") for line in lines) == 1 for name in strategy_runs.BESIDE)


def test_the_simulators_own_files_cost_what_their_twins_cost():
    costs = read_rows("deadline_strategies").pivot_table(index="zone", columns="policy", values="cost")
    own = "andylizf/skynomad-artifact/sky_spot/strategies/"
    for file, twin in (("rc_cr_threshold", "uniform"), ("rc_threshold", "uniform_plain"), ("on_demand", "on_demand")):
        assert (costs[f"{own}{file}.py"] == costs[twin]).all()
    (greedy,) = (name for name in costs.columns if name.endswith("initial_greedy.py"))
    assert (costs[greedy] == costs["greedy"]).all()


def test_unfinished_files_stay_in_the_denominator():
    rows = read_rows("deadline_strategies")
    means = (rows["cost"] / rows["free"]).groupby(rows["policy"]).mean()
    files = means[means.index.str.contains("/solutions/")]
    assert files.isna().any()
    assert strategy_runs.num_files("written") == len(files) > files.count()
    for policy in ("uniform", "uniform_plain"):
        assert strategy_runs.num_files(policy) == sum(mean < means[policy] for mean in files)
        assert strategy_runs.mean_ratio(policy) == f"{means[policy]:.2f}"
    lead = strategy_runs.lead_of_best()
    assert lead.value == pytest.approx(means["uniform"] - files.min())
    assert lead.low < lead.value < lead.high
