"""Batches of equal tasks with deadlines, for volunteers who come and go and who call the master themselves."""

from instances.batches.availability import Availability
from instances.batches.check import Outcome
from instances.batches.cuts import Claim
from instances.batches.files import INSTANCE_FORMATS, read_instance, write_instance
from instances.batches.model import Compute, Instance
from instances.batches.run import Contacts, Run, Rung
from instances.batches.schedules import SCHEDULE_FORMATS, check, read_schedule, write_schedule
from instances.batches.volunteers import Habits, Volunteers

__all__ = [
    "INSTANCE_FORMATS",
    "SCHEDULE_FORMATS",
    "Availability",
    "Claim",
    "Compute",
    "Contacts",
    "Habits",
    "Instance",
    "Outcome",
    "Run",
    "Rung",
    "Volunteers",
    "check",
    "read_instance",
    "read_schedule",
    "write_instance",
    "write_schedule",
]
