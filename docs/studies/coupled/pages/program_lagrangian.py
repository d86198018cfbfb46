"""Writers of the results on the program Lagrangian bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from docs.studies.marked_pages import DataFile
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report.formatting import count, share
from hindsched.bench.results.records import records
from hindsched.instances.errors import InputError

__all__ = ["ProgramLagrangianPage"]


class ProgramLagrangianPage:
    """Writers of the tables and numbers on the program Lagrangian bound."""

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        return {
            "program_lagrangian": self.table,
            "program_lagrangian_open": self.open_points,
            "program_lagrangian_number": self.number,
        }

    def files(self) -> dict[str, DataFile]:
        """Return no file: all tables fit a screen."""
        return {}

    def table(self) -> str:
        """Return the bound against optima of small instances, by K."""
        names = ("iterations", "instances", "infeasible", "above", "met", "refuted", "certificates", "refused")
        rows = [[count(row[name]) for name in names] for row in _rows("program_lagrangian")]
        heads = ["K", "instances", "infeasible", "above", "equal", "optimum - 1 refuted", "certificates", "refused"]
        return text_table(heads, rows)

    def open_points(self) -> str:
        """Return the bound alone at points that the search leaves open."""
        names = ("p", "m", "n_com", "wmin", "bound", "parts", "check_s")
        rows = [[f"{row[name]:,}" for name in names] for row in _rows("program_lagrangian_open")]
        return text_table(["p", "m", "n_com", "wmin", "bound", "nodes", "seconds to evaluate"], rows)

    def number(self, what: str) -> str:
        """Return the sum of a column over small instances; ``share_COLUMN``: per instance; ``seconds``: of a search."""
        if what == "seconds":
            return " or ".join(sorted({str(row["seconds"]) for row in _rows("program_lagrangian_open")}))
        rows = _rows("program_lagrangian")
        name = what.removeprefix("share_")
        if name not in rows[0]:
            raise InputError(f"{what!r}, expected a column of program_lagrangian.csv, or share_ and one")
        total = sum(row[name] for row in rows)
        return share(total / sum(row["instances"] for row in rows)) if name != what else count(total)


def _rows(name: str) -> list[dict[str, Any]]:
    return list(records(read_rows(name)))
