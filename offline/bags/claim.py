"""Unchecked answers of the solvers of this family."""

from __future__ import annotations

from dataclasses import dataclass, field

from hindsched.instances.bags import Schedule
from hindsched.offline.limits import Limit

__all__ = ["Claim"]


@dataclass(frozen=True, slots=True)
class Claim:
    """Bounds on an optimum, and a schedule, before the checker has confirmed them.

    Parameters
    ----------
    lower
        Proven lower bound; None: no schedule completes all tasks within the known slots.
    schedule
        The best schedule found, if any.
    by
        The method behind the lower bound.
    counts
        Counts for reports.
    limit
        The limit that stopped the solver before a proof.
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
