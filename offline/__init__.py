"""Optima with every state known, proven.

`solve` is the one way in; its solvers are loaded when they are asked for. This package knows ``instances`` only.
Families of problems live in sub-packages (``offline.coupled``); what all families share lies beside them.
"""

from offline.coupled.bounds import free_prefetch_bound
from offline.results import Objective, Result, Status
from offline.solvers import SOLVERS, Solver, available_solvers, solve

__all__ = ["SOLVERS", "Objective", "Result", "Solver", "Status", "available_solvers", "free_prefetch_bound", "solve"]
