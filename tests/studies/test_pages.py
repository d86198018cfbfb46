"""The documentation agrees with the published rows, and the targets of its links exist."""

import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from docs.studies import published as published_pages
from docs.studies.cli import studies
from docs.studies.coupled.pages import published as bench_coupled_pages
from docs.studies.marked_pages import rebuild
from docs.studies.published import published as pages_of
from docs.studies.rows import ROWS
from hindsched.instances.families import BUILT_IN

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def published():
    return bench_coupled_pages.Published()


@pytest.mark.parametrize("family", BUILT_IN)
def test_pages_agree_with_the_rows(family):
    pages = pages_of(family)
    more = getattr(pages, "more_pages", ())
    changes = rebuild(DOCS / pages.folder, pages.writers(), pages.pictures(), more=more, is_check=True)
    assert changes == [], "make pages writes them"


def test_a_changed_number_row_and_picture_are_found_and_corrected(published, tmp_path):
    reproduction = (DOCS / "results/coupled/reproduction.md").read_text(encoding="utf-8")
    optima = (DOCS / "results/coupled/optima.md").read_text(encoding="utf-8")
    fails = published.fails("printed", "IE")
    row = published.optima().splitlines()[-1]
    page = tmp_path / "reproduction.md"
    page.write_text(reproduction.replace(f"{fails}<!--", "301<!--"), encoding="utf-8")
    (tmp_path / "optima.md").write_text(optima.replace(row, row.replace("10 |", "11 |", 1)), encoding="utf-8")
    changes = rebuild(tmp_path, published.writers(), {})
    assert [change.part for change in changes] == ["optima", "fails printed IE"]
    assert (changes[1].before, changes[1].after) == ("301", fails)
    assert page.read_text(encoding="utf-8") == reproduction
    assert (tmp_path / "optima.md").read_text(encoding="utf-8") == optima


def test_numbers_are_those_of_the_bare_rows(published):
    """The test computes them directly from the file; an unfinished run is beyond every bound, or at its limit."""
    with (ROWS / "paper_runs.csv.xz").open("rb") as file:
        rows = pd.read_csv(file, compression="xz", low_memory=False)
    rows = rows[rows["estimator"] == "printed"]
    mine = rows[(rows["policy"] == "RANDOM") & rows["optimum"].notna()]
    least = mine["makespan"].fillna(1_000_000) / mine["optimum"]
    most = mine["makespan"].fillna(float("inf")) / mine["optimum"]
    assert published.ratio("printed", "RANDOM", "median") == f"{least.median():.1f}–{most.median():.1f}"  # noqa: RUF001
    assert published.ratio("printed", "RANDOM", "quartile_3") == f"≥ {least.quantile(0.75):.1f}"
    fails, finished = rows[rows["makespan"].isna()], rows[rows["makespan"].notna()]
    num_fails = ((fails["policy"] == "RANDOM") & (fails["m"] == 10)).sum()
    assert published.fails("printed", "RANDOM", "II") == f"{num_fails:,}"
    best = finished[finished["policy"] == "E-IE"]
    rescued = set(fails.loc[fails["policy"] == "IE", "instance"]) & set(best["instance"])
    assert published.rescued("printed", "IE", "E-IE") == str(len(rescued))
    within = (best["makespan"] <= 1.1 * best["optimum"]).sum() / len(mine)
    assert published.ratio("printed", "E-IE", "within10") == f"{within:.1%}"


class _Two:
    folder = "."

    def writers(self):
        return {"two": lambda: "2"}

    def pictures(self):
        return {}


def test_the_exit_code_says_whether_pages_differ(tmp_path, monkeypatch):
    monkeypatch.setattr(bench_coupled_pages, "Published", _Two)
    monkeypatch.setattr(published_pages, "PAGE_WRITERS", {"coupled": bench_coupled_pages.__name__})
    page = tmp_path / "page.md"
    page.write_text("It is <!-- number: two -->3<!-- end -->.\n")
    arguments = ["pages", "--docs", str(tmp_path)]
    checked = CliRunner().invoke(studies, [*arguments, "--check", "--json"])
    assert checked.exit_code == 1
    assert '"part":"two","before":"3","after":"2"' in checked.output
    assert "3<!--" in page.read_text()
    assert CliRunner().invoke(studies, arguments).exit_code == 0
    assert page.read_text() == "It is <!-- number: two -->2<!-- end -->.\n"
    assert CliRunner().invoke(studies, [*arguments, "--check"]).exit_code == 0


def test_links_lead_somewhere_and_every_picture_is_shown():
    shown = set()
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not re.match(r"[a-z]+:", target):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
                shown.add((page.parent / target).resolve())
    pictures = {path.resolve() for path in DOCS.rglob("*") if path.suffix in (".svg", ".png", ".html")}
    tables = {path.resolve() for path in (DOCS / "results").rglob("*.csv")}
    assert pictures | tables <= shown


def test_the_documentation_stays_small():
    pages = [path for path in DOCS.rglob("*") if path.is_file() and "studies" not in path.relative_to(DOCS).parts]
    assert sum(path.stat().st_size for path in pages) < 2_800_000
