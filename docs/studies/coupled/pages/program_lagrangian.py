"""Writers of the results on the program Lagrangian bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from docs.studies.rows import read_rows
from hindsched.bench.report.formatting import count, share
from hindsched.bench.report.markdown import text_table
from hindsched.bench.results.records import records
from hindsched.instances.errors import InputError

__all__ = ["RentsPage"]


class RentsPage:
    """The writers of the part."""

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return who writes the marked parts of pages (see `hindsched.bench.report.marks`), by name."""
        return {"rents": self.table, "rents_cells": self.cells, "rents_number": self.number}

    def table(self) -> str:
        """Return the bound by rents against optima of small instances, by K."""
        names = ("iterations", "instances", "infeasible", "above", "met", "refuted", "certificates", "refused")
        rows = [[count(row[name]) for name in names] for row in _rows("program_lagrangian")]
        heads = ["K", "instances", "impossible", "above", "met", "optimum - 1 refuted", "certificates", "refused"]
        return text_table(heads, rows)

    def cells(self) -> str:
        """Return the bound by rents alone at hard points."""
        names = ("p", "m", "n_com", "wmin", "bound", "parts", "check_s")
        rows = [[f"{row[name]:,}" for name in names] for row in _rows("program_lagrangian_open")]
        return text_table(["p", "m", "n_com", "wmin", "bound", "parts", "evaluated in, s"], rows)

    def number(self, what: str) -> str:
        """Return a sum over all small instances, or ``share NAME`` of them as a percentage, or the cells' seconds."""
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
