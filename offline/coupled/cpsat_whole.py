"""Optima by one CP-SAT model over the whole horizon: what the model of `slotmodel` can do without proven windows.

The horizon is that of a greedy schedule, or doubles where none is known; within it every slot is left to the model.
This is how the problem is usually put to a solver. It stands here to be measured against (see `cpsat` for the windows).
"""

from __future__ import annotations

from instances.coupled.model import Instance
from offline.coupled.cpsat import Search
from offline.coupled.greedy_plan import greedy_plan
from offline.coupled.objectives import Objective
from offline.limits import Limits
from offline.results import Result, Status

__all__ = ["solve"]


def solve(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> Result:
    """Solve an instance of the general problem; the text above says how."""
    search = _Whole(instance, stand_by, limits)
    return search.makespan() if objective is Objective.MAKESPAN else search.iterations()


class _Whole(Search):
    name = "cpsat-whole"

    def makespan(self) -> Result:
        target, slots = self._instance.iterations, self._instance.slots
        best = greedy_plan(self._teams, target, self._watch)
        plan = best if len(best) == target else None
        horizon = 2 * target
        least = target - 1
        while plan is None or self._end(plan) > least:
            horizon = min(horizon, slots) if plan is None else self._end(plan)
            answer = self._ask(list(range(target)), horizon, self._watch.left_s())
            least = max(least, answer.least)
            plan = answer.plan or plan
            if not answer.is_final:
                break
            if plan is None and horizon == slots:
                return self._result(Objective.MAKESPAN, Status.INFEASIBLE, None, None, None)
            horizon *= 2
        if plan is None:
            return self._result(Objective.MAKESPAN, Status.UNKNOWN, None, least + 1, None)
        value = self._end(plan) + 1
        status = Status.OPTIMAL if value == least + 1 else Status.FEASIBLE
        return self._result(Objective.MAKESPAN, status, value, least + 1, plan)

    def iterations(self) -> Result:
        slots = self._instance.slots
        plan, most = greedy_plan(self._teams, None, self._watch), slots
        while len(plan) < most:
            answer = self._ask(list(range(len(plan) + 1)), slots, self._watch.left_s())
            if answer.plan is not None:
                plan = answer.plan
            elif answer.is_final:
                most = len(plan)
            else:
                break
        status = Status.OPTIMAL if len(plan) == most else Status.FEASIBLE
        return self._result(Objective.ITERATIONS, status, len(plan), most, plan)

    def _latest(self, horizon: int, count: int) -> list[int]:
        return list(range(horizon - count, horizon))
