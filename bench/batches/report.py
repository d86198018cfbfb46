"""Pictures of the family `batches`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsched.bench.batches.commands import as_run
from hindsched.bench.batches.gantt import draw, draw_pair
from hindsched.bench.family_report import FamilyReport
from hindsched.instances.batches import Instance, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

__all__ = ["BatchesReport"]


class BatchesReport(FamilyReport[Instance, Run]):
    """The pictures of the family `batches`."""

    def draw(self, instance: Instance, schedule: Run) -> Drawing:
        return draw(instance, as_run(schedule))

    def draw_pair(self, instance: Instance, best: Run, run: Run, policy: str, name: str) -> Drawing:
        return draw_pair(instance, best, run, policy, name)
