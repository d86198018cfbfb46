"""Numbers on the pages of bags agree with numbers computed directly from the files."""

import csv
import lzma
from statistics import mean

import pytest

from docs.studies.bags.pages import Published
from docs.studies.bags.traces import BAG_COLUMNS
from docs.studies.rows import ROWS
from hindsched.bench.bags.configuration_means import COLUMNS
from hindsched.bench.bags.verify import CLAIMS
from hindsched.instances.errors import InputError


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


@pytest.fixture(scope="module")
def drawn() -> list[dict[str, str]]:
    """Rows of weekdays on independent machines with shared stores and nine checkpoints, or one."""
    with lzma.open(ROWS / "bags_traces.csv.xz", "rt", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if (row["trace"], row["when"]) == ("independent", "weekday")]


def test_numbers_of_many_traces(published: Published, drawn: list[dict[str, str]]) -> None:
    best, late = "OPT shared at ends", "FCFS-TR shared noticed"
    nine = [row for row in drawn if row["checkpoints"] == "9"]
    mine = [float(row[late]) for row in nine if [row[name] for name in BAG_COLUMNS[:3]] == ["M04", "25", "7200"]]
    found = published.slowdown("FCFS-TR", "M04", "weekday", "25", "7200", "9")
    assert found.startswith(f"{mean(mine):.2f} (")
    assert len(mine) == 20
    gaps = [mean(float(row[run]) / float(row[best]) - 1 for row in nine) for run in ("PACE shared noticed", late)]
    assert published.closed("PACE", "weekday", "9").startswith(f"{100 - 100 * gaps[0] / gaps[1]:.0f} % (")
    one = {(row["seed"], *(row[name] for name in BAG_COLUMNS[:3])): row for row in drawn if row["checkpoints"] == "1"}
    gains = [1 - float(row[best]) / float(one[row["seed"], *(row[n] for n in BAG_COLUMNS[:3])][best]) for row in nine]
    assert published.gain("checkpoints", "OPT", "weekday").startswith(f"{100 * mean(gains):.1f} % (")
    saved = [1 - float(row["FCFS shared noticed"]) / float(row["FCFS private noticed"]) for row in drawn]
    assert published.gain("shared", "FCFS", "weekday", "at_once").startswith(f"{100 * mean(saved):.1f} % (")


def test_a_policy_with_the_gaps_of_fcfs_tr_closes_nothing(published: Published) -> None:
    assert published.closed("FCFS-TR", "weekday", "9") == "0 % (0 to 0)"


def test_every_table_has_its_rows(published: Published, rows: list[dict[str, str]]) -> None:
    shared = {(row["machines"], row["when"], row["checkpoints"]) for row in rows if row["store"] == "shared"}
    assert len(published.gaps().splitlines()) == 2 + len(shared)
    assert len(published.verified().splitlines()) == 2 + len(CLAIMS)
    assert " shared store, k = 2 (H6)" in published.speed()
    assert "| optimum, shared store | " in published.speed_large()


@pytest.mark.parametrize(
    ("writer", "words"),
    [
        ("slowdown", ("FCFS", "M04", "weekday", "25", "1800", "3")),
        ("slowdown", ("BEST", "M04", "weekday", "25", "1800", "9")),
        ("excess", ("FCFS-TR", "FCFS", "shared", "sometimes")),
        ("trace_runs", ("some",)),
        ("closed", ("PACE", "weekday", "2")),
        ("gain", ("sharing", "FCFS", "weekday")),
        ("gain", ("shared", "FCFS", "weekday", "sometimes")),
        ("speed_of", ("run", "mean")),
    ],
)
def test_words_that_mean_nothing_are_refused(published: Published, writer: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="expected"):
        published.writers()[writer](*words)
