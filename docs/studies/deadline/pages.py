"""Write the marked parts of the pages on jobs with a deadline from their rows."""

from __future__ import annotations

from collections.abc import Mapping

from docs.studies.deadline.strategy_runs import mean_ratio, strategies_table
from docs.studies.marked_pages import DataFile, Picture, Writer

__all__ = ["Published"]


class Published:
    """Writers of the marked parts of the pages on jobs with a deadline."""

    folder = "results/deadline"

    def writers(self) -> Mapping[str, Writer]:
        """Return the writers by the first word of a mark."""
        return {"strategies": strategies_table, "strategy": mean_ratio}

    def pictures(self) -> Mapping[str, Picture | DataFile]:
        """Return the pictures and data files next to the pages."""
        return {}
