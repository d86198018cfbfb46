"""What a checker says of a schedule, the same type for every family of problems."""

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
        Where the first broken rule is broken, in the family's unit (a slot, a second, an instant); None when the
        schedule is valid, and for a broken form that has no time.
    rule, reason
        The short name of the first rule that is broken, and how; both None when the schedule is valid.
    outcome
        What the replay found, of the family's own type: before the break, or of the whole schedule.
    unit
        What ``time`` counts, for messages.

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
        """Whether every rule holds everywhere."""
        return self.rule is None

    def __str__(self) -> str:
        if self.is_valid:
            return "valid" if self.outcome is None else f"valid, {self.outcome}"
        where = "" if self.time is None else f"{self.unit} {self.time}: "
        return f"{where}{self.rule} broken: {self.reason}"
