"""Bags of identical tasks on desktop machines that are switched on and off (docs/bags/model.md)."""

from hindsched.instances.bags.check import RULES, Outcome, check
from hindsched.instances.bags.files import INSTANCE_FORMATS, read_instance, write_instance
from hindsched.instances.bags.ideal_time import ideal_time
from hindsched.instances.bags.model import Instance, Store
from hindsched.instances.bags.schedule import SCHEDULE_FORMATS, Run, Save, Schedule, read_schedule, write_schedule

__all__ = [
    "INSTANCE_FORMATS",
    "RULES",
    "SCHEDULE_FORMATS",
    "Instance",
    "Outcome",
    "Run",
    "Save",
    "Schedule",
    "Store",
    "check",
    "ideal_time",
    "read_instance",
    "read_schedule",
    "write_instance",
    "write_schedule",
]
