"""Writers of the tables of solvers that are timed against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from docs.studies.marked_pages import DataFile
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.results.records import records
from hindsched.instances.errors import InputError

__all__ = ["SolverRacePage"]


class SolverRacePage:
    """Writers of the tables and numbers of races, whose rows are ``solver_race.csv`` or ``rival_race.csv``."""

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        return {"solver_race": self.table, "solver_race_span": self.span, "solver_race_total": self.total}

    def files(self) -> dict[str, DataFile]:
        """Return no file: all tables fit a screen."""
        return {}

    def table(self, name: str = "solver_race") -> str:
        """Return the median time of the first solver, and the ratios of the others, by solver and K."""
        rows = _rows(name)
        heads = [f"K = {number}" for number in dict.fromkeys(row["K"] for row in rows)]
        first = rows[0]["solver"]
        lines: dict[str, list[str]] = {}
        for row in rows:
            solver = f"`{row['solver']}`" + (", ms" if row["solver"] == first else f" / `{first}`")
            cell = f"{row['median_ms']:.3g}" if row["solver"] == first else _ratio(row)
            lines.setdefault(solver, [solver]).append(cell)
        return text_table(["solver", *heads], list(lines.values()))

    def span(self, name: str, *solvers: str) -> str:
        """Return the least and the largest median ratio of some solvers, over all K."""
        ratios = [row["median_ratio"] for row in _rows(name) if row["solver"] in solvers]
        if not ratios:
            raise InputError(f"{' '.join(solvers)!r}, expected solvers of {name}.csv")
        return f"{min(ratios):.0f} to {max(ratios):.0f}"

    def total(self, name: str, column: str, *solvers: str) -> str:
        """Return the sum of a column, such as ``faster`` or ``proven``, over all K and some solvers; none: over all."""
        rows = [row for row in _rows(name) if not solvers or row["solver"] in solvers]
        if not rows or column not in rows[0]:
            raise InputError(f"{column} of {' '.join(solvers)!r}, expected a column and solvers of {name}.csv")
        return str(sum(int(row[column]) for row in rows))


def _ratio(row: Mapping[str, Any]) -> str:
    """Return a median ratio; it is a lower bound where at least half of the solves are stopped."""
    bound = "> " if 2 * row["stopped"] >= row["instances"] else ""
    stopped = f" ({row['stopped']} stopped)" if row["stopped"] else ""
    ratio = float(f"{row['median_ratio']:.3g}")
    return f"{bound}{ratio:,g}{stopped}"


def _rows(name: str) -> list[dict[str, Any]]:
    return list(records(read_rows(name)))
