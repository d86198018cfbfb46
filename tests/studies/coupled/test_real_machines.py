"""The study on real machines, and its page."""

import json

import numpy as np
import pytest

from docs.studies.coupled import real_machines as study
from docs.studies.coupled.pages.real_machines import RealMachinesPage
from docs.studies.rows import read_rows
from hindsched.instances import InputError
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled import run_policy


def test_probes_become_one_set_a_zone_and_one_node_a_zone(tmp_path) -> None:
    for number, (a, b) in enumerate(((16, 0), (7, 8), (3, 9))):
        found = {"scheduled_at": f"2025-10-0{number + 1}", "zone_results": {}}
        found["zone_results"] = {"za": {"instances_created": a}, "zb": {"instances_created": b}}
        (tmp_path / f"{9 - number}.json").write_text(json.dumps(found))
    sets = {each.name: each for each in study.spot_machines(probes=tmp_path)}
    assert (sets["h100 za"].states == UP).sum(axis=0).tolist() == [16, 7, 3]
    assert sets["h100 zones"].states.tolist() == [[UP, DOWN, DOWN], [DOWN, UP, UP]]
    assert sets["h100 za"].kind == "one zone"
    with pytest.raises(InputError, match=r"no \.json file"):
        study.spot_machines(probes=tmp_path / "none")


def test_half_of_a_set_is_known_before_it_runs() -> None:
    rows = read_rows("real_machines")
    assert set(study.DESIGN) <= set(rows["machines"])
    assert set(rows.loc[rows["half"] == "design", "machines"]) == set(study.DESIGN)


def test_places_keep_the_number_of_machines() -> None:
    draw = stream("test", "places", 0)
    states = np.full((30, 50), DOWN, dtype=np.uint8)
    for row in states:
        start = int(draw.integers(0, 45))
        row[start : start + int(draw.integers(1, 20))] = UP
    found = study.in_places(states)
    assert ((found == UP).sum(axis=0) == (states == UP).sum(axis=0)).all()
    assert len(found) == (states == UP).sum(axis=0).max()


def test_joint_hazard_of_independent_and_of_equal_workers() -> None:
    draw = stream("test", "joint hazard", 0)
    row = np.where(draw.random(20_000) < 0.1, DOWN, UP).astype(np.uint8)
    rows = np.where(draw.random((5, 20_000)) < 0.1, DOWN, UP).astype(np.uint8)
    assert study.joint_hazard(rows) == pytest.approx(1.0, abs=0.02)
    assert study.joint_hazard(np.tile(row, (5, 1))) < 0.35


def test_rows_are_the_runs_of_the_policies(tmp_path) -> None:
    states = np.where(stream("test", "real", 1).random((4, 240)) < 0.03, DOWN, UP).astype(np.uint8)
    machines = study.Machines("few", "one zone", states, 60.0)
    rows = study.run_all([machines], tmp_path, number=1, work=(study.SOLVED,), time_limit_s=5)
    ((_, past, window),) = study.windows(machines, 1)
    assert past.shape[1] == 80
    instance = study.instance_of(past, window, study.SOLVED)
    for policy in ("E-IE", "hot", "replay"):
        row = rows[rows["policy"] == policy].iloc[0]
        run = run_policy(instance, policy, engine="kernel")
        assert (row["slots"], row["iterations"]) == (run.slots, run.iterations)
    assert (rows["makespan"].dropna() >= rows["optimum_bound"].iloc[0]).all()
    assert rows["half"].eq("test").all()


def test_no_stored_run_beats_its_bound_and_ratios_are_those_of_the_rows() -> None:
    rows = read_rows("real_machines")
    solved = rows[rows["makespan"].notna() & rows["optimum_bound"].notna()]
    assert (solved["makespan"] >= solved["optimum_bound"]).all()
    mine = rows[(rows["kind"] == "one zone") & (rows["half"] == "test")]
    length = mine.assign(length=mine["slots"] / mine["iterations"].clip(lower=0.5)).pivot_table(
        index=["machines", "w", "window"], columns="policy", values="length"
    )
    mean = np.exp(np.log(length["hot"] / length["E-IE"]).mean())
    assert RealMachinesPage().real_ratio("hot", "one-zone", "test").startswith(f"{mean:.2f} (")
    slower = (length["replay"] > 1.1 * length["E-IE"]).mean()
    assert RealMachinesPage().real_slow("replay", "one-zone", "test") in (f"{slower:.0%}", f"{slower:.1%}")
