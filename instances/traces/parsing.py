"""Strict parsing of lines, numbers and dates in trace files."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds, exact_seconds, simplest
from hindsched.instances.text_files import excerpt, read_text

__all__ = ["TraceFile", "excerpt", "moment", "read_lines", "seconds", "to_length", "to_moment"]

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{0,18})?([eE][+-]?[0-9]{1,2})?", re.ASCII)
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


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


def seconds(text: str) -> Seconds | None:
    """Return the exact number that a text represents, or None if it is not a number.

    Examples
    --------
    >>> seconds("1099755300"), seconds("0.5"), seconds("nan")
    (1099755300, Fraction(1, 2), None)
    """
    if text.isdigit() and len(text) <= 18 and text.isascii():
        return int(text)
    return simplest(Fraction(text)) if _NUMBER.fullmatch(text) else None


def moment(text: str) -> Seconds | None:
    """Return the UNIX seconds of an ISO date and time (UTC unless it has an offset), or None if it is not one.

    Examples
    --------
    >>> moment("2023-02-15 22:08:16"), moment("1970-01-01T01:00:00.5+01:00"), moment("yesterday")
    (1676498896, Fraction(1, 2), None)
    """
    if not _DATE.fullmatch(text):
        return None
    try:
        date = datetime.fromisoformat(text)
    except ValueError:  # the 30th of February
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    whole, microseconds = divmod((date - _EPOCH) // _MICROSECOND, 1_000_000)
    return whole + Fraction(microseconds, 1_000_000) if microseconds else whole


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
    """Convert a time, UNIX seconds or an ISO date, to exact UNIX seconds.

    Raises
    ------
    InputError
        If it is neither.
    """
    if not isinstance(value, str):
        return exact_seconds(value, place)
    time = seconds(value)
    time = moment(value) if time is None else time
    if time is None:
        raise InputError(
            f"{excerpt(value)}, expected UNIX seconds or a date and time such as 2023-02-15 22:08:16", place=place
        )
    return time
