"""Optima by SCIP: the integer linear program of `ilp_model` under a growing horizon, through PuLP and PySCIPOpt."""

from __future__ import annotations

import pulp

from hindsched.instances.coupled.model import Instance
from hindsched.offline.backends.horizons import short_steps
from hindsched.offline.backends.pulp_runs import Claim
from hindsched.offline.coupled.models.ilp_solver import ProgramRounds
from hindsched.offline.coupled.models.round_windows import OneSlotWindows
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["solve", "solve_whole"]

_LIMITS = {"timelimit": Limit.TIME, "memlimit": Limit.MEMORY}


def solve(instance: Instance, objective: Objective, *, stand_by: bool, limits: Limits) -> CoupledResult:
    """Solve an instance with SCIP between proven windows, as ``ilp-highs`` does with HiGHS."""
    return _ScipRounds("scip", instance, stand_by, limits).solve(objective, short_steps, is_stepwise=False)


def solve_whole(instance: Instance, objective: Objective, *, stand_by: bool, limits: Limits) -> CoupledResult:
    """Solve an instance with SCIP without proven windows."""
    return _WholeScipRounds("scip", instance, stand_by, limits).solve(objective, short_steps, is_stepwise=False)


class _ScipRounds(ProgramRounds):
    """Rounds that SCIP solves."""

    def run(self, program: pulp.LpProblem, time_limit_s: float | None) -> Claim:
        """Solve a program; statuses and bounds are SCIP's own, since PuLP calls every stopped solve optimal."""
        watch = Stopwatch(Limits(None if time_limit_s is None else max(time_limit_s, 0.01)))
        scip = pulp.SCIP_PY(msg=False)

        def optimise(program: pulp.LpProblem) -> None:
            left_s = watch.left_s()
            if left_s is not None:  # what is left after PuLP has built SCIP's model
                program.solverModel.setParam("limits/time", max(left_s, 0.01))
            program.solverModel.setParam("randomization/randomseedshift", self.limits.seed)
            program.solverModel.optimize()

        scip.callSolver = optimise
        program.solve(scip)
        native = program.solverModel
        status = native.getStatus()
        is_proven = status in ("optimal", "infeasible")
        bound = native.getDualbound()
        return Claim(
            native.getNSols() > 0,
            is_proven,
            None if native.isInfinity(abs(bound)) else bound,
            None if is_proven else _LIMITS.get(status, Limit.OTHER),
        )


class _WholeScipRounds(OneSlotWindows, _ScipRounds):
    """Rounds that SCIP solves, whose windows assume only that each iteration takes a slot."""
