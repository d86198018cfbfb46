"""Time and gaps by size: rows of the command and their tables on pages."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from docs.studies.cli import studies
from docs.studies.coupled.pages import scale as scale_page
from docs.studies.coupled.solver_races import SCALE_COLUMNS
from hindsched.instances.errors import InputError


def row(p, wmin, status, value, bound, seconds, threads=1):
    values = (f"p{p}w{wmin}", p, 20, 5, wmin, 10, 0, status, value, bound, seconds, 60.0, threads)
    return dict(zip(SCALE_COLUMNS, values, strict=True))


@pytest.fixture
def page(monkeypatch):
    tables = {
        "coupled_scale": [
            row(20, 1, "optimal", 637, 637, 0.0053),
            row(20, 2, "infeasible", None, None, 0.02),
            row(500, 1, "feasible", 130, 100, 60.0),
            row(500, 2, "unknown", None, 90, 60.0),
            row(None, None, "optimal", 1150, 1150, 3.0),
        ],
        "coupled_scale_before": [
            row(20, 1, "optimal", 637, 637, 0.0053),
            row(20, 2, "infeasible", None, None, 0.02),
            row(500, 1, "feasible", 200, 100, 60.0),
            row(500, 2, "feasible", 100, 90, 60.0),
        ],
        "coupled_scale_long": [row(500, 1, "feasible", 125, 104, 600.0)],
        "coupled_scale_threads": [
            row(500, 1, "feasible", 125, 100, 60.0),
            row(500, 1, "optimal", 120, 120, 42.1, threads=2),
        ],
    }
    monkeypatch.setattr(scale_page, "read_rows", lambda name: pd.DataFrame(tables[name]))
    return scale_page.ScalePage()


def test_cells_have_the_optimum_or_the_bounds(page):
    lines = page.table().splitlines()
    assert "| 20 | 20 | 5 | 637 [0.0053] | none [0.02] |" in lines
    assert "| 500 | 20 | 5 | **100 to 130** | **at least 90** |" in lines
    assert "1,150 [3]" in page.real()


def test_open_points_are_compared_with_the_earlier_version(page):
    first, second = page.still_open("now").to_dict("records")
    assert [first[name] for name in ("bound_before", "value_before", "bound_now", "value_now")] == [100, 200, 100, 130]
    assert (first["gap_before"], first["gap_now"]) == pytest.approx((1.0, 0.3))
    assert [second[name] for name in ("p", "wmin", "bound_now")] == [500, 2, 90]
    assert pd.isna(second["value_now"])
    assert pd.isna(second["gap_now"])


def test_longer_runs_count_other_instances_as_they_are(page):
    (row,) = page.still_open("long").to_dict("records")
    assert [row[name] for name in ("bound_now", "value_now", "bound_long", "value_long")] == [100, 130, 104, 125]
    assert [page.number(what, "long") for what in ("instances", "tried", "proven", "most")] == [
        "4",
        "1",
        "2",
        "not known",
    ]


def test_an_unknown_gap_stays_among_the_others(page):
    assert [page.number(what) for what in ("instances", "proven", "median", "most")] == ["4", "2"] + 2 * ["not known"]
    assert page.number("proven_by_p") == "2 at 20"
    with pytest.raises(InputError, match="expected one of"):
        page.number("gap")
    with pytest.raises(InputError, match="expected one of"):
        page.number("most", "then")


def test_numbers_of_threads_are_compared(page):
    header, _, line = page.by_threads().splitlines()
    assert header == "| p | m | n_com | wmin | 1 thread | 2 threads |"
    assert line == "| 500 | 20 | 5 | 1 | **100 to 125** (25.0 %) | 120 [42] |"


def test_the_command_keeps_the_table(tmp_path):
    arguments = [
        "scale",
        "--p",
        "5",
        "--m",
        "3",
        "--wmin",
        "1",
        "--n-com",
        "2",
        "--iterations",
        "1,2",
        "--slots",
        "500",
    ]
    arguments += ["--processor", "--threads", "1,2", "--results", str(tmp_path), "--json"]
    rows = [
        json.loads(line) for line in CliRunner().invoke(studies, arguments, catch_exceptions=False).stdout.splitlines()
    ]
    table = pd.read_csv(tmp_path / "coupled_scale.csv")
    assert list(table.columns) == list(SCALE_COLUMNS)
    assert [one["instance"] for one in rows] == table["instance"].tolist()
    assert [one["threads"] for one in rows] == table["threads"].tolist()
    assert table[["iterations", "threads"]].to_numpy().tolist()[:4] == [[1, 1], [1, 2], [2, 1], [2, 2]]
    assert table["p"].isna().sum() == len(table) - 4  # spot zones are not generated
