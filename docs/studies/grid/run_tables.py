"""Read the three tables of runs on grids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsched.bench.grid.experiment_rows import DAYS
from hindsched.bench.grid.experiment_tables import Rows
from hindsched.bench.shared_types import Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_rows"]

_TABLES = ("runs", "days", "classes")
_FRACTIONAL = {"load", "compress", "mean_width", "seconds", "median_wait", "in_degree_sd", "new_links"}


def read_rows(folder: Path) -> Rows:
    """Return the rows that a folder's tables hold, in the form of `bench.grid.experiment.run_experiment`."""
    import pandas as pd

    frames = {name: pd.read_csv(folder / f"grid_{name}.csv", dtype={"compress": str}) for name in _TABLES}
    rows: list[Row] = []
    for values in frames["runs"].to_dict("records"):
        row = {str(name): value for name, value in values.items() if not pd.isna(value)}
        # a run of less than a day has neither
        empty: Row = {"days": {name: [] for name in DAYS}, "waits": {}}
        rows.append({name: _number(name, value) for name, value in row.items()} | empty)
    for number, mine in frames["days"].groupby("run"):
        rows[_int(number)]["days"] = {name: mine[name].to_list() for name in DAYS}
    for number, mine in frames["classes"].groupby("run"):
        rows[_int(number)]["waits"] = _waits(mine)
    return rows


def _waits(mine: pd.DataFrame) -> dict[str, dict[str, list[float]]]:
    waits: dict[str, dict[str, list[float]]] = {}
    for values in mine.to_dict("records"):
        summary = [values[name] for name in ("mean_s", "median_s", "decile_s", "jobs")]
        waits.setdefault(values["kind"], {})[str(values["class"])] = summary
    return waits


def _number(name: str, value: Any) -> Any:
    return int(value) if isinstance(value, float) and name not in _FRACTIONAL else value


def _int(value: Any) -> int:
    return int(value)
