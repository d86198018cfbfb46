"""The pictures and report items that only one family has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic

from hindsched.bench.shared_types import ProblemT, ScheduleT
from hindsched.instances import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

    from hindsched.bench.family import Family
    from hindsched.bench.report.html import Figure, PageTable
    from hindsched.bench.report.report_files import Files

__all__ = ["FamilyReport"]


class FamilyReport(Generic[ProblemT, ScheduleT]):
    """The pictures and report items of a family.

    Parameters
    ----------
    family
        The family itself.
    """

    def __init__(self, family: Family[ProblemT, ScheduleT]) -> None:
        self.family = family

    def draw(self, instance: ProblemT, schedule: ScheduleT) -> Drawing:
        """Return a Gantt chart of a schedule that the checker has accepted."""
        raise InputError(f"the family {self.family.name} draws no schedules", place="gantt")

    def draw_pair(self, instance: ProblemT, best: ScheduleT, run: ScheduleT, policy: str, name: str) -> Drawing:
        """Return a Gantt chart of the best schedule above that of a policy's run on the instance of this name."""
        raise InputError(f"the family {self.family.name} draws no schedules", place="gantt")

    def groups(self, policies: Sequence[str]) -> dict[str, list[str]] | None:
        """Return groups of policies that share a panel of curves; None: panels are filled in order."""
        return None

    def findings(self, runs: pd.DataFrame, reference: str) -> list[str]:
        """Return further sentences for the summary of a section."""
        return []

    def items(self, runs: pd.DataFrame, reference: str, files: Files) -> list[Figure | PageTable]:
        """Return further figures and tables for a section."""
        return []

    def example(self, ratios: pd.DataFrame, files: Files) -> Figure | None:
        """Return a figure of one run and the optimum; None where there is no suitable run."""
        return None
