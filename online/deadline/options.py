"""Options of a run: the guard, the choices that the sources leave open, and the simulator.

Each closed set of names is an enumeration whose first member is the default, the reading of docs/deadline/model.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hindsched.online.options import Engine, change_options, member

__all__ = ["Bank", "RunGuard", "RunOptions"]


class RunGuard(StrEnum):
    """What protects the deadline while a policy runs."""

    #: ``step`` with one zone, ``latched`` with several
    AUTO = "auto"
    #: nothing
    NONE = "none"
    #: see `hindsched.instances.deadline.Guard`
    STEP = "step"
    STEP_OLD = "step_old"
    LATCHED = "latched"


class Bank(StrEnum):
    """What a time-sliced policy does after the target of a slice is reached."""

    #: wait for the next slice
    NO = "no"
    #: compute on spot
    YES = "yes"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a policy and of its run; enumerations accept names.

    Parameters
    ----------
    guard
        What protects the deadline.
    bank
        For the time-sliced policy: what it does after the target of a slice.
    engine
        The simulator.
    schedule
        Whether to record the schedule.
    own
        Keywords for a policy class of a user.

    Raises
    ------
    InputError
        Naming the option.

    Examples
    --------
    >>> RunOptions().changed(guard="none").guard
    <RunGuard.NONE: 'none'>
    """

    guard: RunGuard = RunGuard.AUTO
    bank: Bank = Bank.NO
    engine: Engine = Engine.AUTO
    schedule: bool = True
    own: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "guard", member(RunGuard, self.guard, place="guard"))
        object.__setattr__(self, "bank", member(Bank, self.bank, place="bank"))
        object.__setattr__(self, "engine", member(Engine, self.engine, place="engine"))

    def changed(self, **changes: Any) -> RunOptions:
        """Return these options with some of them changed (see `hindsched.online.options.change_options`)."""
        return change_options(self, changes)
