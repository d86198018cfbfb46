"""Optima by didppy: the dynamic program of `dynamic_program` under a growing horizon, by CABS or CAASDy."""

from __future__ import annotations

from docs.studies.coupled.rivals.dynamic_program import DynamicProgram
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError
from hindsched.offline.backends.horizons import WindowAnswer, WindowProblem, doubling
from hindsched.offline.coupled.models.round_windows import OneSlotWindows, SlotRounds, Window
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["solve", "solve_whole"]

#: The searches of didppy, by the last part of the name of the solver.
_SEARCHES = {"cabs": "CABS", "caasdy": "CAASDy"}


def solve(instance: Instance, objective: Objective, *, stand_by: bool, limits: Limits, search: str) -> CoupledResult:
    """Solve an instance between proven windows, those of ``cpsat`` and ``ilp-highs``."""
    _expect_makespan(objective, stand_by)
    return _DidpRounds(instance, limits, search).solve(objective, doubling, is_stepwise=False)


def solve_whole(
    instance: Instance, objective: Objective, *, stand_by: bool, limits: Limits, search: str
) -> CoupledResult:
    """Solve an instance without proven windows."""
    _expect_makespan(objective, stand_by)
    return _WholeRounds(instance, limits, search).solve(objective, doubling, is_stepwise=False)


def _expect_makespan(objective: Objective, stand_by: bool) -> None:
    if objective is not Objective.MAKESPAN or not stand_by:
        raise InputError("the dynamic program has the makespan with stand-by only", place="solver didp")


class _DidpRounds(SlotRounds):
    """Rounds that didppy solves."""

    def __init__(self, instance: Instance, limits: Limits, search: str) -> None:
        super().__init__(instance, True, limits, f"didp-{search}")
        self._search = _SEARCHES[search]
        self.count(programs=0, expanded=0, generated=0)

    def solve_windows(self, problem: WindowProblem[Window], watch: Stopwatch) -> WindowAnswer[IterationPlan]:
        """Solve the problem of the windows by didppy."""
        import didppy

        program = DynamicProgram(self.instance, problem.windows, watch)
        if not program.is_possible:
            return WindowAnswer(None, is_final=True)
        left_s = problem.left_s(watch)
        limit_s = None if left_s is None else max(left_s, 0.01)
        solution = getattr(didppy, self._search)(program.model, time_limit=limit_s, quiet=True).search()
        self.count(programs=1, expanded=solution.expanded, generated=solution.generated)
        if solution.is_infeasible:
            return WindowAnswer(None, is_final=True)
        plan = None if solution.cost is None else program.plan(solution)
        least_end = None if solution.best_bound is None else solution.best_bound - 1
        return WindowAnswer(plan, solution.is_optimal, least_end, None if solution.is_optimal else Limit.TIME)


class _WholeRounds(OneSlotWindows, _DidpRounds):
    """Rounds whose windows assume only that each iteration takes a slot."""
