"""Strict parsing of lines, numbers and dates in trace files."""

from __future__ import annotations

import gzip
import lzma
import os
import re
import zlib
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from io import BytesIO

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds, exact_seconds, simplest
from hindsched.instances.text_files import excerpt, read_bytes

__all__ = ["MOST_BYTES", "excerpt", "moment", "read_lines", "seconds", "to_length", "to_moment"]

#: Largest decompressed size in bytes; a larger file is refused before it fills the memory.
MOST_BYTES = 1 << 29

_GZIP_MAGIC, _XZ_MAGIC = b"\x1f\x8b", b"\xfd7zXZ\x00"
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{0,18})?([eE][+-]?[0-9]{1,2})?", re.ASCII)
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def read_lines(path: str | os.PathLike[str], *, is_lenient: bool = False) -> list[str]:
    """Return the lines of a text file without line ends; gzip and xz are recognised by content.

    Parameters
    ----------
    path
        The file.
    is_lenient
        Whether bytes that are not UTF-8 are replaced by U+FFFD, for files with names of people in their comments.

    Raises
    ------
    InputError
        If the file is missing, empty or not UTF-8, or its compressed data is truncated or damaged.
    """
    raw = read_bytes(path)
    if raw.startswith(_GZIP_MAGIC):
        try:
            with gzip.open(BytesIO(raw)) as stream:
                raw = stream.read(MOST_BYTES + 1)
        except EOFError:
            raise InputError("truncated gzip data, expected a whole file", file=path) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"damaged gzip data: {error}", file=path) from None
        _expect_size(raw, path)
    elif raw.startswith(_XZ_MAGIC):
        reader = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        try:
            raw = reader.decompress(raw, MOST_BYTES + 1)
        except lzma.LZMAError as error:
            raise InputError(f"damaged xz data: {error}", file=path) from None
        _expect_size(raw, path)
        if not reader.eof:
            raise InputError("truncated xz data, expected a whole file", file=path)
        if reader.unused_data:
            raise InputError("damaged xz data: bytes follow its end", file=path)
    if not raw.strip():
        raise InputError("empty, expected a trace", file=path)
    try:
        text = raw.decode("utf-8-sig", errors="replace" if is_lenient else "strict")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError("not UTF-8, expected the text of a trace", place=f"line {line}", file=path) from None
    return [line.removesuffix("\r") for line in text.split("\n")]


def _expect_size(raw: bytes, path: str | os.PathLike[str]) -> None:
    if len(raw) > MOST_BYTES:
        raise InputError(f"more than {MOST_BYTES >> 20} MiB when unpacked, expected a trace", file=path)


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
