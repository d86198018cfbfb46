"""The independent checker (MODEL sections 2 and 4)."""

from instances.coupled.model import Instance
from instances.coupled.schedule import Schedule
from instances.verdict import Verdict


def check(instance: Instance, schedule: Schedule) -> Verdict:
    """Replay."""
    raise NotImplementedError
