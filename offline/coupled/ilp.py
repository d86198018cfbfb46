"""Optima by integer linear programming: `slot_ilp`'s program, between the windows of `horizons`, by HiGHS or CBC."""

from __future__ import annotations

import os
from math import ceil

from instances.coupled.model import Instance
from instances.errors import InputError
from offline.backends.horizons import Answer, HorizonSearch, Question, windows_within
from offline.backends.model_files import PROGRAM_FORMS, expect_form, write_whole
from offline.backends.pulp_runs import run
from offline.coupled.free_prefetch import FreePrefetch
from offline.coupled.no_communication.common_slots import NO_LIMITS
from offline.coupled.objectives import Objective
from offline.coupled.prefetch_relaxation import Teams
from offline.coupled.slot_ilp import SlotProgram
from offline.limits import Limits, Stopwatch
from offline.results import Result

__all__ = ["solve_by_cbc", "solve_by_highs", "write_program"]


def solve_by_highs(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> Result:
    """Solve an instance of the general problem with HiGHS, called through PuLP.

    Notes
    -----
    The solver's statuses are its claims, to its tolerances. The value of a schedule is computed from the schedule.
    """
    return _solve("highs", instance, objective, stand_by, limits)


def solve_by_cbc(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> Result:
    """Solve an instance of the general problem with CBC, called through PuLP.

    Notes
    -----
    As `solve_by_highs`. CBC hands out no bound: stopped, it has proven what the horizons before have.
    """
    return _solve("cbc", instance, objective, stand_by, limits)


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
        Where to write; its suffix says which format.
    horizon
        Slots that the schedule may use; None: all. The program grows with it: p times the square of a window at most.
    stand_by
        Whether a program may be sent for a later iteration.
    limits
        Of the writing: its time.

    Raises
    ------
    OutOfTimeError
        Where the time is over first.
    InputError
        For another suffix, a horizon that cannot be meant, one in which provably nothing ends, or a file that cannot be
        written.
    """
    horizon = instance.slots if horizon is None else horizon
    if not 1 <= horizon <= instance.slots:
        raise InputError(f"{horizon}, expected 1 to {instance.slots}, the slots", place="horizon")
    suffix = expect_form(path, PROGRAM_FORMS)
    bound = FreePrefetch(Teams(instance))
    earliest = bound.earliest_ends(instance.iterations)
    windows = windows_within(bound, earliest, horizon) if len(earliest) == instance.iterations else None
    if windows is None:
        raise InputError(f"{horizon}, but the iterations provably take longer", place="horizon")
    watch = Stopwatch(limits)
    program = SlotProgram(instance, windows, watch, stand_by=stand_by, is_any_good=False).program
    write_whole(path, PROGRAM_FORMS, program.writeLP if suffix == ".lp" else program.writeMPS)


def _solve(backend: str, instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> Result:
    counts = {"programs": 0, "variables": 0, "constraints": 0}

    def ask(question: Question, watch: Stopwatch) -> Answer:
        model = SlotProgram(instance, question.windows, watch, stand_by=stand_by, is_any_good=question.is_any_good)
        counts["programs"] += 1
        counts["variables"] += model.program.numVariables()
        counts["constraints"] += model.program.numConstraints()
        outcome = run(model.program, backend, limits, watch.left_s())
        plan = model.plan() if outcome.has_solution else None
        least_end = None
        if outcome.bound is not None and not question.is_any_good:
            least_end = ceil(outcome.bound - 1e-6)
        return Answer(plan, outcome.is_proven, least_end)

    search = HorizonSearch(instance, limits, f"ilp-{backend}", ask)
    search.counts = counts
    return search.solve(objective)
