"""Unchecked answers of solvers that minimise, and the results that they become."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

from hindsched.offline.limits import Limit
from hindsched.offline.results import Number, Result, Sense, Status

__all__ = ["BaseClaim"]


@dataclass(frozen=True, slots=True)
class BaseClaim:
    """Bounds on an optimum, and a schedule, before the checker has confirmed them.

    Parameters
    ----------
    lower
        Proven lower bound; None: no schedule exists.
    schedule
        The best schedule found, if any.
    by
        The method behind the lower bound.
    counts
        Counts for reports.
    limit
        The limit that stopped the solver before a proof.
    certificate
        A proof of a bound, where the solver has one.
    """

    lower: int | None
    schedule: Any
    by: str
    counts: dict[str, int] = field(default_factory=dict)
    limit: Limit | None = None
    certificate: Any = None

    @property
    @abstractmethod
    def upper(self) -> Number | None:
        """The value of the schedule."""

    def result(self, runtime_s: float) -> Result:
        """Return the result that the claim becomes once it is confirmed."""
        is_proven = self.lower is None or self.lower == self.upper
        proven = Status.INFEASIBLE if self.lower is None else Status.OPTIMAL
        return Result(
            status=proven if is_proven else Status.BOUNDS,
            sense=Sense.MIN,
            value=self.upper,
            lower=self.lower,
            upper=self.upper,
            schedule=self.schedule,
            by=self.by,
            runtime_s=runtime_s,
            counts=self.counts,
            certificate=self.certificate,
            limit=None if is_proven else self.limit,
        )
