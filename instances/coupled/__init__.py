"""OFF-LINE-COUPLED: tightly-coupled iterative applications on volatile workers (docs/model.md)."""

from instances.coupled.certificates import SCHEDULE_FORMATS, check, read_schedule, write_schedule
from instances.coupled.check import Outcome
from instances.coupled.files import INSTANCE_FORMATS, read_instance, write_instance
from instances.coupled.model import Instance
from instances.coupled.rents import LeastMakespan, Rents
from instances.coupled.schedule import Configuration, Schedule

__all__ = [
    "INSTANCE_FORMATS",
    "SCHEDULE_FORMATS",
    "Configuration",
    "Instance",
    "LeastMakespan",
    "Outcome",
    "Rents",
    "Schedule",
    "check",
    "read_instance",
    "read_schedule",
    "write_instance",
    "write_schedule",
]
