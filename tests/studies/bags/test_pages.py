"""Numbers on the pages of bags agree with numbers computed directly from the files."""

import csv

import pytest

from docs.studies.bags.pages import Published
from docs.studies.rows import ROWS
from hindsched.bench.bags.configuration_means import COLUMNS
from hindsched.bench.bags.verify import CLAIMS
from hindsched.instances.errors import InputError

CELL = ("M04", "shared", "weekday", "25", "1800", "9")


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with (ROWS / "bags_cells.csv").open(encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert tuple(found[0]) == COLUMNS
    return found


@pytest.fixture(scope="module")
def published() -> Published:
    return Published()


def test_numbers_are_those_of_the_bare_rows(published: Published, rows: list[dict[str, str]]) -> None:
    assert published.runs() == f"{sum(int(row['starts']) for row in rows):,}"
    assert published.runs("unfinished") == f"{sum(int(row['unfinished']) for row in rows):,}"
    first = [row for row in rows if row["policy"] == "FCFS"]
    assert published.optima("unproven") == f"{sum(int(row['starts']) - int(row['proven']) for row in first):,}"
    mine = {row["policy"]: row for row in rows if tuple(row[name] for name in COLUMNS[:6]) == CELL}
    assert published.slowdown("FCFS-TR", *CELL) == f"{float(mine['FCFS-TR']['slowdown']):.2f}"
    assert published.slowdown("OPT", *CELL) == f"{float(mine['FCFS']['optimum_slowdown']):.2f}"
    assert published.ratio("PACE", *CELL) == f"{float(mine['PACE']['ratio_high']):.2f}"
    waits = [float(row["slowdown"]) for row in first if (row["store"], row["when"]) == ("private", "weekday")]
    assert published.waits("most", "weekday") == f"{max(waits):.1f}"
    nine = [
        row
        for row in rows
        if (row["store"], row["checkpoints"]) == ("shared", "9") and row["machines"] in ("M01", "M04")
    ]
    gaps = {
        policy: sum(float(row["ratio_high"]) - 1 for row in nine if row["policy"] == policy)
        for policy in ("FCFS-TR", "PACE")
    }
    assert published.closed("PACE", "9") == f"{1 - gaps['PACE'] / gaps['FCFS-TR']:.0%}"


def test_a_gain_is_the_mean_over_cells(published: Published, rows: list[dict[str, str]]) -> None:
    mine = {
        tuple(row[name] for name in ("machines", "tasks", "reference_s", "checkpoints")): float(row["optimum_slowdown"])
        for row in rows
        if (row["store"], row["when"], row["policy"]) == ("shared", "weekday", "FCFS")
    }
    gains = [1 - nine / mine[*cell[:3], "1"] for cell, nine in mine.items() if cell[3] == "9"]
    assert published.gain("checkpoints", "OPT", "weekday") == f"{sum(gains) / len(gains):.1%}"


def test_every_table_has_its_rows(published: Published, rows: list[dict[str, str]]) -> None:
    shared = {(row["machines"], row["when"], row["checkpoints"]) for row in rows if row["store"] == "shared"}
    assert len(published.gaps().splitlines()) == 2 + len(shared)
    assert len(published.verified().splitlines()) == 2 + len(CLAIMS)
    assert " shared store, k = 2 (H6)" in published.speed()
    assert "| optimum, shared store | " in published.speed_large()


@pytest.mark.parametrize(
    ("writer", "words"),
    [
        ("slowdown", ("FCFS", *CELL[:5])),
        ("slowdown", ("FCFS", *CELL[:5], "3")),
        ("slowdown", ("BEST", *CELL)),
        ("excess", ("FCFS-TR", "FCFS", "shared", "sometimes")),
        ("trace_runs", ("some",)),
        ("closed", ("PACE", "2")),
        ("gain", ("sharing", "FCFS", "weekday")),
        ("waits", ("middle", "weekday")),
        ("speed_of", ("run", "mean")),
    ],
)
def test_words_that_mean_nothing_are_refused(published: Published, writer: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="expected"):
        published.writers()[writer](*words)
