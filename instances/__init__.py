"""What a problem is: instances, states, chains, generators, traces, files, schedules and their checkers.

This package imports none of the others. Each family of problems has a sub-package (``instances.coupled``); the other
modules serve all families. The ``"format"`` of a file names its family.
"""

from hindsched.instances.chains import Chain, fit
from hindsched.instances.errors import HindschedError, InputError, SelfCheckError
from hindsched.instances.files import check, is_made_for, read, read_schedule, write, write_schedule
from hindsched.instances.verdict import Verdict

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

if __name__ == "instances":  # its name in release 0.1
    from hindsched.old_names import redirect

    redirect(__name__)
