"""Marked parts of pages are rewritten if they differ and refused if they are broken; other text stays."""

import pandas as pd
import pytest

from docs.studies.marked_pages import DataFile, Picture, fill, rebuild
from hindsched.instances.errors import InputError

WRITERS = {"twice": lambda word: str(2 * int(word)), "rows": lambda: "| a |\n|---|\n| 1 |\n"}
PAGE = """# Page

It takes <!-- number: twice 4 -->8<!-- end --> s, or <!-- number: twice 5 -->?<!-- end -->.

<!-- table: rows -->

| a |
|---|
| 0 |

<!-- end -->

After.
"""


def test_parts_are_written_and_the_rest_is_kept():
    text, changes = fill(PAGE, WRITERS, "page.md")
    assert text == PAGE.replace("?", "10").replace("| 0 |", "| 1 |")
    assert [(change.place, change.part) for change in changes] == [("page.md:3", "twice 5"), ("page.md:5", "rows")]
    assert changes[0].before == "?"
    assert changes[0].after == "10"
    assert fill(text, WRITERS, "page.md") == (text, [])


@pytest.mark.parametrize(
    ("page", "line", "said"),
    [
        ("a\nb <!-- number: twice 4 -->8", 2, "a mark without end"),
        ("a <!-- number: twice 4 -->8 <!-- number: twice 4 -->8<!-- end -->", 1, "a mark without end"),
        ("a\n\nb 8<!-- end -->", 3, "an end without a mark"),
        ("a\n<!-- number: twice 4 -->8<!-- end -->", 2, "begins the line"),
        ("a\n- <!-- number: twice 4 -->8<!-- end -->", 2, "begins the line"),
        ("a\nb <!-- table: rows -->\n<!-- end -->", 2, "in the middle of a line"),
        ("a <!-- number: thrice 4 -->8<!-- end -->", 1, "'thrice', expected one of rows, twice"),
        ("a <!-- number: twice -->8<!-- end -->", 1, "expected twice(word)"),
    ],
)
def test_a_broken_mark_is_refused_in_one_line(page, line, said):
    with pytest.raises(InputError) as caught:
        fill(page, WRITERS, "page.md")
    assert str(caught.value).startswith(f"page.md: line {line}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_broken_page_leaves_all_pages_as_they_were(tmp_path):
    (tmp_path / "a.md").write_text(PAGE)
    (tmp_path / "b.md").write_text("b <!-- number: twice 4 -->")
    with pytest.raises(InputError):
        rebuild(tmp_path, WRITERS, {})
    assert (tmp_path / "a.md").read_text() == PAGE


def test_a_picture_is_drawn_where_its_numbers_changed(tmp_path):
    (tmp_path / "a.md").write_text("a")
    drawn = []
    numbers = pd.DataFrame({"x": [1.0, 2.0]})

    def draw(path):
        drawn.append(path.name)
        path.write_text("<svg>\n</svg>\n")

    pictures = {"a.svg": Picture(lambda: numbers, draw)}
    assert len(rebuild(tmp_path, {}, pictures, is_check=True)) == 1
    assert drawn == []
    assert len(rebuild(tmp_path, {}, pictures)) == 1
    assert rebuild(tmp_path, {}, pictures) == []
    numbers.loc[1, "x"] += 1e-9
    assert rebuild(tmp_path, {}, pictures) == []
    numbers.loc[1, "x"] += 1e-3
    assert len(rebuild(tmp_path, {}, pictures)) == 1
    assert drawn == ["a.svg", "a.svg"]
    assert (tmp_path / "a.svg").read_text().count("<!--") == 1


def test_a_folder_without_pages_is_refused(tmp_path):
    with pytest.raises(InputError, match="no page"):
        rebuild(tmp_path, {}, {})


def test_a_data_file_is_written_where_its_rows_changed(tmp_path):
    (tmp_path / "page.md").write_text("See [the rows](rows.csv).\n")
    rows = pd.DataFrame({"p": [1, 2], "ratio": [1.0, 0.123456789]})
    files = {"rows.csv": DataFile(lambda: rows)}
    assert [change.part for change in rebuild(tmp_path, {}, files, is_check=True)] == ["data"]
    assert not (tmp_path / "rows.csv").exists()
    assert len(rebuild(tmp_path, {}, files)) == 1
    assert (tmp_path / "rows.csv").read_text() == "p,ratio\n1,1\n2,0.123457\n"
    assert rebuild(tmp_path, {}, files) == []
