"""Numbers of the pages on grids equal those computed from the bare rows."""

import pytest

from docs.studies.grid.pages import Published
from docs.studies.marked_pages import rebuild
from docs.studies.rows import read_rows
from hindsched.instances.errors import InputError


def test_numbers_of_the_grid_are_those_of_the_bare_rows(tmp_path):
    """The test computes them directly from the file, and finds a changed number."""
    runs = read_rows("grid_runs")
    rows = Published()
    mine = runs[(runs["part"] == "paper") & (runs["mix"] == "wide") & (runs["load"] == 0.95)]
    queue = mine[(mine["policy"] == "queue") & (mine["rule"] == "length")]
    waits = 60 * queue["total_wait"] / (queue["jobs"] - queue["failed"])
    wait = f"{waits.mean():,.0f} ± {2.776 * waits.std() / 5**0.5:,.0f}"
    assert rows.wait("wide", "0.95", "queue(length)") == wait
    writers = rows.writers()
    dgs = mine[(mine["policy"] == "dgs") & (mine["degree"] == 10)]
    failed = (100 * dgs["failed"] / dgs["jobs"]).mean()
    line = next(line for line in writers["versus"]("II").splitlines() if line.startswith("| 10 | failed, % | 1.5 |"))
    assert line.split(" | ")[4].startswith(f"{failed:.2f} (")
    days = mine["submitted_slots"] / 1440
    push = (dgs["push"] / days[dgs.index]).mean()
    line = next(line for line in writers["versus"]("II").splitlines() if line.startswith("| 10 | push per day"))
    assert line.split(" | ")[2:5:2] == ["75,592", line.split(" | ")[4]]
    assert line.split(" | ")[4].startswith(f"{push:,.0f} (")
    line = next(line for line in writers["versus"]("III").splitlines() if "| 28% | difference, s |" in line)
    assert line.split(" | ")[2] == "88.0"
    counted = sum(int(writers["num_claims"](word)) for word in ("holds", "partly", "substitute", "fails", "undecided"))
    assert counted == int(writers["num_claims"]())
    page = tmp_path / "page.md"
    page.write_text("A queue waits <!-- number: wait wide 0.95 queue(length) -->1<!-- end --> s.\n", encoding="utf-8")
    assert [change.after for change in rebuild(tmp_path, rows.writers(), {})] == [wait]
    for words in (
        "wait wide 0.5 queue",
        "gap 11",
        "waits moon",
        "mean_width odd",
        "versus IV",
        "sweep degree",
    ):
        page.write_text(f"A <!-- number: {words} -->1<!-- end -->\n", encoding="utf-8")
        with pytest.raises(InputError, match="expected"):
            rebuild(tmp_path, rows.writers(), {})


def test_differences_of_schedulers_are_paired():
    rows = Published()
    frame = read_rows("grid_waits")
    frame = frame[frame["place"].str.startswith("log")]
    means = frame.groupby(["place", "policy", "patience"], dropna=False)["total_wait"].mean() / 50
    found = [means[f"log {first}", "dgs"].item() - means[f"log {first}", "late", 60] for first in range(0, 1500, 150)]
    assert rows.less("log", "60").startswith(f"{sum(found) / 10:.1f} (")
    runs = read_rows("grid_runs")
    runs = runs[(runs["part"] == "paper") & (runs["mix"] == "wide") & (runs["load"] == 0.95)]
    waits = {
        policy: 60 * mine["total_wait"].to_numpy() / (mine["jobs"] - mine["failed"]).to_numpy()
        for policy, mine in runs[runs["policy"].str.startswith("asap")].groupby("policy")
    }
    longer = waits["asap_pinned"] - waits["asap_counted"]
    half = 2.776 * longer.std(ddof=1) / 5**0.5
    low, high = (f"{longer.mean() + sign * half:,.0f}".replace("-", "−") for sign in (-1, 1))  # noqa: RUF001
    line = next(line for line in rows.steps().splitlines() if line.startswith("| asap_pinned - asap_counted |"))
    assert f"| {longer.mean():,.0f} ({low} to {high}) |" in line


def test_the_longest_wait_is_that_of_all_runs():
    frame = read_rows("grid_waits")
    longest = frame[(frame["policy"] == "late") & (frame["patience"] > 60) & frame["place"].str.startswith("log")]
    line = next(line for line in Published().waits("log").splitlines() if line.startswith("| late, no promises |"))
    assert line.split(" | ")[2] == f"{longest['max_wait'].max():,.0f}"


def test_rare_rounds_are_compared_with_the_static_overlay_by_seed():
    runs = read_rows("grid_runs")
    runs = runs[(runs["policy"] == "dgs") & (runs["mix"] == "wide") & (runs["load"] == 0.95) & (runs["degree"] == 20)]
    runs = runs[(runs["messaging"] == "push") & (runs["jobs"] == 71_000)].assign(wait=lambda rows: rows["total_wait"])
    rare = runs[runs["every"] == 1_000].set_index("seed")["wait"]
    static = runs[(runs["overlay"] == "static") & (runs["part"] == "paper")].set_index("seed")["wait"]
    line = next(line for line in Published().writers()["rare_rounds"]().splitlines() if line.startswith("| wide 95%"))
    assert line.split(" | ")[2].startswith(f"{60 * (rare - static[rare.index]).mean() / 71_000:,.1f} (")
