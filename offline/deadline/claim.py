"""Unchecked answers of the solvers of this family."""

from __future__ import annotations

from dataclasses import dataclass

from hindsched.instances.deadline import Schedule
from hindsched.offline.claims import BaseClaim

__all__ = ["Claim"]


@dataclass(frozen=True, slots=True)
class Claim(BaseClaim):
    """Bounds on the least cost, and a `Schedule`; see `hindsched.offline.claims.BaseClaim`."""

    schedule: Schedule | None

    @property
    def upper(self) -> int | None:
        """The cost, in units of money, of the schedule."""
        return None if self.schedule is None else self.schedule.cost
