"""The options of a run: what the paper leaves open, how long, and by which of the two simulators.

Each closed set of names is an enumeration whose first member is the default, the reading of docs/model.md.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from hindsched.instances.errors import InputError
from hindsched.online.choices import member

__all__ = ["Comparison", "Engine", "Estimator", "RunOptions", "Service", "Ties", "member"]


class Estimator(StrEnum):
    """How the expected duration of W slots of computation is estimated (docs/model.md section 5)."""

    #: the formula as the paper prints it
    PRINTED = "printed"
    #: the expectation given success, which the formula was meant to be
    CONDITIONAL = "conditional"
    #: the printed formula with E_c = A / (1 + E_u), as if a division had been forgotten: a hypothesis about the paper's
    #: own simulator, and no estimate of anything
    UNDIVIDED = "undivided"


class Service(StrEnum):
    """In which order the master serves workers when channels are short (docs/model.md section 2)."""

    #: in worker order
    INDEX = "index"
    #: largest remaining need first, ties in worker order
    LONGEST = "longest"
    #: those first that have received a part of what they are being sent, the program or their data, so that a transfer
    #: goes on where it can; ties in worker order
    BEGUN = "begun"


class Ties(StrEnum):
    """Which of the workers that serve a criterion equally well gets a task."""

    #: the one of lowest index
    LOWEST = "lowest"
    #: the one of highest index
    HIGHEST = "highest"


class Comparison(StrEnum):
    """What a proactive heuristic compares in every slot: the configuration held with the candidate.

    Passive choices, at the start of an iteration and after a failure, are the same under all of them (docs/model.md
    section 6).
    """

    #: both as they stand: the one held with W less the computation done, both with what enrolled workers have received
    UPDATED = "updated"
    #: ``held-frozen`` and ``candidate-fresh`` together: every value is that of a start from nothing, also that of a
    #: configuration which was chosen passively, by what workers have received
    FROZEN = "frozen"
    #: the one held keeps the value of the criterion it had when it was chosen
    HELD_FROZEN = "held-frozen"
    #: the candidate is built and measured as if no worker had received anything
    CANDIDATE_FRESH = "candidate-fresh"

    @property
    def keeps_value(self) -> bool:
        """Whether the configuration held keeps the value it had when it was chosen."""
        return self in (Comparison.FROZEN, Comparison.HELD_FROZEN)

    @property
    def is_fresh(self) -> bool:
        """Whether the candidate is built and measured as if no worker had received anything."""
        return self in (Comparison.FROZEN, Comparison.CANDIDATE_FRESH)


class Engine(StrEnum):
    """Which simulator runs a policy; the run is the same."""

    #: machine code where it can run the policy and is worth loading
    AUTO = "auto"
    #: the plain simulator, for every policy
    PLAIN = "plain"
    #: machine code, for the built-in heuristics
    KERNEL = "kernel"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a policy is run on an instance.

    Parameters
    ----------
    estimator, ties, comparison
        Of the built-in heuristics; names are taken as well as members.
    service
        Of the master.
    seed
        Of policies that draw random numbers.
    slots
        Stop after so many slots, at most the slots of the instance; None: all of them.
    schedule_slots
        The schedule of the run is that of its first ``schedule_slots`` slots; None: of all. With 0 it has no slot, and
        a long run costs no memory for letters.
    engine
        Which simulator.

    Raises
    ------
    InputError
        In one line, naming the option: for a name that is none of the set, and a number that is none of slots.

    Examples
    --------
    >>> options = RunOptions().changed(estimator="conditional", seed=3)
    >>> options.estimator is Estimator.CONDITIONAL, options.ties is Ties.LOWEST
    (True, True)
    >>> RunOptions().changed(ties="first")
    Traceback (most recent call last):
    hindsched.instances.errors.InputError: ties: 'first', expected one of lowest, highest
    """

    estimator: Estimator = Estimator.PRINTED
    service: Service = Service.INDEX
    ties: Ties = Ties.LOWEST
    comparison: Comparison = Comparison.UPDATED
    seed: int = 0
    slots: int | None = None
    schedule_slots: int | None = None
    engine: Engine = Engine.AUTO

    def __post_init__(self) -> None:
        for name, names in _NAMES.items():
            object.__setattr__(self, name, member(names, getattr(self, name), place=name))
        if self.schedule_slots is not None and self.schedule_slots < 0:
            raise InputError(f"{self.schedule_slots}, expected an integer >= 0", place="schedule_slots")

    def changed(self, **changes: Any) -> RunOptions:
        """Return these options with some of them changed, by keyword.

        Raises
        ------
        InputError
            For a keyword that is no option, and as the class does.
        """
        known = [field.name for field in fields(self)]
        for name in changes:
            if name not in known:
                raise InputError(f"no such option, expected one of {', '.join(known)}", place=name)
        return replace(self, **changes)


_NAMES: dict[str, type[StrEnum]] = {
    "estimator": Estimator,
    "service": Service,
    "ties": Ties,
    "comparison": Comparison,
    "engine": Engine,
}
