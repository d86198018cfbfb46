"""The options of a run: what the paper leaves open, and by which of the two simulators.

Each closed set of names is an enumeration whose first member is the default, the reading of docs/bags/model.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from hindsched.instances.bags.model import Instance
from hindsched.instances.errors import InputError
from hindsched.online.bags.deadlines import day_tolerance_of
from hindsched.online.bags.predictors import Predictor, make_predictor
from hindsched.online.options import member

__all__ = ["ENGINES", "HANDOVERS", "MAX_COPIES", "Engine", "Handover", "RunOptions"]

#: Live copies that replication leaves a task, the first one included.
MAX_COPIES = 3


class Handover(StrEnum):
    """When a machine asks that a completion has freed inside a slot."""

    #: at once
    IMMEDIATE = "immediate"
    #: at the beginning of the next slot
    BOUNDARY = "boundary"


class Engine(StrEnum):
    """Which simulator runs a policy; the run is the same."""

    #: machine code where it can run the policy
    AUTO = "auto"
    #: the plain simulator, for every policy
    PLAIN = "plain"
    #: machine code, for the built-in schedulers
    KERNEL = "kernel"


HANDOVERS = tuple(Handover)
ENGINES = tuple(Engine)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a policy is run on an instance.

    Parameters
    ----------
    handover
        When freed machines ask; names are taken as well as members.
    max_copies
        Of the schedulers that replicate: only tasks with fewer live copies are.
    day_tolerance
        Of the schedulers with deadlines: a number, or None (or ``"formula"``) for the formula (see
        `hindsched.online.bags.deadlines.tolerance`). It is kept as a fraction.
    predictor
        Of the scheduler that predicts: a predictor or the name of one (see `hindsched.online.bags.make_predictor`).
    training
        Other states for a predictor to learn from.
    engine
        Which simulator.
    schedule
        Whether the schedule of the run is wanted; without it a run is quicker.
    own
        More keywords on offer to a policy class of one's own.

    Raises
    ------
    InputError
        In one line, naming the option.

    Examples
    --------
    >>> options = RunOptions().changed(handover="boundary", day_tolerance="0.2")
    >>> options.handover is Handover.BOUNDARY, options.day_tolerance
    (True, Fraction(1, 5))
    """

    handover: Handover = Handover.IMMEDIATE
    max_copies: int = MAX_COPIES
    day_tolerance: Fraction | None = None
    predictor: Predictor | None = None
    training: Instance | None = field(default=None, repr=False)
    engine: Engine = Engine.AUTO
    schedule: bool = True
    own: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "handover", member(Handover, self.handover, place="handover"))
        object.__setattr__(self, "engine", member(Engine, self.engine, place="engine"))
        object.__setattr__(self, "day_tolerance", day_tolerance_of(self.day_tolerance))
        object.__setattr__(self, "max_copies", _most(self.max_copies))
        if isinstance(self.predictor, str):
            object.__setattr__(self, "predictor", make_predictor(self.predictor, training=self.training))

    def changed(self, **changes: Any) -> RunOptions:
        """Return these options with some of them changed, by keyword.

        Raises
        ------
        InputError
            For a keyword that is no option, and as the class does.
        """
        known = [each.name for each in fields(self)]
        for name in changes:
            if name not in known:
                raise InputError(f"no such option, expected one of {', '.join(known)}", place=name)
        return replace(self, **changes)


def _most(number: object) -> int:
    """Return the option ``max_copies``, an integer or its text."""
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 10:
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InputError(f"{number!r}, expected an integer >= 1", place="max_copies")
    return number
