"""Tables of times whose first line names their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds
from hindsched.instances.traces.delimited import Candidate, first_lines
from hindsched.instances.traces.times import plain_name, to_times

__all__ = ["TIME_NAMES", "ZONE_NAMES", "TimedRow", "timed_rows"]

#: Names of the columns of times and of zones, as `plain_name` writes them.
TIME_NAMES = ("time", "timestamp", "date", "datetime", "times")
ZONE_NAMES = ("zone", "availabilityzone", "availability_zone", "az", "node", "name")


class TimedRow(NamedTuple):
    """A row: the number of its line, its time in UNIX seconds, and its cells by kind of column."""

    line: int
    time: Seconds
    cells: dict[str, str]


def timed_rows(lines: Sequence[str], known: Mapping[str, Sequence[str]], nothing: str, what: str) -> list[TimedRow]:
    """Return the rows of a table with a column ``time``, in the order of the file.

    Parameters
    ----------
    lines
        The lines of the file.
    known
        For each kind of column its possible names, as `plain_name` writes them.
    nothing
        Message for a table without a row.
    what
        What a time is, for messages.

    Raises
    ------
    InputError
        If no line has exactly one column of each kind, there is no row, or a time is invalid. The message names the
        line.
    """
    head, columns = _named_columns(lines, known)
    rows = list(head.rows(lines))
    if not rows:
        raise InputError(nothing, place=f"line {head.number}")
    place = columns["time"]
    texts, numbers = [cells[place] for _, cells in rows], [number for number, _ in rows]
    times = to_times(texts, numbers, name=head.names[place], what=what).values
    return [
        TimedRow(number, time, {kind: cells[column] for kind, column in columns.items()})
        for (number, cells), time in zip(rows, times, strict=True)
    ]


def _named_columns(lines: Sequence[str], known: Mapping[str, Sequence[str]]) -> tuple[Candidate, dict[str, int]]:
    """Return the line that names the columns of a table, and the column of each kind."""
    for head in first_lines(lines):
        names = [plain_name(name) for name in head.names]
        found = {kind: [i for i, name in enumerate(names) if name in those] for kind, those in known.items()}
        if all(len(columns) == 1 for columns in found.values()):
            return head, {kind: columns[0] for kind, columns in found.items()}
    kinds = list(known)
    listed = f"{', '.join(kinds[:-1])} and {kinds[-1]}"
    wanted = "; ".join(f"{kind}: {', '.join(those[:3])}" for kind, those in known.items())
    raise InputError(f"no line names one column each of {listed} ({wanted})", place="line 1")
