"""The results of the solvers of this family, by objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hindsched.instances.coupled.objective import Objective
from hindsched.offline.limits import Limit
from hindsched.offline.results import Result, Sense, Status

__all__ = ["CoupledResult", "Objective"]


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
        sense = Sense.MIN if objective is Objective.MAKESPAN else Sense.MAX
        lower, upper = (bound, value) if sense is Sense.MIN else (value, bound)
        limit = None if status.is_proven else limit
        return cls(
            status,
            sense,
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
