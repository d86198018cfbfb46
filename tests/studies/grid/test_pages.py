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
    queue = mine[mine["policy"] == "queue"]
    wait = (60 * queue["total_wait"] / (queue["jobs"] - queue["failed"])).mean()
    assert rows.wait("wide", "0.95", "queue") == f"{wait:,.0f}"
    dgs = mine[(mine["policy"] == "dgs") & (mine["degree"] == 10)]
    failed = (100 * dgs["failed"] / dgs["jobs"]).mean()
    assert f"| wide, 95% | 10 | {failed:.2f} ±" in rows.degrees()
    page = tmp_path / "page.md"
    page.write_text("A queue waits <!-- number: wait wide 0.95 queue -->1<!-- end --> s.\n", encoding="utf-8")
    assert [change.after for change in rebuild(tmp_path, rows.writers(), {})] == [f"{wait:,.0f}"]
    for words in ("wait wide 0.5 queue", "gap 11", "waits moon", "mean_width odd"):
        page.write_text(f"A <!-- number: {words} -->1<!-- end -->\n", encoding="utf-8")
        with pytest.raises(InputError, match="expected"):
            rebuild(tmp_path, rows.writers(), {})
