"""Marked parts of Markdown pages, which the study ``pages`` writes from rows.

A *number* is part of a sentence, a *table* has lines of its own::

    E-IE takes <!-- number: ratio printed E-IE median -->1.86<!-- end --> times the optimum in the median.

    <!-- table: ratios printed -->

    | heuristic | median |
    ...

    <!-- end -->

The first word after the colon names the writer, the others are its arguments. The last line of a picture is a comment
with a digest of its numbers. Rendered pages show no mark.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hindsched.instances.errors import InputError
from hindsched.instances.text_files import read_bytes, write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Change", "DataFile", "Picture", "Published", "Writer", "fill", "rebuild"]

#: Returns the text of a part; its arguments are the words of the mark.
Writer = Callable[..., str]

_END = "<!-- end -->"
_MARK = re.compile(rf"<!-- (?P<kind>table|number): (?P<words>[^\n]*?) -->|{_END}")
#: Beginnings of a line after which a comment would start an HTML block.
_BEGINS_LINE = re.compile(r"\s*(?:[-*+>]|\d+[.)])?\s*")
_DRAWN_FROM = "<!-- drawn from numbers with the digest {} -->\n"


@dataclass(frozen=True, slots=True)
class Change:
    """A part that differs from the rows.

    Parameters
    ----------
    place
        File and line.
    part
        The words of its mark.
    before, after
        Text of the page, and text from the rows.
    """

    place: str
    part: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture next to the pages.

    Parameters
    ----------
    numbers
        Returns the numbers that it shows.
    draw
        Draws it into a file.
    """

    numbers: Callable[[], pd.DataFrame]
    draw: Callable[[Path], None]

    def update(self, path: Path, *, is_check: bool) -> list[Change]:
        """Draw the picture again if its numbers differ from those of the file; return what differed."""
        drawn_from = _DRAWN_FROM.format(digest(self.numbers()))
        stands = path.read_text(encoding="utf-8").splitlines()[-1:] if path.is_file() else []
        if stands == [drawn_from.strip()]:
            return []
        if not is_check:
            self.draw(path)
            write_text(path, path.read_text(encoding="utf-8") + drawn_from)
        before = stands[0] if stands and stands[0].startswith("<!--") else "no digest"
        return [Change(str(path), "picture", before, drawn_from.strip())]


@dataclass(frozen=True, slots=True)
class DataFile:
    """A CSV file next to the pages, for tables longer than a screen.

    Parameters
    ----------
    numbers
        Returns its rows; floats are written to six digits.
    """

    numbers: Callable[[], pd.DataFrame]

    def update(self, path: Path, *, is_check: bool) -> list[Change]:
        """Write the file if it differs from its rows; return what differed."""
        text = self.numbers().to_csv(index=False, float_format="%.6g", lineterminator="\n")
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if before == text:
            return []
        if not is_check:
            write_text(path, text)
        return [Change(str(path), "data", _first_difference(before, text), _first_difference(text, before))]


def _first_difference(text: str, other: str) -> str:
    """Return the first line of a text that another one does not have at the same place."""
    lines, others = text.splitlines(), other.splitlines()
    return next((line for i, line in enumerate(lines) if others[i : i + 1] != [line]), "")


class Published(Protocol):
    """Writers, pictures and data files of the pages of a family."""

    #: The folder of the pages, from that of the documentation.
    folder: str

    def writers(self) -> Mapping[str, Writer]:
        """Return the writers, by the first word of a mark."""
        ...

    def pictures(self) -> Mapping[str, Picture | DataFile]:
        """Return the pictures and data files next to the pages, by name."""
        ...


