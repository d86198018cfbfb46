"""OFF-LINE-COUPLED: tightly-coupled iterative applications on volatile workers (docs/model.md)."""

from instances.coupled.check import Outcome, check
from instances.coupled.files import (
    INSTANCE_FORMATS,
    SCHEDULE_FORMATS,
    read_instance,
    read_schedule,
    write_instance,
    write_schedule,
)
from instances.coupled.model import Instance
from instances.coupled.schedule import Configuration, Schedule

__all__ = [
    "INSTANCE_FORMATS",
    "SCHEDULE_FORMATS",
    "Configuration",
    "Instance",
    "Outcome",
    "Schedule",
    "check",
    "read_instance",
    "read_schedule",
    "write_instance",
    "write_schedule",
]
