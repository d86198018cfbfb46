"""The study of failures, cancellations, conflicts and bursts: small runs, and numbers from the bare rows."""

import numpy as np
import pytest

from docs.studies.grid import dynamics
from docs.studies.grid.dynamics_page import DynamicsPage
from docs.studies.rows import read_rows
from hindsched.instances.errors import InputError
from hindsched.instances.grid.generate import NARROW_MIX


def test_small_runs_have_paired_rows(tmp_path, monkeypatch):
    for name, value in (("_NODES", 40), ("_JOBS", 40), ("_SEEDS", 2), ("_BURST_SEEDS", {"narrow": 1})):
        monkeypatch.setattr(dynamics, name, value)
    monkeypatch.setattr(dynamics, "MIXES", {"narrow": (NARROW_MIX, 300)})
    rows = dynamics.event_rows(tmp_path)
    assert rows == dynamics.event_rows(tmp_path)
    assert len(rows) == 2 * len(list(dynamics._settings()))
    for row in rows:
        assert tuple(row) == dynamics.COLUMNS
        failed = row["failed_reach"] + row["failed_stale"] + row["failed_lost"] + row["cancelled"]
        assert row["common"] <= row["jobs"] - failed
        if not (row["mtbf"] or row["cancel_percent"] or row["latency"]):
            assert row["wait"] == row["wait_before"]
    assert any(row["lost_runs"] for row in rows)
    bursts = dynamics.burst_rows(tmp_path)
    assert [row["arrivals"] for row in bursts] == ["poisson", "bursts"]
    assert all(tuple(row) == dynamics.BURST_COLUMNS and row["most_requested"] > 0 for row in bursts)


def test_numbers_of_the_page_are_those_of_the_bare_rows():
    page, frame = DynamicsPage(), read_rows("grid_dynamics")
    static = frame[(frame["overlay"] == "static") & (frame["cancel_percent"] == 0) & (frame["latency"] == 0)]
    before = static[static["mtbf"] == 0].set_index("seed")
    row = static[(static["mtbf"] == 14_400) & (static["restarts"] == 3)].set_index("seed")
    failed = 100 * row[["failed_reach", "failed_stale", "failed_lost"]].sum(axis=1) / row["jobs"]
    assert page.event("mtbf-10", "failed") == f"{failed.mean():.2f}"
    half = 2.364624 * failed.std() / np.sqrt(8)  # Student's t with 7 degrees of freedom
    assert page.event("mtbf-10", "failed", "interval") == f"{failed.mean():.2f} ± {half:.2f}"
    push = (100 * (row["push"] / before["push"] - 1)).mean()
    assert page.event("mtbf-10", "push") == f"{push:.0f}"
    assert f"| failure every 10 days | {failed.mean():.2f} ±" in page.events("failures")
    bursts = read_rows("grid_bursts")
    wide = bursts[(bursts["mix"] == "wide") & (bursts["arrivals"] == "bursts")]
    assert page.burst("wide", "bursts") == f"{wide['mean_wait_s'].mean():,.0f}"
    assert " / ".join(map(str, wide["days_above_1"])) in page.bursts()


@pytest.mark.parametrize(
    ("writer", "words"),
    [
        ("events", ["moon"]),
        ("event", ["mtbf-11", "failed"]),
        ("event", ["mtbf-10", "moon"]),
        ("event", ["mtbf-10", "failed", "moon"]),
        ("burst", ["wide", "moon"]),
    ],
)
def test_unknown_words_of_marks_are_refused(writer, words):
    with pytest.raises(InputError, match="expected"):
        getattr(DynamicsPage(), writer)(*words)
