"""Writers of the page on the maximum k-subset intersection: times of the search and of other programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from docs.studies.marked_pages import DataFile
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.results.records import records
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KmisPage"]

#: Columns of the table for each task.
_SHOWN = ("core", "best-c / core", "eclat / core", "cpsat / core")


class KmisPage:
    """Writers of the tables on the k-subset intersection."""

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        return {"kmis": self.table}

    def files(self) -> dict[str, DataFile]:
        """Return no file: the page links to the rows."""
        return {}

    @cached_property
    def _rows(self) -> pd.DataFrame:
        return read_rows("kmis_times")

    def table(self, group: str) -> str:
        """Return the time of the search and the ratios of other programs over it, task A and B side by side."""
        groups = self._rows["group"].unique()
        if group not in groups:
            raise InputError(f"{group!r}, expected one of {', '.join(groups)}")
        shown = [name for name in _SHOWN if name in set(self._rows.loc[self._rows["group"] == group, "quantity"])]
        lines: dict[tuple[Any, ...], dict[tuple[str, str], str]] = {}
        for row in records(self._rows[self._rows["group"] == group]):
            density = "chains" if row["density"] != row["density"] else f"{row['density']:g}"
            point = (row["p"], row["slots"], density, row["m"])
            lines.setdefault(point, {})[row["task"], row["quantity"]] = _number(row)
        keys = [(task, name) for task in "AB" for name in shown]
        heads = [f"{task}: {name}{', ms' if name == 'core' else ''}" for task, name in keys]
        cells = [
            [*(f"{each:,}" if isinstance(each, int) else each for each in point), *(line[key] for key in keys)]
            for point, line in lines.items()
        ]
        return text_table(["p", "slots", "density", "m", *heads], cells)


def _number(row: dict[str, Any]) -> str:
    value = row["value"]
    shown = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    return f"> {shown}" if row["is_lower_bound"] else shown
