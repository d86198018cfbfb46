"""What a problem is: instances, states, chains, generators, traces, files, schedules and their checkers.

This package knows none of the others. Families of problems live in sub-packages (``instances.coupled``); what all
families share lies beside them, and the ``"format"`` of a file decides whose it is.
"""

from instances.chains import Chain, fit
from instances.errors import HindschedError, InputError, SelfCheckError
from instances.files import check, is_made_for, read, read_schedule, write, write_schedule
from instances.verdict import Verdict

__all__ = [
    "Chain",
    "HindschedError",
    "InputError",
    "SelfCheckError",
    "Verdict",
    "check",
    "fit",
    "is_made_for",
    "read",
    "read_schedule",
    "write",
    "write_schedule",
]
