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
    ends
        The slot after each completed iteration, increasing: before the break, or in the whole schedule.
    wanted
        K, the iterations that the makespan asks for.
    """

    slot: int | None
    rule: str | None
    reason: str | None
    ends: tuple[int, ...]
    wanted: int

    @property
    def is_valid(self) -> bool:
        """Whether every rule holds in every slot."""
        return self.rule is None

    @property
    def iterations(self) -> int:
        """Iterations completed."""
        return len(self.ends)

    @property
    def makespan(self) -> int | None:
        """Slots until iteration K was complete; None if it never was."""
        return self.ends[self.wanted - 1] if len(self.ends) >= self.wanted else None

    def __str__(self) -> str:
        if not self.is_valid:
            return f"slot {self.slot}: {self.rule} broken: {self.reason}"
        done = f"{self.iterations} iteration{'' if self.iterations == 1 else 's'}"
        if self.makespan is None:
            return f"valid, {done} of {self.wanted}, unfinished"
        return f"valid, {done}, makespan {self.makespan}"
