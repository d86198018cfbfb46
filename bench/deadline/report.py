"""Pictures of the family `deadline`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsched.bench.deadline.gantt import draw, draw_pair
from hindsched.bench.family_report import FamilyReport
from hindsched.instances.deadline import Instance, Schedule

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

__all__ = ["DeadlineReport"]


class DeadlineReport(FamilyReport[Instance, Schedule]):
    """The pictures of the family `deadline`."""

    def draw(self, instance: Instance, schedule: Schedule) -> Drawing:
        return draw(instance, schedule)

    def draw_pair(self, instance: Instance, best: Schedule, run: Schedule, policy: str, name: str) -> Drawing:
        return draw_pair(instance, best, run, policy, name)
