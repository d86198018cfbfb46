"""Export of the models of an instance to files, for people and other solvers."""

from __future__ import annotations

import os

from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError
from hindsched.offline.backends.model_files import PROGRAM_FORMS, PROTO_FORMS, ModelForm, expect_form
from hindsched.offline.coupled.api import SolverName
from hindsched.offline.coupled.bounds.prefetch_relaxation import PrefetchRelaxation
from hindsched.offline.coupled.models.greedy_plan import greedy_plan
from hindsched.offline.coupled.no_communication.common_slots import Aim
from hindsched.offline.coupled.no_communication.common_slots_reduction import problem_of
from hindsched.offline.coupled.plans import end_of
from hindsched.offline.limits import Limits, OutOfTimeError, Stopwatch
from hindsched.offline.solvers import AUTO

__all__ = ["write_model"]

_FORMS: dict[str, tuple[ModelForm, ...]] = {
    AUTO: (*PROGRAM_FORMS, *PROTO_FORMS),
    SolverName.CPSAT: PROTO_FORMS,
    SolverName.CPSAT_WHOLE: PROTO_FORMS,
    SolverName.ILP_HIGHS: PROGRAM_FORMS,
    SolverName.ILP_CBC: PROGRAM_FORMS,
}


def write_model(
    instance: Instance,
    path: str | os.PathLike[str],
    *,
    solver: str = AUTO,
    stand_by: bool = True,
    time_limit_s: float | None = None,
) -> None:
    """Write the model of the makespan of an instance to a file, completely or not at all.

    The suffix of the name selects the model: ``.lp`` and ``.mps`` the integer linear program, ``.pbtxt`` and ``.pb``
    the CP-SAT model. For one iteration without communication it is the model of the problem of Theorem 4.1 (see
    `offline.coupled.no_communication`), else that of the general problem with proven windows, within the slots of a
    greedy schedule, or all slots without one.

    Parameters
    ----------
    instance
        The instance.
    path
        The file.
    solver
        ``auto``, or the solver whose model is written: ``cpsat``, ``ilp-highs``, ``ilp-cbc``. It does not run.
    stand_by
        As for `hindsched.offline.solve`.
    time_limit_s
        Time limit of the construction; None: no limit.

    Raises
    ------
    InputError
        For a solver without a model, a suffix that does not fit, a file that cannot be written, an instance without a
        schedule, or a model that is not complete in time.
    """
    if solver not in _FORMS:
        raise InputError(f"{solver!r} has no model to write, expected one of {', '.join(_FORMS)}", place="solver")
    is_program = expect_form(path, _FORMS[solver]) in PROGRAM_FORMS
    if not (instance.t_prog or instance.t_data) and instance.iterations == 1:
        from hindsched.offline.coupled.no_communication import team_cpsat, team_ilp

        problem = problem_of(instance, Aim.EARLIEST)
        (team_ilp.write_model if is_program else team_cpsat.write_model)(problem, path)
        return
    from hindsched.offline.coupled.models import cpsat_solver, ilp_solver

    limits = Limits(time_limit_s)
    plan = greedy_plan(PrefetchRelaxation(instance), instance.iterations, Stopwatch(limits))
    end = end_of(instance, plan[-1]) if len(plan) == instance.iterations else None
    horizon = instance.slots if end is None else end + 1
    write = ilp_solver.write_program if is_program else cpsat_solver.write_model
    try:
        write(instance, path, horizon=horizon, stand_by=stand_by, limits=limits)
    except OutOfTimeError:
        raise InputError("the time limit ended before the model was complete", file=path) from None
