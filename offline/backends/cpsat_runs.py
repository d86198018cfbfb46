"""Runs of CP-SAT that Ctrl-C can interrupt, and the limit that stopped a run."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ortools.sat.python import cp_model

from hindsched.offline.limits import Limit

__all__ = ["limit_met", "solve_interruptibly"]


def solve_interruptibly(solver: cp_model.CpSolver, model: cp_model.CpModel) -> Any:
    """Solve a model and return the status; Ctrl-C ends the search and goes on as `KeyboardInterrupt`.

    CP-SAT's own handler of Ctrl-C would end the search and hand over what there is, as if a limit had stopped it: an
    interrupted campaign would keep that as a result. It would also leave the process without Python's handler.
    """
    solver.parameters.catch_sigint_signal = False
    with ThreadPoolExecutor(max_workers=1) as thread:
        running = thread.submit(solver.solve, model)
        try:
            return running.result()  # Python hears signals while it waits, and would not while it solves
        except BaseException:
            solver.stop_search()
            raise


def limit_met(solver: cp_model.CpSolver) -> Limit:
    """Return the limit that stopped a run which ended without a proof.

    CP-SAT does not report it. It stops a little before its time limit, so the time it took says nothing: the time limit
    stopped a run that has one unless the deterministic time was used up.
    """
    parameters = solver.parameters
    if solver.response_proto.deterministic_time >= parameters.max_deterministic_time:
        return Limit.EFFORT
    return Limit.OTHER if math.isinf(parameters.max_time_in_seconds) else Limit.TIME
