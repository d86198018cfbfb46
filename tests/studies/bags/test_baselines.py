"""The study of baselines, and the numbers of its page computed directly from the rows."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from docs.studies.bags import baselines
from docs.studies.bags.baselines_page import BaselinesPage
from docs.studies.cli import studies
from docs.studies.rows import ROWS
from hindsched.bench.bags.spot_zones import start_slots
from hindsched.instances.bags.generate import paper
from hindsched.instances.errors import InputError
from hindsched.instances.states import UP

Rows = list[dict[str, str]]


def test_a_small_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in (("_MACHINES", ("M04",)), ("_TASKS", (8,)), ("_REFERENCES", (1800,)), ("_CHECKPOINTS", (1,))):
        monkeypatch.setattr(baselines, name, value)
    monkeypatch.setattr(baselines, "_OWNED_BAGS", ((8, 1800),))
    monkeypatch.setattr(baselines, "start_slots", lambda: start_slots()[:1])
    options = ["--policies", "1", "--predictors", "1", "--owners", "1", "--moves", "1", "--results", str(tmp_path)]
    ran = CliRunner().invoke(studies, ["bags-baselines", *options])
    assert ran.exit_code == 0, ran.output
    found = {name: list(csv.DictReader((tmp_path / f"bags_{name}.csv").open())) for name in baselines.PARTS}
    assert sum(map(len, found.values())) == baselines.how_many(baselines.Size(1, 1, 1, 1))
    assert {name: len(rows) for name, rows in found.items()} == {
        "policies": 2,
        "predictors": 3,
        "owners": 6,
        "moves": len(baselines.MOVES),
    }
    for row in found["policies"]:
        assert all(float(row[name] or "inf") >= float(row["low"]) for name in baselines.POLICIES)
    free, *paid = found["moves"]
    assert free["low"] == free["high"]
    assert all(row["low"] == free["low"] <= row["high"] for row in paid)


def test_visits_take_a_quarter_of_the_day_and_are_the_same_for_all_treatments() -> None:
    instance = paper("M01", start=240, slots=360, seed=3)
    short, long = (baselines.visits(instance, 5, minutes) for minutes in baselines.VISITS)
    is_up = instance.states == UP
    for there in (short, long):
        assert not there[~is_up].any()
        assert there.sum() / is_up.sum() == pytest.approx(0.25, abs=0.06)

    def number(there: np.ndarray) -> int:  # type: ignore[type-arg]
        return int((there[:, 1:] & ~there[:, :-1]).sum())

    assert number(short) > 4 * number(long)
    assert (short == baselines.visits(instance, 5, 10)).all()


@pytest.fixture(scope="module")
def page() -> BaselinesPage:
    return BaselinesPage()


def rows_of(name: str, keep: Callable[[dict[str, str]], bool]) -> Rows:
    with (ROWS / f"bags_{name}.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if keep(row)]


def test_numbers_are_those_of_the_bare_rows(page: BaselinesPage) -> None:
    mine = rows_of("policies", lambda row: row["kind"] == "independent")
    ratios = [float(row["WQR-FT"]) / float(row["high"]) for row in mine]
    assert page.over_optimum("WQR-FT").startswith(f"{np.mean(ratios):.2f} (")
    changes = [float(row["WQR-FT"]) / float(row["FCFS-TR"]) - 1 for row in mine if row["machines"] == "M04"]
    assert page.changed("WQR-FT", "FCFS-TR", "M04").startswith(f"{100 * np.mean(changes):+.1f} % (")
    lost = [row["WQR"] == "" for row in mine if row["reference_s"] == "7200"]
    assert page.unfinished_bags("WQR", "drawn", "all", "7200") == f"{np.mean(lost):.0%}"
    predicted = rows_of("predictors", lambda row: row["kind"] == "rooms")
    saved = [float(row["past_saves"]) / float(row["tasks"]) for row in predicted]
    assert page.saves("past", "rooms") in (f"{np.mean(saved):.2f}", f"{np.mean(saved):.1f}")
    moved = rows_of("moves", lambda row: row["move_s"] == "60")
    assert page.moved("LEVEL", "60").startswith(
        f"{np.mean([float(r['LEVEL']) / float(r['low']) for r in moved]):.2f} ("
    )


def test_suspension_is_compared_run_by_run(page: BaselinesPage) -> None:
    mine = rows_of("owners", lambda row: row["visit_min"] == "60" and row["checkpoints"] == "9")
    by_visit: dict[tuple[str, ...], dict[str, float]] = {}
    for row in mine:
        key = tuple(row[name] for name in ("trace", "machines", "tasks", "reference_s"))
        by_visit.setdefault(key, {})[row["visit"]] = float(row["FCFS-TR"])
    changes = [100 * (each["suspended"] / each["lost"] - 1) for each in by_visit.values()]
    assert page.visited("FCFS-TR", "suspended", "lost", "60", "9").startswith(f"{np.mean(changes):+.1f} % (")


def test_unknown_words_are_refused(page: BaselinesPage) -> None:
    for call in (
        lambda: page.over_optimum("BEST"),
        lambda: page.changed("WQR-FT", "FCFS", "M02"),
        lambda: page.visited("FCFS", "suspended", "lost", "11"),
        lambda: page.moved("FCFS", "61"),
        lambda: page.num_traces("all"),
    ):
        with pytest.raises(InputError, match="expected one of"):
            call()
