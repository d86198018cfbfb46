"""Batches of equal tasks with deadlines, for volunteers who come and go and who call the master themselves."""

from hindsched.instances.batches.availability import Availability
from hindsched.instances.batches.check import Outcome
from hindsched.instances.batches.cuts import Claim
from hindsched.instances.batches.files import INSTANCE_FORMATS, read_instance, write_instance
from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.run import Contacts, Run, Rung
from hindsched.instances.batches.schedules import SCHEDULE_FORMATS, check, read_schedule, write_schedule
from hindsched.instances.batches.volunteers import Habits, Volunteers

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
