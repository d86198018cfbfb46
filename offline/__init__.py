"""Optima with every state known, proven.

`solve` is the one way in; its solvers are loaded when they are asked for. This package knows ``instances`` only.
Families of problems live in sub-packages (``hindsched.offline.coupled``); what all families share lies beside them.
"""

from hindsched.offline.kmis import SharedSlots, earliest_common_slots, max_common_slots
from hindsched.offline.limits import Limit
from hindsched.offline.results import Result, Sense, Status, Termination, TerminationReason
from hindsched.offline.solve import solve
from hindsched.offline.solvers import Solver

__all__ = [
    "Limit",
    "Result",
    "Sense",
    "SharedSlots",
    "Solver",
    "Status",
    "Termination",
    "TerminationReason",
    "earliest_common_slots",
    "max_common_slots",
    "solve",
]

if __name__ == "offline":  # its name in release 0.1
    from hindsched.old_names import redirect

    redirect(__name__)
