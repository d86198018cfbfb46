"""Schedules as text: for each job a start and its nodes, or nothing (docs/grid/model.md section 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hindsched.instances.errors import InputError
from hindsched.instances.grid.model import Instance, Ints
from hindsched.instances.text_files import encode, expect_format

__all__ = ["SCHEDULE_FORMATS", "Schedule", "node_runs", "node_text", "read_schedule", "write_schedule"]

#: What the key ``format`` of a schedule may say.
SCHEDULE_FORMATS = ("grid-schedule/1",)

_RUN = re.compile("([0-9]+)(?:-([0-9]+))?")
#: More digits than any node of any instance has; a longer number is read as this many nines.
_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as its file says it; what it claims is for `hindsched.instances.grid.check` to judge.

    Parameters
    ----------
    document
        The JSON object of the file, decoded. It is not to be changed.

    Examples
    --------
    >>> pair = Instance(nodes=3, slot_s=60, submit=[0, 0], width=[2, 3], length=[5, 1])
    >>> Schedule.of(pair, [4, None], [[0, 2], []]).document["allocations"]
    [[4, '0,2'], None]
    """

    family: ClassVar[str] = "grid"

    document: Mapping[str, Any]

    @classmethod
    def of(cls, instance: Instance, starts: Sequence[int | None], nodes: Sequence[Iterable[int]]) -> Schedule:
        """Return the schedule that gives each job a start (None: it failed) and its nodes, in any order."""
        allocations = [
            None if start is None else [int(start), node_text(held)] for start, held in zip(starts, nodes, strict=True)
        ]
        return cls({"format": SCHEDULE_FORMATS[0], "instance": instance.fingerprint, "allocations": allocations})

    @property
    def instance(self) -> object:
        """The fingerprint of the instance it was made for; whatever stands there, None if nothing does."""
        return self.document.get("instance")

    def __len__(self) -> int:
        """How many jobs it has entries for."""
        return len(self.document["allocations"])

    def starts(self) -> list[int | None]:
        """Return the start of each job, None where it failed; of a schedule of the right form."""
        return [None if entry is None else entry[0] for entry in self.document["allocations"]]

    def nodes(self, job: int) -> list[int]:
        """Return the nodes of a job in the order of the text; none where it failed. Of the right form only."""
        entry = self.document["allocations"][job]
        runs = [] if entry is None else node_runs(entry[1])
        return [node for first, last in runs for node in range(first, last + 1)]


def read_schedule(document: Mapping[str, Any]) -> Schedule:
    """Return the schedule that a decoded file holds, of the right form or not: that is for the checker to say.

    Raises
    ------
    InputError
        Where ``format`` names no schedule of this family.
    """
    expect_format(document, SCHEDULE_FORMATS)
    return Schedule(document)


def write_schedule(schedule: Schedule) -> str:
    """Return the text of a schedule's file, one job a line."""
    document = schedule.document
    head = f'{{"format":{encode(document["format"])},"instance":{encode(document["instance"])},"allocations":['
    lines = ",\n".join(encode(entry) for entry in document["allocations"])
    return f"{head}\n{lines}\n]}}\n" if lines else f"{head}]}}\n"


def node_text(nodes: Iterable[int]) -> str:
    """Return the text of a set of nodes: ascending, neighbours as runs.

    Examples
    --------
    >>> node_text([7, 2, 0, 1, 3])
    '0-3,7'
    """
    held: Ints = np.sort(np.fromiter(nodes, dtype=np.int64))
    if not held.size:
        return ""
    ends = np.flatnonzero(np.diff(held) != 1)
    firsts = held[np.concatenate(([0], ends + 1))].tolist()
    lasts = held[np.concatenate((ends, [held.size - 1]))].tolist()
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in zip(firsts, lasts, strict=True))


def node_runs(text: str) -> list[tuple[int, int]]:
    """Return the runs (first, last) that a node text lists, in its order.

    Any comma list of ``a`` or ``a-b`` with a <= b in ASCII digits is read; that it ascends is another rule.

    Raises
    ------
    InputError
        For any other text.

    Examples
    --------
    >>> node_runs("0-3,7")
    [(0, 3), (7, 7)]
    """
    runs = []
    for item in text.split(","):
        match = _RUN.fullmatch(item)
        if match is None:
            raise InputError(f"{item!r} in the node text, expected a node or a run a-b")
        first = match[1].lstrip("0") or "0"
        last = first if match[2] is None else match[2].lstrip("0") or "0"
        if (len(first), first) > (len(last), last):
            raise InputError(f"run {item!r} in the node text, expected a <= b in a-b")
        runs.append((_clipped(first), _clipped(last)))
    return runs


def _clipped(digits: str) -> int:
    return int(digits) if len(digits) <= _DIGITS else 10**_DIGITS
