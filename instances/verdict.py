"""What a checker says of a schedule, the same type for every family of problems."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Verdict"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of replaying a schedule.

    Parameters
    ----------
    slot, rule, reason
        The first slot and rule that are broken, and how; all None when the schedule is valid.
    iterations
        Iterations completed before the break, or in the whole schedule.
    makespan
        Slots until the last asked-for iteration was complete; None if it never was.
    """

    slot: int | None
    rule: str | None
    reason: str | None
    iterations: int
    makespan: int | None

    @property
    def is_valid(self) -> bool:
        """Whether every rule holds in every slot."""
        return self.rule is None

    def __str__(self) -> str:
        if self.is_valid:
            done = "unfinished" if self.makespan is None else f"makespan {self.makespan}"
            return f"valid, {self.iterations} iterations, {done}"
        return f"slot {self.slot}: {self.rule} broken: {self.reason}"
