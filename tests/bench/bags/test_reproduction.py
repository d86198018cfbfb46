"""The reproduction of the paper's experiment on a few small bags."""

import json
from pathlib import Path

import pandas as pd
import pytest

from hindsched.bench.bags import reproduction
from hindsched.bench.bags.configuration_means import COLUMNS, ORACLE, configuration_means, optima
from hindsched.bench.bags.spot_zones import SpotZones, start_slots
from hindsched.bench.family import family_named
from hindsched.bench.results.read import read_results
from hindsched.online.bags import PAPER_POLICIES


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MACHINES", ("M01",)), ("TASKS", (4,)), ("REFERENCES", (1800,)), ("CHECKPOINTS", (0, 1))):
        monkeypatch.setattr(reproduction, name, value)


@pytest.mark.usefixtures("small")
def test_a_small_experiment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setup = reproduction.Setup(number=1, time_limit_s=5.0, real=False)
    reproduction.reproduce(tmp_path, setup, num_processes=1, dask=None, as_json=True)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = pd.read_csv(tmp_path / "cells.csv")
    assert tuple(found.columns) == COLUMNS
    assert len(lines) == len(found)
    assert [line["policy"] for line in lines] == found["policy"].to_list()
    assert set(found["policy"]) == {*PAPER_POLICIES, "LEVEL", "PACE", ORACLE}
    assert (found["starts"] == 1).all()
    done = found[found["unfinished"] == 0]
    assert (done["ratio_low"] >= 1).all()
    proven = done[done["proven"] == 1]
    # slowdown = ratio x OPT / IET
    assert (proven["ratio_high"] * proven["optimum_slowdown"]).to_numpy() == pytest.approx(
        proven["slowdown"].to_numpy(), rel=1e-4
    )
    assert (tmp_path / "bars-M01-weekday.svg").is_file()
    frame = configuration_means(read_results(tmp_path).runs)
    assert len(optima(frame)) == 4


@pytest.mark.usefixtures("small")
def test_the_points_of_the_experiment() -> None:
    sources = reproduction.experiment(3)
    assert len({source.identity for source in sources}) == len({source.name for source in sources}) == 2 * 2 * 2 * 3


def test_zones_are_cut_from_the_second_half_and_made_again_from_their_points() -> None:
    family = family_named("bags")
    zone = SpotZones(9, 1800, 1, "shared", start_slots()[1])
    instance = zone.load()
    assert (instance.num_machines, instance.segments, instance.slots) == (9, 2, 3101)
    assert family.from_point(zone.point) == instance
    first = SpotZones(9, 1800, 1, "shared", start_slots()[0]).load()
    assert (first.states[:, 443:1000] == instance.states[:, : 1000 - 443]).all()  # a day is 443 slots
