"""One renderer for every command: JSON, one object a line, or a table that a person likes to read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click

from hindsched.instances.errors import InputError, printable
from hindsched.instances.text_files import as_unicode, encode

__all__ = ["Refusals", "Table", "bad_input"]


@dataclass
class Table:
    """Rows of one kind, shown as they come (JSON) or together at the end (table).

    Parameters
    ----------
    columns
        Keys of a row, in order, with the heading a person sees; None: the keys of the rows themselves.
    as_json
        Whether to print one JSON object a line instead.
    title
        Above the table.
    spare
        Keys of columns that a narrow terminal can do without, the first to go first.
    """

    columns: Mapping[str, str] | None
    as_json: bool
    title: str | None = None
    spare: Sequence[str] = ()
    _rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, row: Mapping[str, Any]) -> None:
        """Take a row; in JSON it is printed at once, with exactly the keys of ``columns`` where they are told."""
        kept = dict(row) if self.columns is None else {key: row[key] for key in self.columns}
        if self.as_json:
            click.echo(_json(kept))
            sys.stdout.flush()
        else:
            self._rows.append(kept)

    def add_all(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take several rows."""
        for row in rows:
            self.add(row)

    def show(self) -> None:
        """Print the table; nothing is left to do in JSON."""
        if self.as_json or not self._rows:
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        class Output(Console):
            """Standard output, whose reader may go at any time."""

            def on_broken_pipe(self) -> None:
                raise BrokenPipeError  # which the command line takes for a quiet end, where rich would say 1

        table = RichTable(title=self.title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
        columns = dict(self.columns or {key: key for row in self._rows for key in row if not _is_long(row[key])})
        # a pipe or a file gets every column whole, whatever the width of the terminal that is not there
        console = Output(highlight=False, width=None if sys.stdout.isatty() else self._natural_width(columns))
        left_out = []
        for key in self.spare:
            if self._natural_width(columns) > console.width and columns.pop(key, None) is not None:
                left_out.append((self.columns or {}).get(key, key))
        for key, heading in columns.items():
            numeric = all(_is_numeric(row.get(key)) for row in self._rows)
            table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
        for row in self._rows:
            table.add_row(*(Text(_cell(row.get(key))) for key in columns))  # not markup, whatever stands in it
        console.print(table)
        if left_out:
            console.print(f"Left out on this narrow terminal: {', '.join(left_out)}.")

    def _natural_width(self, columns: Mapping[str, str]) -> int:
        """Return how wide the table is where no cell is broken."""
        from rich.cells import cell_len

        cells = ([heading, *(_cell(row.get(key)) for row in self._rows)] for key, heading in columns.items())
        return 1 + sum(3 + max(map(cell_len, column)) for column in cells)


class Refusals:
    """What is wrong with some of several inputs: each is told once, on standard error, and the others go on."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    @contextmanager
    def of(self, file: object) -> Iterator[None]:
        """End a block at an `InputError`, and tell it."""
        try:
            yield
        except InputError as error:
            self.tell(error, file)

    def tell(self, error: InputError, file: object) -> None:
        """Tell of one in a file (None: in none), unless it names another."""
        told = error.in_file(file)
        if str(told) not in self._told:
            self._told.add(str(told))
            bad_input(told)

    @property
    def code(self) -> int:
        """The exit code that this makes."""
        return 2 if self._told else 0


def bad_input(error: Exception) -> None:
    """Say on standard error, in one line, what is wrong with one of several inputs; the others go on."""
    click.echo(f"hindsched: {error}", err=True)


def _is_long(value: object) -> bool:
    """Whether a value is for machines: lists and objects stay in JSON."""
    return isinstance(value, list | tuple | dict)


def _is_numeric(value: object) -> bool:
    return isinstance(value, int | float | None) or (isinstance(value, str) and value[:1].isdigit())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else printable(str(value))


def _json(value: Any) -> str:
    r"""Return JSON; text that is not Unicode, of a file's name, is told as messages tell it.

    Examples
    --------
    >>> _json({"file": "caf\udce9.json"})
    '{"file":"caf\\\\udce9.json"}'
    """
    try:
        return encode(value)
    except UnicodeEncodeError:
        return encode(_unicode(value))


def _unicode(value: Any) -> Any:
    if isinstance(value, dict):
        return {_unicode(key): _unicode(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_unicode(each) for each in value]
    return as_unicode(value) if isinstance(value, str) else value
