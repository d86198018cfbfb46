"""Optima by CP-SAT: which models of `slotmodel` are solved, and what their answers mean.

**Makespan.** The free-prefetch bound says when each iteration can end at the earliest. A greedy schedule of makespan v
gives the horizon: a better one has at most v - 1 slots. Between the two every iteration has a window, usually a short
one, however many slots are known. If there is nothing in the horizon, v is optimal. Without a greedy schedule the
horizon doubles; that there is nothing in it is a proven bound.

**Iterations.** The greedy schedule completes k iterations in the known slots. As long as the bound allows for more, ask
whether k + 1 can be completed, until the answer is no.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ortools.sat.python import cp_model

from instances.coupled.model import Instance
from instances.errors import SelfCheckError
from offline.coupled.bounds import FreePrefetch
from offline.coupled.emit import IterationPlan, emit, end_of
from offline.coupled.greedy import greedy_plan
from offline.coupled.slotmodel import OutOfTimeError, SlotModel
from offline.coupled.teams import Teams
from offline.limits import Limits, Stopwatch
from offline.results import Objective, Result, Status

__all__ = ["solve"]

_Plan = list[IterationPlan]


def solve(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> Result:
    """Solve an instance of the general problem; the text above says how.

    Notes
    -----
    With one thread and no time limit the answer is deterministic. CP-SAT's own statuses are its claims: the
    value of every schedule is recomputed from the schedule.
    """
    search = _Search(instance, stand_by, limits)
    return search.makespan() if objective is Objective.MAKESPAN else search.iterations()


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one model said.

    Parameters
    ----------
    plan
        The best plan found, or None.
    least_end
        No schedule at all ends the last iteration before this slot.
    is_final
        False if time ran out: there may be more to find.
    """

    plan: _Plan | None
    least_end: int
    is_final: bool


class _Search:
    def __init__(self, instance: Instance, stand_by: bool, limits: Limits) -> None:
        self._instance = instance
        self._stand_by = stand_by
        self._limits = limits
        self._watch = Stopwatch(limits)
        self._teams = Teams(instance)
        self._bound = FreePrefetch(self._teams)
        self._counts = {"models": 0, "variables": 0, "branches": 0, "conflicts": 0}

    def makespan(self) -> Result:
        """Fewest slots for all the iterations."""
        instance = self._instance
        iterations = instance.iterations
        earliest = self._bound.earliest_ends(iterations)
        if len(earliest) < iterations:
            return self._result(Objective.MAKESPAN, Status.INFEASIBLE, None, None, None)
        plan: _Plan | None = greedy_plan(self._teams, iterations, self._watch)
        if plan is not None and len(plan) < iterations:
            plan = None
        least, horizon = earliest[-1] + 1, 2 * earliest[-1] + 2  # in slots
        while plan is None or self._makespan(plan) > least:
            horizon = min(horizon, instance.slots) if plan is None else self._makespan(plan) - 1
            answer = self._ask(earliest, horizon, is_any_good=False)
            least = max(least, answer.least_end + 1)
            plan = answer.plan or plan
            if not answer.is_final:
                break
            if plan is None and horizon == instance.slots:
                return self._result(Objective.MAKESPAN, Status.INFEASIBLE, None, None, None)
            horizon *= 2
        if plan is None:
            return self._result(Objective.MAKESPAN, Status.UNKNOWN, None, least, None)
        value = self._makespan(plan)
        status = Status.OPTIMAL if value == least else Status.FEASIBLE
        return self._result(Objective.MAKESPAN, status, value, least, plan)

    def iterations(self) -> Result:
        """Most iterations in the known slots."""
        earliest = self._bound.earliest_ends()
        most = len(earliest)
        plan = greedy_plan(self._teams, most, self._watch)
        while len(plan) < most:
            answer = self._ask(earliest[: len(plan) + 1], self._instance.slots, is_any_good=True)
            if answer.plan is not None:
                plan = answer.plan
            elif answer.is_final:
                most = len(plan)
            else:
                break
        status = Status.OPTIMAL if len(plan) == most else Status.FEASIBLE
        return self._result(Objective.ITERATIONS, status, len(plan), most, plan)

    def _makespan(self, plan: _Plan) -> int:
        end = end_of(self._instance, plan[-1])
        if end is None:
            raise SelfCheckError("the last iteration of a plan does not end in the known slots")
        return end + 1

    def _ask(self, earliest: list[int], horizon: int, *, is_any_good: bool) -> _Answer:
        """Look for iterations within ``horizon`` slots; any, or those that end first."""
        latest = self._bound.latest_ends(horizon - 1, len(earliest))
        if any(first > last for first, last in zip(earliest, latest, strict=True)):
            return _Answer(None, horizon, is_final=True)
        nothing = _Answer(None, earliest[-1], is_final=False)
        try:
            windows = list(zip(earliest, latest, strict=True))
            slot_model = SlotModel(self._instance, windows, self._watch, stand_by=self._stand_by)
        except OutOfTimeError:
            return nothing
        if not is_any_good:
            slot_model.minimise_end()
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = self._limits.threads
        solver.parameters.random_seed = self._limits.seed
        left_s = self._watch.left_s()
        if left_s is not None:
            solver.parameters.max_time_in_seconds = left_s
        status = solver.solve(slot_model.model)
        self._counts["models"] += 1
        self._counts["variables"] += len(slot_model.model.proto.variables)
        self._counts["branches"] += solver.num_branches
        self._counts["conflicts"] += solver.num_conflicts
        if status == cp_model.INFEASIBLE:
            return _Answer(None, horizon, is_final=True)
        if status == cp_model.OPTIMAL:
            plan = slot_model.plan(solver)
            return _Answer(plan, self._makespan(plan) - 1, is_final=True)
        if status not in (cp_model.FEASIBLE, cp_model.UNKNOWN):
            raise SelfCheckError(f"CP-SAT calls the model {solver.status_name(status)}")
        least_end = earliest[-1]
        if not is_any_good:  # CP-SAT says 0.0 where it has no bound: the maximum makes that harmless
            least_end = min(horizon, max(least_end, ceil(solver.best_objective_bound - 1e-6)))
        return _Answer(slot_model.plan(solver) if status == cp_model.FEASIBLE else None, least_end, is_final=False)

    def _result(
        self, objective: Objective, status: Status, value: int | None, bound: int | None, plan: _Plan | None
    ) -> Result:
        slots = value if objective is Objective.MAKESPAN else self._instance.slots
        schedule = None if plan is None else emit(self._instance, plan, slots=slots)
        return Result(status, objective, value, bound, schedule, "cpsat", self._watch.elapsed_s(), self._counts)
