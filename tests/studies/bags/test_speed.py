"""The table of speed: its rows, on a bag or two."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from docs.studies.bags import speed
from docs.studies.cli import studies
from hindsched.online.bags import POLICIES


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    bags = tuple((machines, tasks, 1800, k) for machines in ("M01", "M04") for tasks in (25, 75) for k in (1, 9))
    monkeypatch.setattr(speed, "_BAGS", bags)


@pytest.mark.usefixtures("few")
def test_every_run_and_optimum_is_in_a_row(tmp_path: Path) -> None:
    steps: list[str] = []
    rows = speed.measure(1, is_large=False, step=steps.append)
    assert len(steps) == speed.how_many(1, is_large=False)
    by_key = {row["key"]: row for row in rows}
    assert set(by_key) >= {"run", "H1", "H2", "H3", "k2-M01-25", "k10-M04-75", *(f"run-{name}" for name in POLICIES)}
    assert by_key["run"]["times"] == sum(by_key[f"run-{name}"]["times"] for name in POLICIES)
    for row in rows:
        assert 0 < row["median"] <= row["worst"]
        assert row["proven"] in (None, row["times"])
    ran = CliRunner().invoke(studies, ["bags-speed", "--starts", "1", "--no-large", "--results", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    assert "a run of FCFS-TR" in ran.output
    assert len((tmp_path / "bags_speed.csv").read_text().splitlines()) == 1 + len(rows)


def test_the_large_bag() -> None:
    instance = speed.large()
    assert (instance.num_machines, instance.tasks, instance.segments) == (1000, 10_000, 10)
    assert len(set(instance.ticks)) == 4
