"""The journal of a campaign: a file with one JSON row per line, to which rows are only appended.

A row is on the disk before the next one is written, so a killed campaign loses at most the row being written. That torn
row is removed when the journal is opened again. Only one campaign at a time can open a journal.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader, FileIO
from pathlib import Path
from types import TracebackType

import msgspec
from filelock import FileLock, Timeout

from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import decode_json, read_bytes

__all__ = ["Journal", "JournalRows", "in_row", "read_rows"]


def read_rows(folder: str | os.PathLike[str]) -> tuple[list[tuple[str, Row]], bool]:
    """Return the rows of a folder's journal, each with its place, and whether the last row is torn.

    Raises
    ------
    InputError
        As in `JournalRows`.
    """
    rows = JournalRows(folder)
    return list(rows), rows.torn


class JournalRows:
    """The rows of a folder's journal, each with its place, read from the file at every iteration.

    A campaign may still be writing: the rows that are complete at the first iteration count, and the file is not
    changed.

    Raises
    ------
    InputError
        In an iteration, if there is no journal, or a row is broken; its line is named.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._path = Path(folder) / Journal.NAME
        self._size: int | None = None
        #: Whether the last row was cut off; known after an iteration.
        self.torn = False

    def __iter__(self) -> Iterator[tuple[str, Row]]:
        if not (self._path.is_file() and os.access(self._path, os.R_OK)):
            read_bytes(self._path)  # says why not
        with self._path.open("rb") as file:
            if self._size is None:
                self._size = os.fstat(file.fileno()).st_size
            try:
                for number, (_, line) in enumerate(_lines(file, self._size), start=1):
                    self.torn = not line.endswith(b"\n")
                    if not self.torn:
                        yield f"line {number}", _decoded(line, f"line {number}")
            except InputError as error:
                raise error.in_file(self._path) from None


@contextmanager
def in_row(place: str) -> Iterator[None]:
    """Add the place of a row to an error."""
    try:
        yield
    except InputError as error:
        raise error.at(", ".join(part for part in (place, error.place) if part)) from None


def _lines(file: BufferedReader, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines among the first ``size`` bytes of a file, each with its offset; a torn one has no line feed."""
    offset = 0
    while offset < size and (line := file.readline(size - offset)):
        yield offset, line
        offset += len(line)


def _decoded(line: bytes, place: str, expected: str = "one JSON object") -> Row:
    with suppress(ValueError, RecursionError):  # whatever is wrong is found again, with its place
        quick: Row = msgspec.json.decode(line, type=dict)
        if msgspec.json.encode(quick) == line[:-1]:  # as `Journal` writes it: nothing is lost, and no key occurs twice
            return quick
    try:
        row = decode_json(line.decode().rstrip("\r\n"))
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
        self._offsets: dict[str, int] = {}  # of rows in the file, since a campaign may have 1,000,000 rows
        self._maybe_failed: set[str] = set()
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
            self._reader = self.path.open("rb")
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
            self._reader.close()
            self._file = None
        self._lock.release()

    def __contains__(self, key: str) -> bool:
        return key in self._offsets

    def __getitem__(self, key: str) -> Row:
        return _row_at(self._reader, self._offsets[key])

    def offset(self, key: str) -> int:
        """Return the offset of a row in the file."""
        return self._offsets[key]

    def rows(self) -> Iterator[Row]:
        """Yield the last row of each key, in the order in which these were written."""
        return self.rows_at(self._offsets.values())

    def rows_at(self, offsets: Iterable[int]) -> Iterator[Row]:
        """Yield the rows at offsets in the file; also after the journal is closed."""
        with self.path.open("rb") as file:
            for offset in offsets:
                yield _row_at(file, offset)

    def failed_rows(self) -> dict[str, Row]:
        """Return the rows of failed jobs, by key."""
        rows = ((key, self[key]) for key in self._offsets if key in self._maybe_failed)
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
            offset = os.fstat(self._file.fileno()).st_size
            if self._file.write(text) < len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
        except OSError as error:
            message = f"row not written: {error.strerror}; earlier rows are kept: the same command resumes"
            raise InputError(message, file=self.path) from None
        for key, line in lines.items():
            self._hold(key, line, offset)
            offset += len(line) + 1

    def _hold(self, key: str, line: bytes, offset: int) -> None:
        self._offsets.pop(key, None)  # a row that is written again comes last
        self._offsets[key] = offset
        self._maybe_failed.discard(key)
        if b'"failure"' in line:
            self._maybe_failed.add(key)

    def _read(self) -> None:
        if not self.path.exists():
            return
        expected = "one JSON object with a text key; repair or remove this line"
        size = self.path.stat().st_size
        try:
            with self.path.open("rb") as file:
                for number, (offset, line) in enumerate(_lines(file, size), start=1):
                    if not line.endswith(b"\n"):
                        self.torn = len(line)
                        break
                    place = f"line {number}"
                    self._hold(_key_of(_decoded(line, place, expected), place, expected), line, offset)
        except InputError as error:
            raise error.in_file(self.path) from None
        if self.torn:
            with self.path.open("r+b") as file:
                file.truncate(size - self.torn)


def _row_at(file: BufferedReader, offset: int) -> Row:
    if file.tell() != offset:
        file.seek(offset)
    return msgspec.json.decode(file.readline(), type=Row)
