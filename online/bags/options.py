"""Options of a run: the choices that the paper leaves open, and the simulator.

Each closed set of names is an enumeration whose first member is the default, the reading of docs/bags/model.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from hindsched.instances.bags.model import Instance
from hindsched.instances.errors import InputError
from hindsched.online.bags.deadlines import day_tolerance_of
from hindsched.online.bags.predictors import Predictor, make_predictor
from hindsched.online.options import Engine, change_options, member

__all__ = ["ABSENCES", "HANDOVERS", "MAX_COPIES", "Absence", "Handover", "RunOptions"]

#: Number of live copies of a task up to which replication adds one, the first copy included.
MAX_COPIES = 3


class Handover(StrEnum):
    """When a machine that a completion frees inside a slot gets its next task."""

    #: at once
    IMMEDIATE = "immediate"
    #: at the beginning of the next slot
    BOUNDARY = "boundary"


class Absence(StrEnum):
    """Whether the master notices that a machine with a copy is DOWN, and removes the copy."""

    #: at once with shared stores, never with private ones
    BY_STORE = "store"
    #: at once; a private disk keeps its states, so another machine starts the task from its own
    NOTICED = "noticed"
    #: never: the copy runs on, from the store's state, when its machine is UP again
    UNNOTICED = "unnoticed"


#: The names of `Handover` and of `Absence`; the first is the default.
HANDOVERS = tuple(Handover)
ABSENCES = tuple(Absence)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a policy and of its run; enumerations accept names.

    Parameters
    ----------
    handover
        When freed machines get their next task.
    absence
        Whether the master notices that a machine with a copy is DOWN.
    max_copies
        For schedulers that replicate: only tasks with fewer live copies are replicated.
    day_tolerance
        For schedulers with deadlines: a number, or None (or ``"formula"``) for the formula (see
        `hindsched.online.bags.deadlines.tolerance`). It is stored as a fraction.
    predictor
        For the scheduler that predicts: a predictor or its name (see `hindsched.online.bags.make_predictor`).
    training
        Other states to train a predictor on.
    engine
        The simulator.
    schedule
        Whether to record the schedule; a run without it is faster.
    own
        More keywords for a policy class of a user.

    Raises
    ------
    InputError
        Naming the option.

    Examples
    --------
    >>> options = RunOptions().changed(handover="boundary", day_tolerance="0.2")
    >>> options.handover is Handover.BOUNDARY, options.day_tolerance
    (True, Fraction(1, 5))
    """

    handover: Handover = Handover.IMMEDIATE
    absence: Absence = Absence.BY_STORE
    max_copies: int = MAX_COPIES
    day_tolerance: Fraction | None = None
    predictor: Predictor | None = None
    training: Instance | None = field(default=None, repr=False)
    engine: Engine = Engine.AUTO
    schedule: bool = True
    own: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "handover", member(Handover, self.handover, place="handover"))
        object.__setattr__(self, "absence", member(Absence, self.absence, place="absence"))
        object.__setattr__(self, "engine", member(Engine, self.engine, place="engine"))
        object.__setattr__(self, "day_tolerance", day_tolerance_of(self.day_tolerance))
        object.__setattr__(self, "max_copies", _most(self.max_copies))
        if isinstance(self.predictor, str):
            object.__setattr__(self, "predictor", make_predictor(self.predictor, training=self.training))

    def changed(self, **changes: Any) -> RunOptions:
        """Return these options with some of them changed (see `hindsched.online.options.change_options`)."""
        return change_options(self, changes)


def _most(number: object) -> int:
    """Return the option ``max_copies``, an integer or its text."""
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 10:
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InputError(f"{number!r}, expected an integer >= 1", place="max_copies")
    return number
