"""CP-SAT as Ctrl-C should find it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ortools.sat.python import cp_model

__all__ = ["solve_interruptibly"]


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
