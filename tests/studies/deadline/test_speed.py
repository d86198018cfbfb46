"""Times of jobs with a deadline: the instances of the race, and rows that pages can show."""

from docs.studies.deadline import speed
from docs.studies.deadline.pages import Published
from docs.studies.rows import read_rows
from hindsched.offline.deadline import solve
from tests.cases.deadline import job


def test_solvers_of_the_race_agree(monkeypatch):
    tiny = [("tiny", job("1101", work_s=20, overhead_s=5))]
    monkeypatch.setattr(speed, "racers", lambda number: {"tiny": tiny})
    monkeypatch.setattr(speed, "SOLVERS", ("native", "fronts"))
    rows = list(speed.race(1, 5.0, lambda note: None))
    assert [(row["solver"], row["status"], row["value"]) for row in rows] == [
        (name, "optimal", solve(tiny[0][1]).value) for name in ("native", "fronts")
    ]
    assert all(0 < row["seconds"] < 5 for row in rows)


def test_longer_slots_have_spot_if_all_their_parts_have():
    longer = speed._coarse(job("111011110", work_s=20, overhead_s=5), 3)
    assert (longer.slots, longer.slot_s, longer.spot.tolist()) == (3, 30, [[True, False, False]])


def test_stored_rows_have_every_aim_and_agree():
    assert set(speed.AIMS) - {"run"} <= set(read_rows("deadline_speed")["key"])
    race = read_rows("deadline_solvers")
    proven = race[race["status"] == "optimal"]
    assert (proven.groupby("instance")["value"].nunique() == 1).all()
    assert set(race["solver"]) == set(speed.SOLVERS)
    assert float(Published().race_of("native")) == 1
