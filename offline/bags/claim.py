"""What the solvers of this family hand over before the checker has seen it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hindsched.instances.bags import Schedule
from hindsched.offline.limits import Limit

__all__ = ["Claim"]


@dataclass(frozen=True, slots=True)
class Claim:
    """Bounds on an optimum, and a schedule.

    Parameters
    ----------
    lower
        Proven; None: proven that no play completes all tasks within the known slots.
    schedule
        The best one found; None for none.
    by
        What gave the lower bound.
    counts
        What was counted on the way.
    limit
        What stopped the solver, where it proved nothing.
    """

    lower: int | None
    schedule: Schedule | None
    by: str
    counts: dict[str, int] = field(default_factory=dict)
    limit: Limit | None = None

    @property
    def upper(self) -> int | None:
        """The turnaround of the schedule."""
        return None if self.schedule is None else self.schedule.turnaround
