"""Runs and certificates: who contacted the master when, and what it was sent (docs/batches/model.md section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any, ClassVar, NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from hindsched.instances.errors import InputError
from hindsched.instances.text_files import convert, encode, excerpt, quoted

__all__ = [
    "NOTHING",
    "RUN_FORMAT",
    "Contacts",
    "Malformed",
    "Row",
    "Run",
    "Rung",
    "read_run",
    "write_run",
]

#: The form of a run's file.
RUN_FORMAT = "batches-run/1"

#: What stands for a missing batch, task or end.
NOTHING = -(2**31)

#: The integers of a row are at least this and below its negative.
_LEAST = -(2**63)

#: ``(time, worker)`` or ``(time, worker, batch, task, end)``.
Row: TypeAlias = tuple[int, int] | tuple[int, int, int, int, int | None]


class Rung(StrEnum):
    """How much the hindsight player may choose (docs/batches/model.md section 5)."""

    FREE = "free"
    TRAFFIC = "traffic"
    STREAM = "stream"

    @classmethod
    def parse(cls, text: Rung | str) -> Rung:
        """Return the rung of this name; InputError for another."""
        try:
            return cls(text)
        except ValueError:
            raise InputError(f"{excerpt(str(text))}, expected {', '.join(cls)}", place="rung") from None


class Malformed(NamedTuple):
    """The first row of a text that has not the shape of a contact."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """Contacts as columns, each of shape (n,); ``NOTHING`` where a contact carries no task, or has no end.

    Parameters
    ----------
    time, worker
        Who called when.
    batch, task
        What it was sent.
    end
        When that copy ends, if it does before the run's end.
    """

    time: npt.NDArray[Any]
    worker: npt.NDArray[Any]
    batch: npt.NDArray[Any]
    task: npt.NDArray[Any]
    end: npt.NDArray[Any]

    def __post_init__(self) -> None:
        for name in ("time", "worker", "batch", "task", "end"):
            array = getattr(self, name).view()
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Contacts:
        """Return the contacts of rows; an end of None is ``NOTHING``, and so is what a short row lacks."""
        table = np.full((5, len(rows)), NOTHING, dtype=np.int64)
        for place, row in enumerate(rows):
            for column, number in enumerate(row):
                table[column, place] = NOTHING if number is None else number
        return cls(*table)

    def __len__(self) -> int:
        return len(self.time)

    @property
    def sends(self) -> npt.NDArray[np.bool_]:
        """Which contacts carry a task."""
        sends: npt.NDArray[np.bool_] = self.batch != NOTHING
        return sends

    def rows(self) -> Iterator[Row]:
        """Yield the rows of the file form."""
        columns = (getattr(self, name).tolist() for name in ("time", "worker", "batch", "task", "end"))
        for time, worker, batch, task, end in zip(*columns, strict=True):
            if batch == NOTHING:
                yield time, worker
            else:
                yield time, worker, batch, task, None if end == NOTHING else end


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run, or the certificate of a rung, as text; what it claims is for the checker to replay.

    Parameters
    ----------
    instance
        Fingerprint of the instance it was made for.
    contacts
        All contacts of a run, or those that a certificate uses, by time and worker.
    policy
        Whose run it is, if anybody's.
    rung
        Which rung it certifies, if any.
    periods
        Pairs of a time and the period set then.
    malformed
        The first row that is no contact, if there is one; ``contacts`` has the rows before it.
    """

    family: ClassVar[str] = "batches"

    instance: str
    contacts: Contacts
    policy: str | None = None
    rung: Rung | None = None
    periods: tuple[tuple[int, int], ...] = ()
    malformed: Malformed | None = field(default=None, repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and write_run(self) == write_run(other)

    def __hash__(self) -> int:
        return hash((self.instance, self.policy, self.rung, len(self.contacts)))


class _RunFile(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    instance: str
    contacts: list[Any]
    policy: str | None = None
    rung: str | None = None
    periods: list[tuple[int, int]] | None = None


def read_run(document: dict[str, Any]) -> Run:
    """Return the run of a parsed file of the form ``batches-run/1`` (docs/batches/model.md section 4).

    Rows that are no contacts are kept for the checker to name (rule F).

    Raises
    ------
    InputError
        Naming the place: an unknown or missing key, another form or rung, periods that are no pairs of integers.
    """
    file = convert(document, _RunFile)
    if file.format != RUN_FORMAT:
        raise InputError(f'{quoted(file.format)}, expected "{RUN_FORMAT}"', place="format")
    rung = None if file.rung is None else Rung.parse(file.rung)
    malformed = next((Malformed(i, reason) for i, row in enumerate(file.contacts) if (reason := _wrong(row))), None)
    known = file.contacts if malformed is None else list(islice(file.contacts, malformed.row))
    contacts = Contacts.of([_said(row) for row in known])
    return Run(file.instance, contacts, file.policy, rung, tuple(file.periods or ()), malformed)


def _said(row: Row) -> Row:
    """Return a row none of whose numbers means ``NOTHING``: one less is as wrong a batch, task or end."""
    if len(row) == 2 or NOTHING not in row[2:]:
        return row
    time, worker, batch, task, end = row
    return (
        time,
        worker,
        batch - (batch == NOTHING),
        task - (task == NOTHING),
        None if end is None else end - (end == NOTHING),
    )


def _wrong(row: object) -> str:
    """Say what is wrong with the shape of a row; empty if nothing."""
    if not isinstance(row, list) or len(row) not in (2, 5):
        return f"{quoted(row)}, expected [time, worker] or [time, worker, batch, task, end]"
    for number in row[:4]:
        if not _is_integer(number):
            return f"{quoted(number)}, expected an integer of 64 bits"
    if len(row) == 5 and row[4] is not None and not _is_integer(row[4]):
        return f"end {quoted(row[4])}, expected an integer of 64 bits or null"
    return ""


def _is_integer(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and _LEAST <= number < -_LEAST


def write_run(run: Run) -> str:
    """Return the text of a run's file: one contact a line.

    Raises
    ------
    InputError
        For a run that was read from a text with a row that is no contact.

    Examples
    --------
    >>> print(write_run(Run("sha256:0", Contacts.of([(0, 1), (3, 0, 0, 0, None)]), "A2", None, ((0, 7),))), end="")
    {"format":"batches-run/1","instance":"sha256:0","policy":"A2","rung":null,"periods":[[0,7]],"contacts":[
    [0,1],
    [3,0,0,0,null]
    ]}
    """
    if run.malformed is not None:
        raise InputError(run.malformed.reason, place=f"contacts[{run.malformed.row}]")
    head = {
        "format": RUN_FORMAT,
        "instance": run.instance,
        "policy": run.policy,
        "rung": None if run.rung is None else str(run.rung),
        "periods": run.periods,
    }
    rows = ",\n".join(map(encode, run.contacts.rows()))
    return encode(head)[:-1] + ',"contacts":[\n' + rows + ("\n]}\n" if rows else "]}\n")
