"""Strict parsing of lines, numbers and dates in trace files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds, exact_seconds
from hindsched.instances.text_files import excerpt, read_text
from hindsched.instances.traces.times import A_DATE, compact_date, in_seconds, moment, plausible_unit, seconds

__all__ = ["TraceFile", "excerpt", "moment", "read_lines", "seconds", "to_length", "to_moment"]

#: Largest number of ten digits; longer ones that are dates (yyyymmddHHMM) are not taken for seconds.
_LONGEST_NUMBER = 10**10


@dataclass(frozen=True)
class TraceFile(os.PathLike[str]):
    """A file that is read once, for its form and then for its content; readers accept it in the place of a path.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        As in `read_lines`.
    """

    path: str | os.PathLike[str]
    text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", read_text(self.path, "a trace"))

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return os.fspath(self.path)


def read_lines(path: str | os.PathLike[str], *, is_lenient: bool = False) -> list[str]:
    """Return the lines of a text file without line ends; gzip, xz, bzip2 and zip are recognised by content.

    Parameters
    ----------
    path
        The file.
    is_lenient
        Whether bytes that are not UTF-8 are replaced by U+FFFD, for files with names of people in their comments.

    Raises
    ------
    InputError
        If the file cannot be read, or is not the text of a trace (see `decode_text`).
    """
    text = path.text if isinstance(path, TraceFile) else read_text(path, "a trace", is_lenient=is_lenient)
    return text.split("\n")


def to_length(value: float | str | Seconds, place: str) -> Seconds:
    """Convert a length, a number or its text, to exact seconds.

    Raises
    ------
    InputError
        If it is not a finite number above 0.
    """
    length = seconds(value) if isinstance(value, str) else exact_seconds(value, place)
    if length is None or length <= 0:
        raise InputError(f"{value!r}, expected a number of seconds above 0", place=place)
    return length


def to_moment(value: float | str | Seconds, place: str) -> Seconds:
    """Convert a time to exact UNIX seconds: a number of them, or a text of a date or a number.

    Raises
    ------
    InputError
        If it is neither, or is ambiguous.
    """
    if not isinstance(value, str):
        return exact_seconds(value, place)
    number = seconds(value)
    date = compact_date(value)
    if number is None or (date is not None and number > _LONGEST_NUMBER):
        time = moment(value) if number is None else date
        if time is None:
            raise InputError(f"{excerpt(value)}, expected UNIX seconds or {A_DATE}", place=place)
        return time
    unit = plausible_unit(number, number)
    if unit is None or date is not None:
        raise InputError(f"{excerpt(value)} has several meanings, expected {A_DATE}", place=place)
    return in_seconds([number], unit)[0]
