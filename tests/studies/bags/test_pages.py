"""Numbers on the pages of bags agree with numbers computed directly from the files."""

import csv

import pandas as pd
import pytest

from docs.studies.bags.claims import judge
from docs.studies.bags.pages import Published
from docs.studies.claims import Claim
from docs.studies.rows import ROWS
from hindsched.bench.bags.configuration_means import COLUMNS, ORACLE
from hindsched.bench.bags.verify import CLAIMS
from hindsched.instances.errors import InputError
from hindsched.online.bags import PAPER_POLICIES

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


Weekday = dict[tuple[str, ...], dict[str, float]]


@pytest.fixture(scope="module")
def weekday(rows: list[dict[str, str]]) -> Weekday:
    """Return turnaround / IET by policy, of every cell of a weekday."""
    found: Weekday = {}
    for row in rows:
        if row["when"] == "weekday":
            found.setdefault(tuple(row[name] for name in COLUMNS[:6]), {})[row["policy"]] = float(row["slowdown"])
    return found


def said(rows: list[dict[str, str]], claim: str) -> Claim:
    (found,) = (each for each in judge(pd.DataFrame(rows).apply(as_numbers)) if claim in each.claim)
    return found


def as_numbers(column: "pd.Series[str]") -> "pd.Series[float] | pd.Series[str]":
    return column if column.name in (*COLUMNS[:3], "policy") else pd.to_numeric(column)


@pytest.mark.parametrize(
    ("claim", "place", "bag"),
    [
        ("poor for tasks of 1800 s on M01", "M01", ("1800",)),
        ("best for tasks of 7200 s on M04", "M04", ("7200",)),
        ("near FCFS-TR for 25 tasks of 7200 s on M01", "M01", ("25", "7200")),
    ],
)
def test_prediction_is_judged_with_both_stores(
    rows: list[dict[str, str]], weekday: Weekday, claim: str, place: str, bag: tuple[str, ...]
) -> None:
    mine = [known for cell, known in weekday.items() if cell[0] == place and set(bag) <= set(cell[3:5])]
    hour, truth = (
        sum(1 - known[name] / known["FCFS-TR"] for known in mine) / len(mine) for name in ("FCFS-PRDCT-DMD", ORACLE)
    )
    ours = said(rows, claim).evidence
    assert f"in the mean of {len(mine)} configurations: predictor by hours {hour:+.1%}" in ours
    assert f"oracle {truth:+.1%}" in ours
    unchanged = all(known["FCFS-PRDCT-DMD"] == known["FCFS-TR"] for known in mine)
    assert ("equal in all" in ours) is unchanged


def test_fcfs_is_judged_with_both_stores(rows: list[dict[str, str]], weekday: Weekday) -> None:
    fair = {
        store: [
            known["FCFS"] <= 1.1 * min(known[name] for name in PAPER_POLICIES)
            for cell, known in weekday.items()
            if (cell[0], cell[1], *cell[3:5]) == ("M04", store, "75", "1800")
        ]
        for store in ("shared", "private")
    }
    both = fair["shared"] + fair["private"]
    finding = said(rows, "FCFS does fairly")
    assert (finding.verdict == "holds") is (sum(both) >= len(both) / 2)
    assert f"in {sum(both) / len(both):.0%} of {len(both)} configurations" in finding.evidence
    for store, mine in fair.items():
        assert f"{store}, in {sum(mine) / len(mine):.0%} of {len(mine)} configurations" in finding.evidence


def test_the_ideal_times_of_the_paper_have_a_ratio_of_their_own(rows: list[dict[str, str]]) -> None:
    assert "8 equal to the last digit with ratio 1.69218 for type D" in said(rows, "Table 2").evidence


def test_every_table_has_its_rows(published: Published, rows: list[dict[str, str]]) -> None:
    shared = {(row["machines"], row["when"], row["checkpoints"]) for row in rows if row["store"] == "shared"}
    assert len(published.gaps().splitlines()) == 2 + len(shared)
    assert len(published.verified().splitlines()) == 2 + len(CLAIMS)
    assert len(published.ideal_times().splitlines()) == 2 + 8
    assert published.claims("fails").count("\n| ") == int(published.num_claims("fails"))
    assert " shared store, k = 2 (H6)" in published.speed()
    assert "| optimum, shared store | " in published.speed_large()


@pytest.mark.parametrize(
    ("writer", "words"),
    [
        ("slowdown", ("FCFS", *CELL[:5])),
        ("slowdown", ("FCFS", *CELL[:5], "3")),
        ("slowdown", ("BEST", *CELL)),
        ("claims", ("never",)),
        ("closed", ("PACE", "2")),
        ("gain", ("sharing", "FCFS", "weekday")),
        ("waits", ("middle", "weekday")),
        ("speed_of", ("run", "mean")),
    ],
)
def test_words_that_mean_nothing_are_refused(published: Published, writer: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="expected"):
        published.writers()[writer](*words)
