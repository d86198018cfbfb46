"""Optima by CP-SAT: which models of `slotmodel` are solved, and what their answers mean.

The least makespan of 1, 2, 3, ... iterations is settled in this order, since each answer narrows the next question. The
free-prefetch bound, applied from the last proven end, says when each iteration can end at the earliest. The best
schedule known, a greedy one or one that goes on greedily from the last answer, says by when all of them can have ended.
Where the two meet there is nothing to solve. Otherwise a better schedule has to keep within windows between the two,
usually short ones, however many slots are known; if the model has no solution the schedule is optimal. Where no
schedule is known, the horizon doubles; that there is nothing in a horizon is a proven bound.

For the makespan this ends with the iterations asked for, for the objective ``iterations`` with the first number of them
that is proven too large. What was proven for fewer iterations bounds more of them, if the time runs out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import ceil

from ortools.sat.python import cp_model

from instances.coupled.model import Instance
from instances.errors import InputError, SelfCheckError
from offline.backends.cpsat_runs import solve_interruptibly
from offline.backends.model_files import PROTO_FORMS, expect_form, write_whole
from offline.coupled.emit import IterationPlan, emit, end_of
from offline.coupled.free_prefetch import FreePrefetch
from offline.coupled.greedy_plan import greedy_plan
from offline.coupled.no_communication.common_slots import NO_LIMITS
from offline.coupled.objectives import CoupledResult, Objective
from offline.coupled.prefetch_relaxation import Teams
from offline.coupled.slot_cpsat import SlotModel
from offline.limits import Limits, OutOfTimeError, Stopwatch
from offline.results import Result, Status

__all__ = ["Search", "solve", "write_model"]

_Plan = list[IterationPlan]


def solve(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> Result:
    """Solve an instance of the general problem; the text above says how.

    Notes
    -----
    With one thread and no time limit the answer is deterministic. CP-SAT's statuses are its own claims: the value is
    always recomputed from the schedule.
    """
    search = Search(instance, stand_by, limits)
    return search.makespan() if objective is Objective.MAKESPAN else search.iterations()


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one model said.

    Parameters
    ----------
    plan
        The best plan found, or None.
    least
        No schedule at all ends its last iteration before this slot.
    is_final
        False if time ran out: there may be more to find.
    """

    plan: _Plan | None
    least: int
    is_final: bool


def write_model(
    instance: Instance,
    path: str | os.PathLike[str],
    *,
    horizon: int | None = None,
    stand_by: bool = True,
    limits: Limits = NO_LIMITS,
) -> None:
    """Write the model of the makespan as CP-SAT's proto: text to a ``.pbtxt`` file, binary to a ``.pb`` file.

    Parameters and errors are those of `offline.coupled.ilp.write_program`.
    """
    expect_form(path, PROTO_FORMS)
    horizon = instance.slots if horizon is None else horizon
    if not 1 <= horizon <= instance.slots:
        raise InputError(f"{horizon}, expected 1 to {instance.slots}, the slots", place="horizon")
    bound = FreePrefetch(Teams(instance))
    earliest = bound.earliest_ends(instance.iterations)
    latest = bound.latest_ends(horizon - 1, instance.iterations)
    windows = list(zip(earliest, latest, strict=False))
    if len(windows) < instance.iterations or any(first > last for first, last in windows):
        raise InputError(f"{horizon}, but the iterations provably take longer", place="horizon")
    slot_model = SlotModel(instance, windows, Stopwatch(limits), stand_by=stand_by)
    slot_model.minimise_end()
    write_whole(path, PROTO_FORMS, slot_model.model.export_to_file)


