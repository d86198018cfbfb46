"""The built-in schedulers and their options (docs/grid/model.md section 3)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from hindsched.instances.errors import InputError

__all__ = [
    "BUILT_IN",
    "CHOICES",
    "AsapCounted",
    "AsapPinned",
    "BuiltIn",
    "Dgs",
    "Easy",
    "Fcfs",
    "Late",
    "Queue",
    "differing",
]

#: The names that each option in words accepts; the first is the default.
CHOICES = {
    "overlay": ("static", "cyclon"),
    "messaging": ("push", "pull", "poll"),
    "poll_phase": ("common", "own"),
    "explore": ("fail", "further"),
    "rule": ("length", "area", "width", "file"),
}
#: Ranges of the options that are numbers; a seed is any integer.
_RANGES = {
    "fwd": (1, 63),
    "degree": (1, 2**31 - 1),
    "every": (1, 2**62),
    "swap": (1, 2**31 - 1),
    "poll_slots": (1, 2**62),
    "patience": (0, 2**62),
    "latency": (0, 2**31 - 1),
    "retries": (0, 2**31 - 1),
    "mtbf": (0, 2**31 - 1),
    "mttr": (1, 2**31 - 1),
    "restarts": (0, 2**31 - 1),
    "cancel_percent": (0, 100),
    "cancel_slots": (1, 2**31 - 1),
}


def _check(options: object) -> None:
    for field in dataclasses.fields(options):  # type: ignore[arg-type]
        value = getattr(options, field.name)
        if field.name in CHOICES:
            if value not in CHOICES[field.name]:
                raise InputError(f"{value!r}, expected one of {', '.join(CHOICES[field.name])}", place=field.name)
        elif type(value) is not int:
            raise InputError(f"{value!r}, expected an integer", place=field.name)
        elif field.name in _RANGES:
            least, most = _RANGES[field.name]
            if not least <= value <= most:
                raise InputError(f"{value}, expected an integer from {least} to {most}", place=field.name)


@dataclass(frozen=True, slots=True)
class Dgs:
    """Decentralised as-soon-as-possible scheduling: a few searchers search their neighbourhoods.

    Parameters
    ----------
    fwd
        Number of searchers per job, 1 to 63.
    degree
        Number of neighbours of a node, at most all other nodes.
    overlay
        ``static``: neighbours never change. ``cyclon``: they are shuffled.
    every, swap
        Slots between two rounds of Cyclon, and entries per message.
    messaging
        With ``push`` and ``pull`` schedules are known exactly, with ``poll`` as of the last poll.
    poll_slots, poll_phase
        Slots between two polls of a node; all nodes poll in ``common`` slots, or each in its ``own``.
    explore
        If two hops reach fewer nodes than the job is wide, a searcher fails (``fail``) or queries ``further`` nodes.
    latency
        Slots until searches know an allocation. 0: at once; 1: searches of one slot do not see each other.
    retries
        Number of times that a job whose offers are all refused is searched again.
    mtbf, mttr
        Mean slots until a node fails, and until it returns. ``mtbf`` 0: nodes never fail.
    restarts
        Number of times that a job is submitted again after a node failure has stopped it.
    cancel_percent, cancel_slots
        Share of the jobs that are cancelled unless they have ended, and the mean time after which they are.
    seed
        Names the random streams.
    """

    name: ClassVar[str] = "dgs"

    fwd: int = 5
    degree: int = 20
    overlay: str = "static"
    every: int = 10
    swap: int = 8
    messaging: str = "push"
    poll_slots: int = 2
    poll_phase: str = "common"
    explore: str = "fail"
    latency: int = 0
    retries: int = 0
    mtbf: int = 0
    mttr: int = 60
    restarts: int = 3
    cancel_percent: int = 0
    cancel_slots: int = 60
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self)

    @property
    def has_events(self) -> bool:
        """Whether a job may search in other slots than that of its submission, or stop before its end."""
        return self.mtbf > 0 or self.cancel_percent > 0 or self.retries > 0


@dataclass(frozen=True, slots=True)
class AsapPinned:
    """Each job at its earliest start on nodes that are free for it, chosen at submission from all nodes."""

    name: ClassVar[str] = "asap_pinned"


@dataclass(frozen=True, slots=True)
class AsapCounted:
    """Conservative backfilling: each job at its earliest start by the count of free nodes, promised at submission."""

    name: ClassVar[str] = "asap_counted"


@dataclass(frozen=True, slots=True)
class Queue:
    """A waiting list without reservations: when a job ends or arrives, jobs that fit start, in order of a rule.

    Parameters
    ----------
    rule
        ``length``, ``area`` or ``width``, smallest first, or ``file``: the order of submission.
    """

    name: ClassVar[str] = "queue"

    rule: str = "length"

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class Fcfs:
    """First come, first served: no job starts before an earlier one."""

    name: ClassVar[str] = "fcfs"


@dataclass(frozen=True, slots=True)
class Easy:
    """EASY backfilling with exact lengths: a job may overtake if it does not delay the first of the queue."""

    name: ClassVar[str] = "easy"


@dataclass(frozen=True, slots=True)
class Late:
    """dgs with overtaking: jobs wait at their searchers and get a promised start after a time.

    The overlay is static, and schedules are known exactly.

    Parameters
    ----------
    fwd, degree, explore, seed
        As for `Dgs`.
    patience
        Slots that a job waits before it gets the promise that dgs would make. 0: dgs itself.
    rule
        The order in which a searcher considers its waiting jobs, as for `Queue`.
    """

    name: ClassVar[str] = "late"

    fwd: int = 5
    degree: int = 20
    explore: str = "fail"
    patience: int = 60
    rule: str = "length"
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self)


BuiltIn: TypeAlias = Dgs | AsapPinned | AsapCounted | Queue | Fcfs | Easy | Late

#: The built-in schedulers by name.
BUILT_IN: dict[str, type[BuiltIn]] = {
    "dgs": Dgs,
    "asap_pinned": AsapPinned,
    "asap_counted": AsapCounted,
    "queue": Queue,
    "fcfs": Fcfs,
    "easy": Easy,
    "late": Late,
}


def differing(policy: BuiltIn) -> dict[str, Any]:
    """Return the options that are not at their defaults.

    Examples
    --------
    >>> differing(Dgs(fwd=3, overlay="cyclon"))
    {'fwd': 3, 'overlay': 'cyclon'}
    """
    return {
        field.name: getattr(policy, field.name)
        for field in dataclasses.fields(policy)
        if getattr(policy, field.name) != field.default
    }
