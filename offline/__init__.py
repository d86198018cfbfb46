"""Optima with every state known, proven.

`solve` is the one way in; its solvers are loaded when they are asked for. This package knows ``instances`` only.
Families of problems live in sub-packages (``offline.coupled``); what all families share lies beside them.
"""

from offline.coupled.dispatch import SOLVERS, available_solvers, solve
from offline.coupled.free_prefetch import free_prefetch_bound
from offline.coupled.model_export import write_model
from offline.kmis.shared_slots import SharedSlots, earliest_common_slots, max_common_slots
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
