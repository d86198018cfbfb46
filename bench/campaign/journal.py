"""The journal of a campaign: a file with one JSON row per line, to which rows are only appended.

A row is on the disk before the next one is written, so a killed campaign loses at most the row being written. That torn
row is removed when the journal is opened again. Only one campaign at a time can open a journal.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from types import TracebackType

import msgspec
from filelock import FileLock, Timeout

from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import decode_json, read_bytes

__all__ = ["Journal", "in_row", "read_rows"]


def read_rows(folder: str | os.PathLike[str]) -> tuple[list[tuple[str, Row]], bool]:
    """Return the rows of a folder's journal, each with its place, and whether the last row is torn.

    A campaign may still be writing: only complete rows count, and the file is not changed.

    Raises
    ------
    InputError
        If there is no journal, or a row is broken; its line is named.
    """
    path = Path(folder) / Journal.NAME
    lines, torn = _whole_lines(read_bytes(path, most=None))
    try:
        return [(place, _decoded(line, place)) for place, line in lines], torn > 0
    except InputError as error:
        raise error.in_file(path) from None


@contextmanager
def in_row(place: str) -> Iterator[None]:
    """Add the place of a row to an error."""
    try:
        yield
    except InputError as error:
        raise error.at(", ".join(part for part in (place, error.place) if part)) from None


def _whole_lines(text: bytes) -> tuple[list[tuple[str, bytes]], int]:
    """Return the lines of a journal, each with its place, and the number of bytes of a torn last line."""
    whole = text.rfind(b"\n") + 1
    return [(f"line {i}", line) for i, line in enumerate(text[:whole].splitlines(), start=1)], len(text) - whole


def _decoded(line: bytes, place: str, expected: str = "one JSON object") -> Row:
    try:
        row = decode_json(line.decode())
    except UnicodeDecodeError:
        raise InputError(f"broken row: not UTF-8, expected {expected}", place=place) from None
    except InputError as error:
        raise InputError(f"broken row: {error}, expected {expected}", place=place) from None
    if not isinstance(row, dict):
        raise InputError(f"broken row, expected {expected}", place=place)
    return row


def _key_of(row: Row, place: str, expected: str) -> str:
    if not isinstance(row.get("key"), str):
        raise InputError(f"broken row, expected {expected}", place=place)
    return str(row["key"])


class Journal:
    """Rows by key in ``FOLDER/runs.jsonl``, locked while open.

    Parameters
    ----------
    folder
        Created if needed.

    Raises
    ------
    InputError
        If another campaign uses the folder, or a row is broken; its line is named and the file is not changed.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with Journal(folder) as journal:
    ...     journal.append({"key": "a", "makespan": 7})
    >>> with Journal(folder) as journal:
    ...     "a" in journal, journal["a"]["makespan"]
    (True, 7)
    """

    NAME = "runs.jsonl"

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / self.NAME
        #: Number of bytes of a torn last row that were removed on opening.
        self.torn = 0
        self._lines: dict[str, bytes] = {}  # undecoded, since a campaign may have 100,000 rows
        self._file: FileIO | None = None

    def __enter__(self) -> Journal:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.folder / ".lock")
            self._lock.acquire(timeout=0)
        except Timeout:
            raise InputError(
                "another campaign is writing here, expected a folder for each campaign", file=self.folder
            ) from None
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=self.folder) from None
        try:
            self._read()
            self._file = self.path.open("ab", buffering=0)  # rows are written at once
        except OSError as error:
            self._lock.release()
            raise InputError(f"cannot be opened: {error.strerror}", file=self.path) from None
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._lock.release()

    def __contains__(self, key: str) -> bool:
        return key in self._lines

    def __getitem__(self, key: str) -> Row:
        return msgspec.json.decode(self._lines[key], type=Row)

    def rows(self) -> Iterator[Row]:
        """Yield the last row of each key, in the order in which these were written."""
        return (msgspec.json.decode(line, type=Row) for line in self._lines.values())

    def failed_rows(self) -> dict[str, Row]:
        """Return the rows of failed jobs, by key."""
        rows = ((key, msgspec.json.decode(line, type=Row)) for key, line in self._lines.items() if b'"failure"' in line)
        return {key: row for key, row in rows if row.get("failure") is not None}

    def append(self, row: Row) -> None:
        """Write one row with its ``key``, and wait until it is on the disk.

        Raises
        ------
        InputError
            If the disk is full.
        """
        self.append_all([row])

    def append_all(self, rows: Sequence[Row]) -> None:
        """Write rows with their ``key``, and wait until they are on the disk.

        Raises
        ------
        InputError
            If the disk is full; earlier rows are kept.
        """
        assert self._file is not None, "a journal is written inside its with-block"
        if not rows:
            return
        try:
            lines = {row["key"]: msgspec.json.encode(row) for row in rows}
            text = b"".join(line + b"\n" for line in lines.values())
            if self._file.write(text) < len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
        except OSError as error:
            message = f"row not written: {error.strerror}; earlier rows are kept: the same command resumes"
            raise InputError(message, file=self.path) from None
        for key, line in lines.items():
            self._hold(key, line)

    def _hold(self, key: str, line: bytes) -> None:
        self._lines.pop(key, None)  # a row that is written again comes last
        self._lines[key] = line

    def _read(self) -> None:
        if not self.path.exists():
            return
        text = self.path.read_bytes()
        lines, self.torn = _whole_lines(text)
        expected = "one JSON object with a text key; repair or remove this line"
        try:
            for place, line in lines:
                self._hold(_key_of(_decoded(line, place, expected), place, expected), line)
        except InputError as error:
            raise error.in_file(self.path) from None
        if self.torn:
            with self.path.open("r+b") as file:
                file.truncate(len(text) - self.torn)
