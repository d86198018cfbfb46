"""The output of every command: JSON, one object per line, or a table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import click

from hindsched.bench.commands.options import in_flags
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError, printable
from hindsched.instances.text_files import as_unicode, encode

__all__ = ["Refusals", "Table", "report_error", "say_written"]

#: Least width of output that is not a terminal.
_NARROWEST = 80


@dataclass
class Table:
    """Rows of one kind, printed one by one (JSON) or together at the end (table).

    Parameters
    ----------
    columns
        Headings by key of a row, in order; None: the keys of the rows.
    as_json
        Whether to print one JSON object per line.
    title
        Title of the table.
    spare
        Keys of columns that a narrow terminal omits, in this order.
    """

    columns: Mapping[str, str] | None
    as_json: bool
    title: str | None = None
    spare: Sequence[str] = ()
    _rows: list[Row] = field(default_factory=list)

    def add(self, row: Mapping[str, object]) -> None:
        """Add a row; JSON is printed at once, with exactly the keys of ``columns`` if they are given."""
        kept = dict(row) if self.columns is None else {key: row[key] for key in self.columns}
        if self.as_json:
            click.echo(_json(kept))
            sys.stdout.flush()
        else:
            self._rows.append(kept)

    def add_all(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Add several rows."""
        for row in rows:
            self.add(row)

    def show(self) -> None:
        """Print the table; JSON has already been printed."""
        if self.as_json or not self._rows:
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        class Output(Console):
            """Standard output, whose reader may close it at any time."""

            def on_broken_pipe(self) -> None:
                raise BrokenPipeError  # the command line then ends silently; rich would exit with 1

        table = RichTable(box=box.SIMPLE_HEAD)
        columns = dict(self.columns or {key: key for row in self._rows for key in row if not _is_long(row[key])})
        # a pipe or a file has no width, so every column is complete
        natural = max(_NARROWEST, self._natural_width(columns))
        console = Output(highlight=False, width=None if sys.stdout.isatty() else natural)
        left_out = []
        for key in self.spare:
            if self._natural_width(columns) > console.width and columns.pop(key, None) is not None:
                left_out.append((self.columns or {}).get(key, key))
        for key, heading in columns.items():
            numeric = all(_is_numeric(row.get(key)) for row in self._rows)
            table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
        for row in self._rows:
            table.add_row(*(Text(_cell(row.get(key))) for key in columns))  # Text is not parsed as markup
        if self.title is not None:
            console.print(Text(self.title, style="bold"))
        console.print(table)
        if left_out:
            console.print(f"Omitted on this narrow terminal: {', '.join(left_out)}.")

    def _natural_width(self, columns: Mapping[str, str]) -> int:
        """Return the width of the table without line breaks in cells."""
        from rich.cells import cell_len

        cells = ([heading, *(_cell(row.get(key)) for row in self._rows)] for key, heading in columns.items())
        return 1 + sum(3 + max(map(cell_len, column)) for column in cells)


class Refusals:
    """Errors in some of several inputs: each is printed once on standard error, and processing continues."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    @contextmanager
    def of(self, file: object) -> Iterator[None]:
        """Catch an `InputError` in a block, and report it."""
        try:
            yield
        except InputError as error:
            self.report(error, file)

    def report(self, error: InputError, file: object) -> None:
        """Report an error in a file (None: in none), unless the error names another file."""
        located = in_flags(error).in_file(file)
        if str(located) not in self._reported:
            self._reported.add(str(located))
            report_error(located)

    @property
    def code(self) -> int:
        """The resulting exit code."""
        return 2 if self._reported else 0


def say_written(what: str, path: str) -> None:
    """Print on standard error what is written where; nothing if that is standard output."""
    if path != "-":
        click.echo(f"hindsched: {what} written to {path}", err=True)


def report_error(error: Exception) -> None:
    """Print an error in one line on standard error."""
    click.echo(f"hindsched: {error}", err=True)


def _is_long(value: object) -> bool:
    """Return whether a value is shown in JSON only: a list or an object."""
    return isinstance(value, list | tuple | dict)


def _is_numeric(value: object) -> bool:
    return isinstance(value, int | float | None) or (isinstance(value, str) and value[:1].isdigit())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else printable(str(value))


def _json(value: object) -> str:
    r"""Return JSON; text that is not Unicode, in a file's name, is escaped as in messages.

    Examples
    --------
    >>> _json({"file": "caf\udce9.json"})
    '{"file":"caf\\\\udce9.json"}'
    """
    try:
        return encode(value)
    except InputError:
        return encode(_unicode(value))


def _unicode(value: object) -> object:
    if isinstance(value, dict):
        return {_unicode(key): _unicode(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_unicode(each) for each in value]
    return as_unicode(value) if isinstance(value, str) else value
