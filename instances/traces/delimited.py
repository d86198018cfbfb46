"""Tables of text: lines of cells between separators, with comments, blank lines and a line of names.

Each reader of tables is a search for its columns among the possible first lines and separators.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from hindsched.instances.errors import InputError
from hindsched.instances.text_files import excerpt

__all__ = ["MOST_ROWS", "SEPARATORS", "Candidate", "cells_of", "first_lines", "significant"]

#: Names of the separators of cells, by the separator; ``" "`` stands for any number of blanks.
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", " ": "blanks"}
#: Marks that begin a comment line.
_COMMENT = re.compile(r"\s*(#|//|%)")
#: Largest number of characters of a first line.
_LONGEST_LINE = 10_000
#: Excel's line that names the separator of the rest.
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)

#: Most lines of a table, which memory must hold at once.
MOST_ROWS = 3_000_000
#: Number of comment lines before the first line that may name the columns.
_MOST_COMMENTS = 20


class Candidate(NamedTuple):
    """A line that may name the columns of a table, cut at one of the separators.

    Parameters
    ----------
    number
        The number of the line.
    names
        Its cells.
    separator
        One of `SEPARATORS`.
    """

    number: int
    names: list[str]
    separator: str

    @property
    def shown(self) -> str:
        """The names as they stand in a message, at most 120 letters."""
        text = self.separator.join(self.names)
        return text if len(text) <= 120 else f"{text[:120]}..."

    def rows(self, lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield the numbers and the cells of the lines after this one.

        Raises
        ------
        InputError
            If a line has another number of cells, or there are more than `MOST_ROWS` lines.
        """
        width, separator = len(self.names), self.separator
        for number, line in significant(lines, self.number, MOST_ROWS):
            cells = cells_of(line, separator, number)
            if len(cells) != width:
                raise InputError(f"{len(cells)} columns, expected {width}: {self.shown}", place=f"line {number}")
            yield number, cells


def significant(lines: Sequence[str], after: int = 0, most: int | None = None) -> Iterator[tuple[int, str]]:
    """Yield the lines after number ``after`` that are neither blank nor a comment, with their numbers from 1.

    Raises
    ------
    InputError
        If there are more than ``most``.
    """
    count = 0
    for number, line in enumerate(islice(lines, after, None), start=after + 1):
        if line and not line.isspace() and not _COMMENT.match(line):
            count += 1
            if most is not None and count > most:
                raise InputError(f"one of more than {most} lines, expected at most these", place=f"line {number}")
            yield number, line


def cells_of(line: str, separator: str, number: int) -> list[str]:
    """Return the cells of a line without blanks around them; a cell in quotes may contain separators.

    Raises
    ------
    InputError
        If a quote is not closed on the line.

    Examples
    --------
    >>> cells_of('"a,b", 1', ",", 1), cells_of("a   1", " ", 1)
    (['a,b', '1'], ['a', '1'])
    """
    if separator == " ":
        return line.split()
    if '"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    try:
        cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=line.count('"') % 2 == 1))
    except csv.Error as error:
        raise InputError(f"{excerpt(line)}: {error}, expected a line of cells", place=f"line {number}") from None
    return [cell.strip() for cell in cells]


def first_lines(lines: Sequence[str]) -> list[Candidate]:
    """Return the possible first lines of a table at all separators: the first line, and comments before it.

    Raises
    ------
    InputError
        If every line is blank or a comment.
    """
    number, line = next(significant(lines), (0, ""))
    if not number:
        raise InputError("only comments and blank lines, expected a trace")
    separators = list(SEPARATORS)
    named = _SEPARATOR_LINE.fullmatch(line)
    if named and named[1] in SEPARATORS:
        separators = [named[1]]
        number, line = next(significant(lines, number), (0, ""))
    found = [(number, line)] if number else []
    if not named:
        comments = [(i, lines[i - 1]) for i in range(number - 1, 0, -1) if _COMMENT.match(lines[i - 1])]
        found += [(i, _COMMENT.sub("", line, count=1)) for i, line in comments[:_MOST_COMMENTS]]
    candidates: list[Candidate] = []
    for number, line in found:
        if len(line) > _LONGEST_LINE:
            raise InputError(f"{len(line)} characters, expected at most {_LONGEST_LINE}", place=f"line {number}")
        for separator in separators:
            try:
                candidates.append(Candidate(number, cells_of(line, separator, number), separator))
            except InputError:  # a quote that another separator closes
                continue
    return candidates
