"""The schedule type: one letter per worker and slot, as in the paper's Figure 1, and the configurations over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from hindsched.instances.errors import InputError
from hindsched.instances.frozen_dict import FrozenDict

__all__ = ["COMPUTE", "DATA", "ENROLLED_IDLE", "NOT_ENROLLED", "PROGRAM", "Configuration", "Schedule"]

PROGRAM, DATA, COMPUTE, ENROLLED_IDLE, NOT_ENROLLED = "P", "D", "C", "I", "."
_LETTERS = frozenset((PROGRAM, DATA, COMPUTE, ENROLLED_IDLE, NOT_ENROLLED))
_LETTER_BYTES = "".join(_LETTERS).encode()


@dataclass(frozen=True, slots=True)
class Configuration:
    """The enrolled workers and their numbers of tasks, from a slot on until the next configuration.

    Parameters
    ----------
    slot
        The first slot of the configuration.
    tasks
        Number of tasks of each enrolled worker, by 0-based index; 0 means stand-by. Empty: no worker is enrolled.
    """

    slot: int
    tasks: Mapping[int, int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", FrozenDict(sorted(self.tasks.items())))


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as text (docs/model.md section 4). The checker decides whether it obeys the rules.

    Parameters
    ----------
    instance
        Fingerprint of the instance that the schedule is for.
    letters
        One string per worker, a letter per slot: ``P`` receives program, ``D`` receives data, ``C`` computes,
        ``I`` enrolled and idle, ``.`` not enrolled. For a finished run their length is the makespan.
    configurations
        In increasing order of slot.

    Raises
    ------
    InputError
        If the text does not have this form. A violated rule is not an error here.
    """

    family: ClassVar[str] = "coupled"

    instance: str
    letters: tuple[str, ...]
    configurations: tuple[Configuration, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "letters", tuple(self.letters))
        object.__setattr__(self, "configurations", tuple(self.configurations))
        for q, row in enumerate(self.letters):
            place = f"letters[{q}]"
            if len(row) != len(self.letters[0]):
                raise InputError(f"{len(row)} slots, expected {len(self.letters[0])} as for letters[0]", place=place)
            if row.encode("utf-8", "surrogatepass").translate(None, _LETTER_BYTES):  # ten times as fast as by letter
                slot, letter = next((slot, letter) for slot, letter in enumerate(row) if letter not in _LETTERS)
                raise InputError(f"letter {letter!r} in slot {slot}, expected one of P, D, C, I and .", place=place)
        last = -1
        for i, entry in enumerate(self.configurations):
            place = f"configurations[{i}]"
            if entry.slot <= last:
                raise InputError(
                    f"slot {entry.slot}, expected above {last}: entries in increasing order, from slot 0 on",
                    place=f"{place}.slot",
                )
            last = entry.slot
            for q, tasks in entry.tasks.items():
                if not 0 <= q < len(self.letters):
                    raise InputError(f"worker {q}, expected 0 to {len(self.letters) - 1}", place=f"{place}.tasks")
                if tasks < 0:
                    raise InputError(f"{tasks} tasks, expected 0 or more", place=f"{place}.tasks[{q}]")

    @property
    def slots(self) -> int:
        """Number of slots."""
        return len(self.letters[0]) if self.letters else 0