class Search:
    """What is known of an instance while it is solved."""

    name = "cpsat"

    def __init__(self, instance: Instance, stand_by: bool, limits: Limits) -> None:
        self._instance = instance
        self._stand_by = stand_by
        self._limits = limits
        self._watch = Stopwatch(limits)
        self._teams = Teams(instance)
        self._bound = FreePrefetch(self._teams)
        self._counts = {"models": 0, "variables": 0, "branches": 0, "conflicts": 0}
        self._proven: list[int] = []  # no schedule ends its iteration 1, 2, ... before these slots
        self._plans: list[_Plan] = []

    def makespan(self) -> Result:
        """Fewest slots for all the iterations."""
        target = self._instance.iterations
        earliest = self._bound.earliest_ends(target)
        self._plans.append(greedy_plan(self._teams, target, self._watch))
        while len(earliest) == target and len(self._proven) < target and not self._watch.is_over():
            best = self._best(target)
            if best and self._end(best) == earliest[-1]:
                break
            if not self._settle_next(target):
                earliest = []
                break
            earliest = self._bound.earliest_ends(target, self._proven)
        if len(earliest) < target:
            return self._result(Objective.MAKESPAN, Status.INFEASIBLE, None, None, None)
        best, bound = self._best(target), earliest[-1] + 1
        if best is None:
            return self._result(Objective.MAKESPAN, Status.UNKNOWN, None, bound, None)
        value = self._end(best) + 1
        status = Status.OPTIMAL if value == bound else Status.FEASIBLE
        return self._result(Objective.MAKESPAN, status, value, bound, best)

    def iterations(self) -> Result:
        """Most iterations in the known slots."""
        self._plans.append(greedy_plan(self._teams, None, self._watch))
        most = len(self._bound.earliest_ends())
        while most > max(map(len, self._plans)) and len(self._proven) < most and not self._watch.is_over():
            is_possible = self._settle_next(most)
            most = len(self._bound.earliest_ends(None, self._proven)) if is_possible else len(self._proven)
        longest = max(self._plans, key=len)
        status = Status.OPTIMAL if len(longest) == most else Status.FEASIBLE
        return self._result(Objective.ITERATIONS, status, len(longest), most, longest)

    def _settle_next(self, target: int) -> bool:
        """Settle the least end of one more iteration; False if it is proven that it cannot be completed.

        If time runs out, a bound is recorded instead. Of the time left each of the steps up to ``target`` gets a
        share, the last one all there is.
        """
        count = len(self._proven) + 1
        left_s = self._watch.left_s()
        share_s = None if left_s is None else left_s * 2 / (target - count + 2)
        earliest = self._bound.earliest_ends(count, self._proven)
        if len(earliest) < count:
            return False
        least, horizon = earliest[-1], 2 * earliest[-1] + 2
        best = self._best(count)
        while best is None or self._end(best) > least:
            horizon = min(horizon, self._instance.slots) if best is None else self._end(best)
            answer = self._ask(earliest, horizon, share_s)
            least = max(least, answer.least)
            if answer.plan is not None:
                best = answer.plan
                self._plans.append(greedy_plan(self._teams, target, self._watch, best))
            if not answer.is_final:
                break
            if best is None and horizon == self._instance.slots:
                return False
            horizon *= 2
        self._proven.append(least)
        return True

    def _best(self, count: int) -> _Plan | None:
        """Return the first ``count`` iterations of the plan in which they end first."""
        plans = (plan[:count] for plan in self._plans if len(plan) >= count)
        return min(plans, key=self._end, default=None)

    def _end(self, plan: _Plan) -> int:
        end = end_of(self._instance, plan[-1])
        if end is None:
            raise SelfCheckError("the last iteration of a plan does not end in the known slots")
        return end

    def _latest(self, horizon: int, count: int) -> list[int]:
        """Return when the first ``count`` iterations must have ended for all of them to end within the horizon."""
        return self._bound.latest_ends(horizon - 1, count)

    def _ask(self, earliest: list[int], horizon: int, share_s: float | None) -> _Answer:
        """Look for the iterations within ``horizon`` slots, so that the last of them ends first."""
        windows = list(zip(earliest, self._latest(horizon, len(earliest)), strict=True))
        if any(first > last for first, last in windows):
            return _Answer(None, horizon, is_final=True)
        try:
            slot_model = SlotModel(self._instance, windows, self._watch, stand_by=self._stand_by)
        except OutOfTimeError:
            return _Answer(None, earliest[-1], is_final=False)
        slot_model.minimise_end()
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = self._limits.threads
        solver.parameters.random_seed = self._limits.seed
        if share_s is not None:
            solver.parameters.max_time_in_seconds = min(share_s, self._watch.left_s() or 0.0)
        status = solve_interruptibly(solver, slot_model.model)
        self._counts["models"] += 1
        self._counts["variables"] += len(slot_model.model.proto.variables)
        self._counts["branches"] += solver.num_branches
        self._counts["conflicts"] += solver.num_conflicts
        if status == cp_model.INFEASIBLE:
            return _Answer(None, horizon, is_final=True)
        if status == cp_model.OPTIMAL:
            plan = slot_model.plan(solver)
            return _Answer(plan, self._end(plan), is_final=True)
        if status not in (cp_model.FEASIBLE, cp_model.UNKNOWN):
            raise SelfCheckError(f"CP-SAT calls the model {solver.status_name(status)}")
        # CP-SAT says 0.0 where it has no bound: the maximum makes that harmless
        least = min(horizon, max(earliest[-1], ceil(solver.best_objective_bound - 1e-6)))
        return _Answer(slot_model.plan(solver) if status == cp_model.FEASIBLE else None, least, is_final=False)

    def _result(
        self, objective: Objective, status: Status, value: int | None, bound: int | None, plan: _Plan | None
    ) -> Result:
        slots = value if objective is Objective.MAKESPAN else self._instance.slots
        schedule = None if plan is None else emit(self._instance, plan, slots=slots)
        return CoupledResult.of(
            status, objective, value, bound, schedule, self.name, self._watch.elapsed_s(), self._counts
        )
