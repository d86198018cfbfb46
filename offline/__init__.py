"""Hindsight optima: exact solvers for instances whose states are all known.

`solve` calls the solvers of every family and loads only the one that it needs. This package imports ``instances`` only.
Each family has a sub-package (``hindsched.offline.coupled``, ...) with its solvers in ``api.py``; the other
modules serve all families.
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
