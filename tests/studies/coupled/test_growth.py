"""Growth of the cost of work: the measurements on tiny ranges, the slopes, and the page of their rows."""

import pandas as pd
import pytest
from click.testing import CliRunner

from docs.studies.cli import studies
from docs.studies.coupled import growth
from docs.studies.coupled.pages import growth as growth_page
from hindsched.instances.errors import InputError


def row(work, axis, value, seconds, *, scenario=0, slots=100_000, status=None):
    return dict(zip(growth.COLUMNS, (work, axis, value, scenario, slots, status, seconds), strict=True))


@pytest.fixture
def page(monkeypatch):
    rows = [row("solve", "K", k, k**2 / 1e6, status="proven") for k in (10, 20, 100)]
    rows += [row("solve", "K", 300, 2.0, status="open"), row("solve", "K", 1, 5.0, status="proven")]
    rows += [row("IE", "p", 20, seconds, scenario=i) for i, seconds in enumerate((0.003, 0.002, 9.0))]
    rows += [row("IE", "p", 200, 0.003, slots=10_000), row("pass", "p", 20, 0.00015)]
    monkeypatch.setattr(growth_page, "read_rows", lambda name: pd.DataFrame(rows))
    return growth_page.GrowthPage()


def test_slopes_are_over_the_last_proven_decade(page):
    assert page.slope("solve", "K") == "2.00"
    lines = page.slopes().splitlines()
    assert "| `solve` |  |  | 2.00 (10 to 100) |  |  |  |" in lines
    assert "| `IE` | 1.00 (20 to 200) |  |  |  |  |  |" in lines, "of medians, for the slots of the base point"
    with pytest.raises(InputError, match="pass along p, expected two values"):
        page.slope("pass", "p")


def test_times_are_medians_at_a_value(page):
    assert page.time("IE", "p", "20") == "3 ms"
    assert page.time("IE", "p", "200") == "30 ms"
    assert page.time("pass", "p", "20") == "150 µs"
    assert page.ratio("IE", "pass", "p", "20") == "20"
    assert page.open_solves() == "1 of 5 solves (K = 300)"
    with pytest.raises(InputError, match="IE at p = 30, expected one of 20, 200"):
        page.time("IE", "p", "30")


def test_every_work_is_measured_along_its_axes(tmp_path):
    axes = {"p": (3, 4), "N": (300,), "K": (2,), "m": (2,), "n_com": (1,), "rows": (17,)}
    rows = list(growth.measure(growth.Settings(axes=axes, instances=1)))
    works = {(row["axis"], row["value"], row["work"]) for row in rows}
    coupled = {*growth.WORKS["solve"], *growth.WORKS["simulate"]}
    tables = {*growth.WORKS["score"], *growth.WORKS["report"]}
    assert works == {
        (axis, value, work)
        for axis, values in axes.items()
        for value in values
        for work in (tables if axis == "rows" else coupled)
    }
    assert all(row["seconds"] > 0 for row in rows)
    (state,) = {row["status"] for row in rows if row["work"] == "solve" and row["axis"] == "n_com"}
    assert state == "proven"
    read = {row["work"]: row["slots"] for row in rows if row["axis"] == "K"}
    assert 0 < read["solve"] <= read["pass"] == read["IE"] < 1_000_000, "runs along K complete"
    growth.draw_growth(pd.DataFrame(rows, columns=list(growth.COLUMNS)), tmp_path / "growth.svg")
    assert "E-IE" in (tmp_path / "growth.svg").read_text()


def test_the_command_replaces_the_rows_of_its_works_only(tmp_path, monkeypatch):
    monkeypatch.setattr("docs.studies.commands.growth.AXES", {"rows": (17,)})
    kept = row("solve", "K", 10, 0.5, status="proven")
    pd.DataFrame([kept, row("report", "rows", 17, 99.0)]).to_csv(tmp_path / "growth.csv", index=False)
    found = CliRunner().invoke(studies, ["growth", "--work", "report", "--results", str(tmp_path)])
    assert found.exit_code == 0, found.output
    rows = pd.read_csv(tmp_path / "growth.csv")
    assert list(rows["work"]) == ["solve", "report", "table-pass"]
    assert rows["seconds"].iloc[0] == 0.5
    assert rows["seconds"].iloc[1] < 99
