"""Runs of CP-SAT that Ctrl-C can interrupt, and the limit that stopped a run."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ortools.sat.python import cp_model

from hindsched.offline.backends.timed_runs import run_stoppably
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["limit_met", "make_solver", "solve_interruptibly"]


def make_solver(limits: Limits, time_limit_s: float | None, effort: float | None = None) -> cp_model.CpSolver:
    """Return a solver with the threads and the seed of the limits.

    Parameters
    ----------
    limits
        Their time limit is ignored.
    time_limit_s
        Seconds, by the clock of stopwatches; None: no limit.
    effort
        CP-SAT's deterministic seconds, which do not depend on the load of the machine; None: no limit.
    """
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = limits.threads
    solver.parameters.random_seed = limits.seed
    if time_limit_s is not None:
        solver.parameters.max_time_in_seconds = time_limit_s
    if effort is not None:
        solver.parameters.max_deterministic_time = effort
    return solver


def solve_interruptibly(solver: cp_model.CpSolver, model: cp_model.CpModel) -> Any:
    """Solve a model and return the status; Ctrl-C ends the search and raises `KeyboardInterrupt`.

    CP-SAT's own handler of Ctrl-C would end the search with a result, as if a limit had stopped it, and an interrupted
    campaign would keep that result. It would also remove Python's handler from the process. CP-SAT's own time limit
    counts wall-clock time, and some steps exceed it.
    """
    parameters = solver.parameters
    parameters.catch_sigint_signal = False
    limit_s = parameters.max_time_in_seconds
    watch = Stopwatch(Limits(None if math.isinf(limit_s) else max(limit_s, 1e-9)))
    if watch.is_of_processor:
        parameters.max_time_in_seconds = math.inf
    try:
        return run_stoppably(partial(solver.solve, model), solver.stop_search, watch)
    finally:
        parameters.max_time_in_seconds = limit_s


def limit_met(solver: cp_model.CpSolver) -> Limit:
    """Return the limit that stopped a run which ended without a proof.

    CP-SAT does not report the limit, and stops a little before a time limit. So a run with a time limit was stopped by
    that limit unless its deterministic time was used up.
    """
    parameters = solver.parameters
    if solver.response_proto.deterministic_time >= parameters.max_deterministic_time:
        return Limit.EFFORT
    return Limit.OTHER if math.isinf(parameters.max_time_in_seconds) else Limit.TIME
