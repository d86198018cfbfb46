"""Optima by integer linear programming: the program of `ilp_model` under a growing horizon, by HiGHS or CBC.

One program has all iterations (`offline.backends.horizons`). Horizons grow by short steps even if a schedule is known:
the program grows with the square of a window, and a short one is quickly refuted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from hindsched.instances.coupled.model import Instance
from hindsched.offline.backends.horizons import WindowAnswer, WindowProblem, short_steps
from hindsched.offline.backends.model_files import PROGRAM_FORMS, ModelForm, expect_form, write_whole
from hindsched.offline.backends.pulp_runs import Claim, MilpSolver, run
from hindsched.offline.coupled.models.ilp_model import SlotProgram
from hindsched.offline.coupled.models.round_windows import SlotRounds, Window, windows_to_write, windows_with_pairs
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch

if TYPE_CHECKING:
    import pulp

__all__ = ["ProgramRounds", "solve_by_cbc", "solve_by_highs", "write_program"]


def solve_by_highs(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> CoupledResult:
    """Solve an instance of the general problem with HiGHS, called through PuLP.

    Notes
    -----
    The solver's statuses are its claims within its tolerances. The value is recomputed from the schedule.
    """
    return ProgramRounds(MilpSolver.HIGHS, instance, stand_by, limits).solve(objective, short_steps, is_stepwise=False)


def solve_by_cbc(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> CoupledResult:
    """Solve an instance of the general problem with CBC, called through PuLP.

    Notes
    -----
    As `solve_by_highs`. CBC reports no bound: after a limit, the bound is that of the horizons before.
    """
    return ProgramRounds(MilpSolver.CBC, instance, stand_by, limits).solve(objective, short_steps, is_stepwise=False)


def write_program(
    instance: Instance,
    path: str | os.PathLike[str],
    *,
    horizon: int | None = None,
    stand_by: bool = True,
    limits: Limits = NO_LIMITS,
) -> None:
    """Write the program of the makespan to a ``.lp`` or ``.mps`` file.

    Parameters
    ----------
    instance
        The instance.
    path
        The file; its suffix selects the format.
    horizon
        Slots that the schedule may use; None: all. The size is at most p times the square of a window.
    stand_by
        Whether a program may be sent for a later iteration.
    limits
        Time limit of the construction.

    Raises
    ------
    OutOfTimeError
        If the time is over first.
    InputError
        For another suffix, an invalid horizon, one in which the iterations cannot end, or a file that cannot be
        written.
    """
    form = expect_form(path, PROGRAM_FORMS)
    windows = windows_to_write(instance, horizon, with_pairs=True)
    watch = Stopwatch(limits)
    program = SlotProgram(instance, windows, watch, stand_by=stand_by, is_any_sufficient=False).program
    write_whole(path, PROGRAM_FORMS, program.writeLP if form is ModelForm.LP else program.writeMPS)


class ProgramRounds(SlotRounds):
    """Rounds that an ILP solver solves.

    Parameters
    ----------
    solver
        The name of the solver, the last part of the name in the result.
    instance, stand_by, limits
        As for `SlotRounds`.
    """

    def __init__(self, solver: str, instance: Instance, stand_by: bool, limits: Limits) -> None:
        super().__init__(instance, stand_by, limits, f"ilp-{solver}")
        self._solver = solver
        self.count(programs=0, variables=0, constraints=0)

    def windows(self, earliest: Sequence[int], horizon: int) -> list[Window] | None:
        """Return windows with ``latest_before``, which the program uses in constraints."""
        return windows_with_pairs(self.bound, earliest, horizon)

    def solve_windows(self, problem: WindowProblem[Window], watch: Stopwatch) -> WindowAnswer[IterationPlan]:
        """Solve the problem of the windows by the ILP solver."""
        model = SlotProgram(
            self.instance, problem.windows, watch, stand_by=self.stand_by, is_any_sufficient=problem.is_any_sufficient
        )
        self.count(programs=1, variables=model.program.numVariables(), constraints=model.program.numConstraints())
        claim = self.run(model.program, problem.left_s(watch))
        plan = model.plan() if claim.has_solution else None
        least_end = None
        if claim.bound is not None and not problem.is_any_sufficient:
            least_end = ceil(claim.bound - 1e-6)
        return WindowAnswer(plan, claim.is_proven, least_end, claim.limit)

    def run(self, program: pulp.LpProblem, time_limit_s: float | None) -> Claim:
        """Solve a program with the solver."""
        return run(program, self._solver, self.limits, time_limit_s)
