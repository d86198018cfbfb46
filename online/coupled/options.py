"""Options of a run: the choices that the paper leaves open, the number of slots, and the simulator.

Each closed set of names is an enumeration whose first member is the default, the reading of docs/model.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hindsched.instances.coupled.objective import Objective
from hindsched.instances.errors import InputError
from hindsched.online.options import Engine, change_options, member

__all__ = ["Comparison", "Estimator", "RunOptions", "Service", "Ties"]


class Estimator(StrEnum):
    """The estimate of the expected duration of W slots of computation (docs/model.md section 5)."""

    #: the formula as the paper prints it
    PRINTED = "printed"
    #: the expectation given success, which the paper's formula intends
    CONDITIONAL = "conditional"
    #: the printed formula with E_c = A / (1 + E_u), a missing division: a hypothesis about the paper's simulator,
    #: not an estimate
    UNDIVIDED = "undivided"


class Service(StrEnum):
    """The order in which the master serves workers if there are too few channels (docs/model.md section 2)."""

    #: worker order
    INDEX = "index"
    #: largest remaining need first, ties in worker order
    LONGEST = "longest"
    #: workers first whose current transfer, of the program or of data, has begun; ties in worker order
    BEGUN = "begun"


class Ties(StrEnum):
    """The worker that gets a task if several workers are equally good by the criterion."""

    #: the one of lowest index
    LOWEST = "lowest"
    #: the one of highest index
    HIGHEST = "highest"


class Comparison(StrEnum):
    """How a proactive heuristic compares the configuration held with the candidate, in every slot.

    Passive choices, at the start of an iteration and after a failure, are the same under all of them (docs/model.md
    section 6).
    """

    #: both in their current state: the one held with the remaining computation, both with the data received so far
    UPDATED = "updated"
    #: ``held-frozen`` and ``candidate-fresh`` together: every value is that of a start from nothing, also the value
    #: of a configuration that was chosen passively, by what workers had received
    FROZEN = "frozen"
    #: the one held keeps the value of the criterion that it had when it was chosen
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


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a policy and of its run; enumerations accept names.

    Parameters
    ----------
    estimator, ties, comparison
        Options of the built-in heuristics.
    service
        The order in which the master serves workers.
    objective
        ``makespan``: a run ends after K iterations. ``iterations``: it ends after the last slot, and policies see the
        number of slots as K.
    seed
        Seed of policies that draw random numbers.
    slots
        Number of slots to simulate, at most the slots of the instance; None: all of them.
    schedule_slots
        Number of slots of which the schedule is recorded; None: all. With 0 a long run uses no memory for letters.
    engine
        The simulator.
    isolated
        Whether a user's policy runs in a process of its own, which does not hold the future.
    policy_time_limit_s
        Seconds of a run after which an isolated policy is stopped; None: no limit.

    Raises
    ------
    InputError
        Naming the option, for an unknown name or an invalid number of slots.

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
    objective: Objective = Objective.MAKESPAN
    seed: int = 0
    slots: int | None = None
    schedule_slots: int | None = None
    engine: Engine = Engine.AUTO
    isolated: bool = False
    policy_time_limit_s: float | None = None

    def __post_init__(self) -> None:
        for name, names in _NAMES.items():
            object.__setattr__(self, name, member(names, getattr(self, name), place=name))
        if self.schedule_slots is not None and self.schedule_slots < 0:
            raise InputError(f"{self.schedule_slots}, expected an integer >= 0", place="schedule_slots")

    def changed(self, **changes: Any) -> RunOptions:
        """Return these options with some of them changed (see `hindsched.online.options.change_options`)."""
        return change_options(self, changes)


_NAMES: dict[str, type[StrEnum]] = {
    "estimator": Estimator,
    "service": Service,
    "ties": Ties,
    "comparison": Comparison,
    "objective": Objective,
    "engine": Engine,
}
