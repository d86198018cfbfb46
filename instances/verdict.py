"""The verdict of a checker on a schedule, the same type for every family."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hindsched.instances.notebook import NotebookTable

__all__ = ["Verdict"]


@dataclass(frozen=True, slots=True)
class Verdict(NotebookTable):
    """The outcome of replaying a schedule.

    Parameters
    ----------
    time
        When the first rule is broken, in the unit of the family (slot, second, instant). None if the schedule is valid,
        or if a form is broken that has no time.
    rule, reason
        Short name of the first broken rule, and how it is broken. Both are None if the schedule is valid.
    outcome
        Result of the replay, of the family's own type: up to the violation, or for the whole schedule.
    unit
        Unit of ``time``, for messages.

    Examples
    --------
    >>> print(Verdict(7, "R3", "worker 0 receives nothing", None))
    slot 7: R3 broken: worker 0 receives nothing
    """

    time: int | Fraction | None
    rule: str | None
    reason: str | None
    outcome: Any = None
    unit: str = "slot"

    @property
    def is_valid(self) -> bool:
        """Whether the schedule obeys every rule."""
        return self.rule is None

    def __str__(self) -> str:
        if self.is_valid:
            return "valid" if self.outcome is None else f"valid, {self.outcome}"
        where = "" if self.time is None else f"{self.unit} {self.time}: "
        return f"{where}{self.rule} broken: {self.reason}"
