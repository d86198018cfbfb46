"""The schedule type of the family ``batches``: runs and certificates as lists of contacts of workers with the master.

Section 4 of docs/batches/model.md describes the file format ``batches-run/1``.
"""

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
from hindsched.instances.text_files import convert, excerpt, format_document, quoted

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

#: The format of a run's file.
RUN_FORMAT = "batches-run/1"

#: The number that marks a missing batch, task or end.
NOTHING = -(2**31)

#: Least integer in a row; integers are below its negative.
_LEAST = -(2**63)

#: ``(time, worker)`` or ``(time, worker, batch, task, end)``.
Row: TypeAlias = tuple[int, int] | tuple[int, int, int, int, int | None]


class Rung(StrEnum):
    """Freedom of the hindsight player: a problem of docs/batches/model.md section 5."""

    FREE = "free"
    TRAFFIC = "traffic"
    STREAM = "stream"

    @classmethod
    def parse(cls, text: Rung | str) -> Rung:
        """Return the rung with this name; raise `InputError` if there is none."""
        try:
            return cls(text)
        except ValueError:
            raise InputError(f"{excerpt(str(text))}, expected {', '.join(cls)}", place="rung") from None


class Malformed(NamedTuple):
    """The first row of a file that does not have the form of a contact, and the reason."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """Contacts as columns, each of shape (n,).

    Parameters
    ----------
    time, worker
        Second of the contact, and the worker.
    batch, task
        The task that the worker is sent; ``NOTHING`` if it is sent none.
    end
        The second in which this copy ends; ``NOTHING`` if it does not end by the end of the run.
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
        """Return the contacts of rows; None and the missing columns of a short row become ``NOTHING``."""
        table = np.full((5, len(rows)), NOTHING, dtype=np.int64)
        for place, row in enumerate(rows):
            for column, number in enumerate(row):
                table[column, place] = NOTHING if number is None else number
        return cls(*table)

    def __len__(self) -> int:
        return len(self.time)

    @property
    def sends(self) -> npt.NDArray[np.bool_]:
        """Whether each contact carries a task."""
        sends: npt.NDArray[np.bool_] = self.batch != NOTHING
        return sends

    def rows(self) -> Iterator[Row]:
        """Yield the rows as in a file."""
        columns = (getattr(self, name).tolist() for name in ("time", "worker", "batch", "task", "end"))
        for time, worker, batch, task, end in zip(*columns, strict=True):
            if batch == NOTHING:
                yield time, worker
            else:
                yield time, worker, batch, task, None if end == NOTHING else end


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run, or the certificate of a rung, as text. The checker decides whether it obeys the rules.

    Parameters
    ----------
    instance
        Fingerprint of the instance that the run is for.
    contacts
        All contacts of a run, or those that a certificate uses, by time and worker.
    policy
        Name of the policy, if a policy made the run.
    rung
        The rung that the certificate is for; None: a run.
    periods
        Pairs of a time and the period that the policy sets then.
    malformed
        The first row that is not a contact, if there is one. ``contacts`` has the rows before it.
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
    """Return the run of a parsed file with format ``batches-run/1``.

    A row that is not a contact is not an error here. It becomes `Run.malformed`, for which the checker reports rule F.

    Raises
    ------
    InputError
        If a key, the format or the rung is unknown, a key is missing, or periods are not pairs of integers. The message
        names the place.
    """
    file = convert(document, _RunFile)
    if file.format != RUN_FORMAT:
        raise InputError(f'{quoted(file.format)}, expected "{RUN_FORMAT}"', place="format")
    rung = None if file.rung is None else Rung.parse(file.rung)
    defects = ((i, _row_defect(row)) for i, row in enumerate(file.contacts))
    malformed = next((Malformed(i, reason) for i, reason in defects if reason), None)
    known = file.contacts if malformed is None else list(islice(file.contacts, malformed.row))
    contacts = Contacts.of([_without_sentinel(row) for row in known])
    return Run(file.instance, contacts, file.policy, rung, tuple(file.periods or ()), malformed)


def _without_sentinel(row: Row) -> Row:
    """Return a row in which the number ``NOTHING`` is decremented: both numbers are invalid, but only one is a mark."""
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


def _row_defect(row: object) -> str:
    """Return why a row does not have the form of a contact; empty if it does."""
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
    """Return the text of a run's file, one contact per line; `read_run` returns an equal run.

    Raises
    ------
    InputError
        If the run was read from a file with a row that is not a contact.

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
    document = {
        "format": RUN_FORMAT,
        "instance": run.instance,
        "policy": run.policy,
        "rung": None if run.rung is None else str(run.rung),
        "periods": run.periods,
        "contacts": run.contacts.rows(),
    }
    return format_document(document, ["contacts"])
