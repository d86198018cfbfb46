"""Optima by CP-SAT: the model of `cpsat_model` under a growing horizon (`hindsched.offline.backends.horizons`).

``cpsat`` adds one iteration at a time, with proven windows, so that the models stay small however many slots are known.
``cpsat-whole`` is the usual formulation, for comparison: one model of all slots, within the horizon of a greedy
schedule, or a horizon that doubles.
"""

from __future__ import annotations

import os
from math import ceil

from ortools.sat.python import cp_model

from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import SelfCheckError
from hindsched.offline.backends.cpsat_runs import limit_met, make_solver, solve_interruptibly
from hindsched.offline.backends.horizons import WindowAnswer, WindowProblem, doubling
from hindsched.offline.backends.model_files import PROTO_FORMS, expect_form, write_whole
from hindsched.offline.coupled.models.cpsat_model import SlotModel
from hindsched.offline.coupled.models.round_windows import OneSlotWindows, SlotRounds, Window, windows_to_write
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch

__all__ = ["solve", "solve_whole", "write_model"]


def solve(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> CoupledResult:
    """Solve an instance of the general problem, as described above.

    Notes
    -----
    With one thread and no time limit the answer is deterministic. CP-SAT's statuses are its claims; the value is
    recomputed from the schedule.
    """
    return _CpsatRounds(instance, stand_by, limits, "cpsat").solve(objective, doubling, is_stepwise=True)


def solve_whole(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> CoupledResult:
    """Solve an instance of the general problem without proven windows, for comparison."""
    return _WholeRounds(instance, stand_by, limits, "cpsat-whole").solve(objective, doubling, is_stepwise=False)


def write_model(
    instance: Instance,
    path: str | os.PathLike[str],
    *,
    horizon: int | None = None,
    stand_by: bool = True,
    limits: Limits = NO_LIMITS,
) -> None:
    """Write the model of the makespan as CP-SAT's proto: text to a ``.pbtxt`` file, binary to a ``.pb`` file.

    Parameters and errors are those of `hindsched.offline.coupled.models.ilp_solver.write_program`.
    """
    expect_form(path, PROTO_FORMS)
    windows = windows_to_write(instance, horizon, with_pairs=False)
    slot_model = SlotModel(instance, windows, Stopwatch(limits), stand_by=stand_by)
    slot_model.minimise_end()
    write_whole(path, PROTO_FORMS, slot_model.model.export_to_file)


class _CpsatRounds(SlotRounds):
    """Rounds that CP-SAT solves."""

    def __init__(self, instance: Instance, stand_by: bool, limits: Limits, by: str) -> None:
        super().__init__(instance, stand_by, limits, by)
        self.count(models=0, variables=0, branches=0, conflicts=0)

    def solve_windows(self, problem: WindowProblem[Window], watch: Stopwatch) -> WindowAnswer[IterationPlan]:
        """Solve the problem of the windows by CP-SAT."""
        slot_model = SlotModel(self.instance, problem.windows, watch, stand_by=self.stand_by)
        if not problem.is_any_sufficient:
            slot_model.minimise_end()
        solver = make_solver(self.limits, problem.left_s(watch))
        status = solve_interruptibly(solver, slot_model.model)
        self.count(
            models=1,
            variables=len(slot_model.model.proto.variables),
            branches=solver.num_branches,
            conflicts=solver.num_conflicts,
        )
        if status == cp_model.INFEASIBLE:
            return WindowAnswer(None, is_final=True)
        if status == cp_model.OPTIMAL:
            return WindowAnswer(slot_model.plan(solver), is_final=True)
        if status not in (cp_model.FEASIBLE, cp_model.UNKNOWN):
            raise SelfCheckError(f"CP-SAT status {solver.status_name(status)}, expected a valid model")
        plan = slot_model.plan(solver) if status == cp_model.FEASIBLE else None
        # CP-SAT reports 0.0 without a bound, which is a valid bound here
        return WindowAnswer(plan, False, ceil(solver.best_objective_bound - 1e-6), limit_met(solver))


class _WholeRounds(OneSlotWindows, _CpsatRounds):
    """Rounds whose windows assume only that each iteration takes a slot."""
