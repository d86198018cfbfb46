"""What a problem is: instances, states, chains, generators, traces, files, schedules and their checker.

This package knows none of the others. Families of problems live in sub-packages (``instances.coupled``); what all
families share lies beside them.
"""

from instances.chains import Chain, fit
from instances.coupled.check import check, is_made_for
from instances.coupled.files import read, read_schedule, write, write_schedule
from instances.coupled.model import Instance
from instances.coupled.schedule import Configuration, Schedule
from instances.errors import HindschedError, InputError, SelfCheckError
from instances.verdict import Verdict

__all__ = [
    "Chain",
    "Configuration",
    "HindschedError",
    "InputError",
    "Instance",
    "Schedule",
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
