"""The schedule type of the family ``grid``: a start and nodes for each job, or null (docs/grid/model.md section 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hindsched.instances.errors import InputError
from hindsched.instances.grid.model import Instance, Ints
from hindsched.instances.text_files import expect_format, expect_keys, format_document

__all__ = [
    "SCHEDULE_FORMATS",
    "Events",
    "Schedule",
    "StoppedRun",
    "node_runs",
    "node_text",
    "read_schedule",
    "write_schedule",
]

#: The formats of a schedule's file; the second one has events.
SCHEDULE_FORMATS = ("grid-schedule/1", "grid-schedule/2")

_KEYS = ("format", "instance", "allocations")
_EVENT_KEYS = ("outages", "cancelled", "stopped")
_RUN = re.compile("([0-9]+)(?:-([0-9]+))?")
#: Largest number of digits that are read exactly; a longer number is larger than every node and is cut to 10^18.
_DIGITS = 18


class StoppedRun(NamedTuple):
    """A run of a job that stops before its end: it occupies ``nodes`` in the slots ``start`` to ``end`` - 1."""

    job: int
    start: int
    end: int
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Events:
    """Outages of nodes, cancelled jobs and stopped runs (docs/grid/model.md section 3.8).

    Parameters
    ----------
    outages
        Node, first slot, and the slot in which it returns; ascending.
    cancelled
        Job, and the slot from which on it does not run; ascending.
    stopped
        Runs that a node failure or a cancellation stopped, ascending.
    """

    outages: tuple[tuple[int, int, int], ...] = ()
    cancelled: tuple[tuple[int, int], ...] = ()
    stopped: tuple[StoppedRun, ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as the content of its file. `hindsched.instances.grid.check` decides whether it obeys the rules.

    Parameters
    ----------
    document
        The parsed JSON object of the file; do not modify it. The other methods need the right form.

    Examples
    --------
    >>> pair = Instance(nodes=3, slot_s=60, submit=[0, 0], width=[2, 3], length=[5, 1])
    >>> Schedule.of(pair, [4, None], [[0, 2], []]).document["allocations"]
    [[4, '0,2'], None]
    """

    family: ClassVar[str] = "grid"

    document: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        instance: Instance,
        starts: Sequence[int | None],
        nodes: Sequence[Iterable[int]],
        events: Events | None = None,
    ) -> Schedule:
        """Return the schedule with a start and nodes, in any order, for each job; None: the job failed.

        With events, the start and the nodes are those of the run that ends as planned.
        """
        allocations = [
            None if start is None else [int(start), node_text(held)] for start, held in zip(starts, nodes, strict=True)
        ]
        document = {"format": SCHEDULE_FORMATS[0], "instance": instance.fingerprint, "allocations": allocations}
        if events is not None:
            document |= {
                "format": SCHEDULE_FORMATS[1],
                "outages": [list(outage) for outage in events.outages],
                "cancelled": [list(entry) for entry in events.cancelled],
                "stopped": [[*run[:3], node_text(run.nodes)] for run in events.stopped],
            }
        return cls(document)

    @property
    def instance(self) -> object:
        """The value of the key ``instance``, which should be a fingerprint; None if the key is missing."""
        return self.document.get("instance")

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.document["allocations"])

    def starts(self) -> list[int | None]:
        """Return the start of each job, or None if it failed."""
        return [None if entry is None else entry[0] for entry in self.document["allocations"]]

    def nodes(self, job: int) -> list[int]:
        """Return the nodes of a job in the order of the text; empty if the job failed."""
        entry = self.document["allocations"][job]
        runs = [] if entry is None else node_runs(entry[1])
        return [node for first, last in runs for node in range(first, last + 1)]


def read_schedule(document: Mapping[str, Any]) -> Schedule:
    """Return the schedule of a parsed file. The checker examines the entries of the list of allocations.

    Raises
    ------
    InputError
        If ``format`` is not one of `SCHEDULE_FORMATS`, a key is missing or unknown, or there is no list.
    """
    expect_format(document, SCHEDULE_FORMATS)
    keys = _KEYS if document["format"] == SCHEDULE_FORMATS[0] else _KEYS + _EVENT_KEYS
    expect_keys(document, keys, "allocations")
    return Schedule(document)


def write_schedule(schedule: Schedule) -> str:
    """Return the text of a schedule's file, one job per line; `read_schedule` returns an equal schedule."""
    document = {key: schedule.document[key] for key in (*_KEYS, *_EVENT_KEYS) if key in schedule.document}
    return format_document(document, ["allocations", *_EVENT_KEYS])


def node_text(nodes: Iterable[int]) -> str:
    """Return the text of a set of nodes: ascending, with adjacent nodes as runs.

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
    """Return the runs (first, last) of a node text, in its order.

    Every comma-separated list of ``a`` or ``a-b`` with a <= b in ASCII digits is read. The checker examines the order.

    Raises
    ------
    InputError
        If the text is not such a list.

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
