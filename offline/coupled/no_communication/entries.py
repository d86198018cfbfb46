"""The back ends as solvers of whole instances, in the signature that `offline.solve` asks for.

Nobody receives a program without communication, so ``stand_by`` makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable

from instances.coupled.model import Instance
from offline.coupled.no_communication import questions
from offline.coupled.objectives import Objective
from offline.limits import Limits
from offline.results import Result

__all__ = ["core", "windows"]


def _entry(solver: str) -> Callable[[Instance, Objective, bool, Limits], Result]:
    def solve(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> Result:
        return questions.solve(instance, objective, solver, limits)

    solve.__doc__ = f"Solve an instance without communication by the back end ``{solver}``."
    return solve


core = _entry("core")
windows = _entry("windows")
