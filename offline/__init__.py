"""Optima with every state known, proven.

`solve` is the one way in; its solvers are loaded when they are asked for. This package knows ``instances`` only.
Families of problems live in sub-packages (``offline.coupled``); what all families share lies beside them.
"""

from offline.coupled.bounds import free_prefetch_bound
from offline.coupled.common_slots.core.public import SharedSlots, earliest_common_slots, max_common_slots
from offline.coupled.model_files import write_model
from offline.coupled.solvers import SOLVERS, available_solvers, solve
from offline.results import Objective, Result, Status
from offline.solvers import Solver

__all__ = [
    "SOLVERS",
    "Objective",
    "Result",
    "SharedSlots",
    "Solver",
    "Status",
    "available_solvers",
    "earliest_common_slots",
    "free_prefetch_bound",
    "max_common_slots",
    "solve",
    "write_model",
]
