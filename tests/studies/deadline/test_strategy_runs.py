"""The study of strategy files: rows of built-in policies and of files on the same windows."""

from docs.studies.deadline import strategy_runs
from hindsched.instances.deadline import spot_zones


def test_files_run_beside_built_in_policies(tmp_path, monkeypatch):
    monkeypatch.setattr(spot_zones, "spot_zone_names", lambda: ("us-east-2a",))
    monkeypatch.setattr(strategy_runs, "_DEADLINES_H", (52,))
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
