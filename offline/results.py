"""Results of exact solvers, of the same type for every family of problems."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from hindsched.instances.notebook import NotebookTable
from hindsched.offline.limits import Limit

__all__ = ["Number", "Result", "Sense", "Status", "Termination", "TerminationReason"]

Number = int | Fraction


class Sense(StrEnum):
    """Whether the least or the largest value is best."""

    MIN = "min"
    MAX = "max"


class Status(StrEnum):
    """How much is proven.

    ``OPTIMAL``: value and bound are equal. ``FEASIBLE``: a schedule, and a bound that does not meet its value.
    ``INFEASIBLE``: a proof that no schedule exists. ``UNKNOWN``: neither a schedule nor a proof. ``BOUNDS``: bounds
    that do not meet, with or without a schedule.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    BOUNDS = "bounds"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"

    @property
    def is_proven(self) -> bool:
        """Whether the optimum, or that no schedule exists, is proven."""
        return self in (Status.OPTIMAL, Status.INFEASIBLE)


class TerminationReason(StrEnum):
    """What a solver had found or proven when it stopped."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    FEASIBLE = "feasible"
    NO_SOLUTION_FOUND = "no-solution-found"


@dataclass(frozen=True, slots=True)
class Termination:
    """Why a solver stopped, after the ``Termination`` of OR-Tools MathOpt.

    Parameters
    ----------
    reason
        ``OPTIMAL`` and ``INFEASIBLE`` are proofs. ``FEASIBLE``: a schedule without a proof. ``NO_SOLUTION_FOUND``:
        neither a schedule nor a proof.
    limit
        The limit that stopped the solver; None after a proof, and where the limit is not known.
    """

    reason: TerminationReason
    limit: Limit | None


@dataclass(frozen=True, slots=True)
class Result(NotebookTable):
    """The result of a solver. A missing number is None, never 0 or infinity.

    Parameters
    ----------
    status
        How much is proven.
    sense
        Whether less or more is better.
    value
        The value of the best schedule found; None without one.
    lower, upper
        Proven bounds on the optimum; the bound on the side of the schedule is at best ``value``. None where nothing is
        proven, and where no schedule exists.
    schedule
        The best schedule found, of the family's own type; None if none was found.
    by
        The name of the solver, or of the method behind the bound.
    runtime_s
        Wall-clock seconds.
    counts
        Counts of nodes, labels, branches and the like, for reports.
    certificate
        A proof of the dual bound, of the family's own type; None where the solver gives none.
    limit
        The limit that stopped the solver before a proof; None after a proof, and where the limit is not known.

    Raises
    ------
    ValueError
        If the fields contradict each other: a defect of the solver.
    """

    status: Status
    sense: Sense
    value: Number | None
    lower: Number | None
    upper: Number | None
    schedule: Any
    by: str
    runtime_s: float
    counts: dict[str, int] = field(default_factory=dict)
    certificate: Any = None
    limit: Limit | None = None

    @property
    def termination(self) -> Termination:
        """Why the solver stopped."""
        if self.status.is_proven:
            return Termination(TerminationReason(self.status), None)
        has_value = self.value is not None
        reason = TerminationReason.FEASIBLE if has_value else TerminationReason.NO_SOLUTION_FOUND
        return Termination(reason, self.limit)

    @property
    def bound(self) -> Number | None:
        """The dual bound: the lower one when minimising, the upper one when maximising."""
        return self.lower if self.sense is Sense.MIN else self.upper

    @property
    def solver(self) -> str:
        """The same as ``by``."""
        return self.by

    def __post_init__(self) -> None:
        has_value = self.value is not None
        if self.status is not Status.BOUNDS and has_value != (self.status in (Status.OPTIMAL, Status.FEASIBLE)):
            raise ValueError(f"status {self.status} with value {self.value}")
        if self.status is not Status.BOUNDS and (self.schedule is None) == has_value:
            raise ValueError("a value and its schedule come together")
        if self.status.is_proven and self.limit is not None:
            raise ValueError(f"{self.status}, though stopped by limit {self.limit}")
        if self.status is Status.OPTIMAL and not self.value == self.lower == self.upper:
            raise ValueError(f"optimal with value {self.value} and bounds {self.lower} and {self.upper}")
        for low, high in ((self.lower, self.upper), (self.lower, self.value), (self.value, self.upper)):
            if low is not None and high is not None and low > high:
                raise ValueError(f"bounds {self.lower} and {self.upper} with value {self.value}")
        if self.status in (Status.FEASIBLE, Status.BOUNDS) and self.lower is not None and self.lower == self.upper:
            raise ValueError(f"{self.status}, though the bounds meet: that is optimal")
