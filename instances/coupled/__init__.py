"""OFF-LINE-COUPLED: tightly-coupled iterative applications on volatile workers (docs/model.md)."""

from hindsched.instances.coupled.certificate_evaluation import LeastMakespan
from hindsched.instances.coupled.certificates import SCHEDULE_FORMATS, check, read_schedule, write_schedule
from hindsched.instances.coupled.check import Outcome
from hindsched.instances.coupled.files import INSTANCE_FORMATS, read_instance, write_instance
from hindsched.instances.coupled.lagrangian_certificate import Branching, LagrangianCertificate, Multipliers
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import Configuration, Schedule

__all__ = [
    "INSTANCE_FORMATS",
    "SCHEDULE_FORMATS",
    "Branching",
    "Configuration",
    "Instance",
    "LagrangianCertificate",
    "LeastMakespan",
    "Multipliers",
    "Outcome",
    "Schedule",
    "check",
    "read_instance",
    "read_schedule",
    "write_instance",
    "write_schedule",
]
