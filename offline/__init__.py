"""Optima with every state known, proven.

`solve` is the one way in; its solvers are loaded when they are asked for. This package knows ``instances`` only.
Families of problems live in sub-packages (``offline.coupled``); what all families share lies beside them.
"""

from offline.kmis import SharedSlots, earliest_common_slots, max_common_slots
from offline.results import Result, Sense, Status
from offline.solve import solve
from offline.solvers import Solver

__all__ = [
    "Result",
    "Sense",
    "SharedSlots",
    "Solver",
    "Status",
    "earliest_common_slots",
    "max_common_slots",
    "solve",
]
