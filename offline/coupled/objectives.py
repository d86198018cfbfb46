"""The objectives of this family and the results of its solvers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hindsched.instances.errors import InputError
from hindsched.offline.limits import Limit
from hindsched.offline.results import Result, Sense, Status

__all__ = ["CoupledResult", "Objective"]


class Objective(StrEnum):
    """The objective (docs/model.md section 3)."""

    MAKESPAN = "makespan"
    ITERATIONS = "iterations"

    @property
    def sense(self) -> Sense:
        """Fewest slots, or most iterations."""
        return Sense.MIN if self is Objective.MAKESPAN else Sense.MAX

    @classmethod
    def parse(cls, text: Objective | str) -> Objective:
        """Return the objective of this name; raise `InputError` for an unknown name."""
        try:
            return cls(text)
        except ValueError:
            known = " or ".join(cls)
            raise InputError(f"{text!r}, expected {known}", place="objective") from None


@dataclass(frozen=True, slots=True)
class CoupledResult(Result):
    """A result with its objective.

    Parameters
    ----------
    objective
        The objective that was optimised.
    """

    objective: Objective = Objective.MAKESPAN

    @classmethod
    def of(
        cls,
        status: Status,
        objective: Objective,
        value: int | None,
        bound: int | None,
        schedule: Any,
        by: str,
        runtime_s: float,
        counts: Mapping[str, int] | None = None,
        certificate: Any = None,
        limit: Limit | None = None,
    ) -> CoupledResult:
        """Return a result by its value and the bound that no schedule passes; a proof makes the limit None."""
        lower, upper = (bound, value) if objective.sense is Sense.MIN else (value, bound)
        limit = None if status.is_proven else limit
        return cls(
            status,
            objective.sense,
            value,
            lower,
            upper,
            schedule,
            by,
            runtime_s,
            dict(counts or {}),
            certificate,
            limit,
            objective,
        )