def fill(text: str, writers: Mapping[str, Writer], file: str) -> tuple[str, list[Change]]:
    """Return a page with every marked part rewritten, and the parts that changed.

    Parameters
    ----------
    text
        The page.
    writers
        Writers by the first word of a mark.
    file
        Name of the page, for messages.

    Raises
    ------
    InputError
        For a mark without end or in a wrong place, an unknown writer, or arguments that its writer refuses. The message
        has the line.

    Examples
    --------
    >>> page = "It takes <!-- number: twice 4 -->7<!-- end --> s."
    >>> fill(page, {"twice": lambda word: str(2 * int(word))}, "page.md")
    ('It takes <!-- number: twice 4 -->8<!-- end --> s.', [Change(place='page.md:1', part='twice 4', before='7', \
after='8')])
    """
    parts, changes, done = [], [], 0
    for mark, end in _marks(text, file):
        line = text.count("\n", 0, mark.start()) + 1
        try:
            found = _write(mark["words"], writers)
            before = text[: mark.start()].rpartition("\n")[2]
            if mark["kind"] == "table":
                if before or text[mark.end() : mark.end() + 1] != "\n":
                    raise InputError("a table in the middle of a line, expected a line for its mark alone")
                found = f"\n\n{found.strip()}\n\n"
            elif _BEGINS_LINE.fullmatch(before):
                raise InputError("a number begins the line, expected a word before it, or it is taken for HTML")
        except InputError as error:
            raise InputError(error.expected, place=f"line {line}", file=file) from None
        stands = text[mark.end() : end.start()]
        if stands != found:
            changes.append(Change(f"{file}:{line}", mark["words"], stands.strip(), found.strip()))
        parts += [text[done : mark.end()], found]
        done = end.start()
    return "".join([*parts, text[done:]]), changes


def _marks(text: str, file: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yield the beginning and the end of each part."""
    opened: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        if (mark["kind"] is None) == (opened is None):
            wrong = opened or mark
            expected = "a mark without end" if opened else "an end without a mark before it"
            raise InputError(expected, place=f"line {text.count(chr(10), 0, wrong.start()) + 1}", file=file)
        if opened is not None:
            yield opened, mark
        opened = mark if opened is None else None
    if opened is not None:
        raise InputError("a mark without end", place=f"line {text.count(chr(10), 0, opened.start()) + 1}", file=file)


def _write(words: str, writers: Mapping[str, Writer]) -> str:
    name, *arguments = words.split() or [""]
    if name not in writers:
        raise InputError(f"{name!r}, expected one of {', '.join(sorted(writers))}")
    try:
        inspect.signature(writers[name]).bind(*arguments)
    except TypeError:
        raise InputError(f"{words!r}, expected {name}{inspect.signature(writers[name])}") from None
    return writers[name](*arguments)


def rebuild(
    folder: Path,
    writers: Mapping[str, Writer],
    pictures: Mapping[str, Picture | DataFile],
    *,
    more: Sequence[str] = (),
    is_check: bool = False,
) -> list[Change]:
    """Rewrite the marked parts of the pages (``*.md``) of a folder, and the pictures and data files that changed.

    Parameters
    ----------
    folder
        Folder of the pages.
    writers
        Writers by the first word of a mark.
    pictures
        Pictures and data files, by name.
    more
        Pages elsewhere with marks, as paths from the folder.
    is_check
        Whether to report changes without writing.

    Returns
    -------
    list of Change
        The differences.

    Raises
    ------
    InputError
        Where the folder has no page, or a mark is broken.
    """
    pages = sorted(folder.glob("*.md")) + [folder / name for name in more]
    if not pages:
        raise InputError("no page, expected Markdown files (*.md)", file=folder)
    found: list[Change] = []
    written: dict[Path, str] = {}
    for page in pages:
        text, changes = fill(read_bytes(page).decode(), writers, str(page))
        found += changes
        if changes:
            written[page] = text
    if not is_check:
        for page, text in written.items():
            write_text(page, text)
    for name, file in pictures.items():
        found += file.update(folder / name, is_check=is_check)
    return found


def digest(numbers: pd.DataFrame) -> str:
    """Return a digest of a table, to six digits of every number.

    Examples
    --------
    >>> import pandas as pd
    >>> digest(pd.DataFrame({"a": [1.0]})) == digest(pd.DataFrame({"a": [1.0000000001]}))
    True
    """
    return hashlib.sha256(numbers.to_csv(index=False, float_format="%.6g").encode()).hexdigest()[:16]
