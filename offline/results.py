"""What an exact solver answers, the same type for every family of problems."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from instances.errors import InputError

__all__ = ["Objective", "Result", "Status"]


class Objective(StrEnum):
    """What is optimised (docs/model.md section 3)."""

    MAKESPAN = "makespan"
    ITERATIONS = "iterations"

    @classmethod
    def parse(cls, text: Objective | str) -> Objective:
        """Return the objective of this name; InputError for another."""
        try:
            return cls(text)
        except ValueError:
            known = " or ".join(cls)
            raise InputError(f"{text!r}, expected {known}", place="objective") from None


class Status(StrEnum):
    """How much is proven.

    ``OPTIMAL``: value and bound are equal. ``FEASIBLE``: a schedule, and a bound that does not meet it.
    ``INFEASIBLE``: proven that no schedule exists. ``UNKNOWN``: stopped with neither.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a solver. A missing number is None, never 0 or infinity.

    Parameters
    ----------
    status
        How much is proven.
    objective
        What was optimised.
    value
        The objective of ``schedule`` (slots, or iterations); None without a schedule.
    bound
        A proven bound on the optimum, valid in every status: below it for the makespan, above it for the
        iterations. None where nothing is proven, and for a makespan that is proven infinite.
    schedule
        The best schedule found, of the family's own type; None if none was found.
    solver
        Who answered.
    runtime_s
        Wall-clock seconds.
    counts
        What the solver counted (nodes, labels, branches, ...), for reports.

    Raises
    ------
    ValueError
        When the fields contradict each other, which is a defect of the solver.
    """

    status: Status
    objective: Objective
    value: int | None
    bound: int | None
    schedule: Any
    solver: str
    runtime_s: float
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        has_value = self.value is not None
        if has_value != (self.status in (Status.OPTIMAL, Status.FEASIBLE)):
            raise ValueError(f"status {self.status} with value {self.value}")
        if (self.schedule is None) == has_value:
            raise ValueError("a value and its schedule come together")
        if self.status is Status.OPTIMAL and self.value != self.bound:
            raise ValueError(f"optimal with value {self.value} and bound {self.bound}")
        if self.value is not None and self.bound is not None:
            slack = self.value - self.bound
            if (slack < 0) if self.objective is Objective.MAKESPAN else (slack > 0):
                raise ValueError(f"value {self.value} on the wrong side of bound {self.bound}")
            if self.status is Status.FEASIBLE and slack == 0:
                raise ValueError("feasible, though the bound meets the value: that is optimal")
