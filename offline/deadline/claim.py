"""Unchecked answers of the solvers of this family."""

from __future__ import annotations

from dataclasses import dataclass, field

from hindsched.instances.deadline import BoundCertificate, Schedule
from hindsched.offline.limits import Limit

__all__ = ["Claim"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A bound on the least cost, and a schedule, before the checker has confirmed them.

    Parameters
    ----------
    lower
        Proven lower bound in units of money; None: no schedule of the rung is complete by the deadline.
    schedule
        The cheapest schedule found, if any.
    by
        The method behind the lower bound.
    counts
        Counts for reports.
    limit
        The limit that stopped the solver before a proof.
    certificate
        A certificate of a bound, where the solver has one.
    """

    lower: int | None
    schedule: Schedule | None
    by: str
    counts: dict[str, int] = field(default_factory=dict)
    limit: Limit | None = None
    certificate: BoundCertificate | None = None

    @property
    def upper(self) -> int | None:
        """The cost of the schedule."""
        return None if self.schedule is None else self.schedule.cost
