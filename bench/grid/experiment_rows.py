"""Write and read the rows of the experiment as three compact tables.

``grid_runs.csv`` has a line per run. ``grid_days.csv`` (utilisation per day) and ``grid_classes.csv`` (waits by class
of width, length and area) describe the runs that the paper's figures show.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsched.bench.grid.experiment_tables import Rows
from hindsched.bench.shared_types import Row
from hindsched.instances.text_files import write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLES", "read_rows", "write_rows"]

TABLES = ("runs", "days", "classes")
_COLUMNS = (
    *("part", "mix", "nodes", "jobs", "load", "seed", "compress", "slot_s", "policy", "degree", "overlay", "messaging"),
    *("rule", "failed", "total_wait", "max_wait", "median_wait", "ends", "searches", "queries", "pull", "push", "poll"),
    *("refusals", "allocated_nodes", "failed_reach", "failed_stale", "submitted_slots", "mean_width", "area"),
    *("seconds", "least", "mean", "most"),
)
_DAYS = ("requested", "executed", "possible")
_FRACTIONAL = {"load", "compress", "mean_width", "seconds", "median_wait"}


def write_rows(rows: Rows, folder: Path) -> None:
    """Write the three tables into a folder."""
    runs, days, classes = [], [], []
    for number, row in enumerate(rows):
        runs.append({name: _short(row.get(name)) for name in _COLUMNS})
        is_shown = row["policy"] == "dgs" and row["part"] == "paper"
        if is_shown and (row["degree"], row["overlay"], row["messaging"]) == (20, "static", "push"):
            shares = [[f"{share:.4f}" for share in row["days"][name]] for name in _DAYS]
            days += [(number, day, *each) for day, each in enumerate(zip(*shares, strict=True))]
            classes += [
                (number, kind, name, *(f"{value:.6g}" for value in summary))
                for kind, each in row["waits"].items()
                for name, summary in each.items()
                if summary
            ]
    write_text(folder / "grid_runs.csv", _csv(runs, _COLUMNS))
    write_text(folder / "grid_days.csv", _csv(days, ("run", "day", *_DAYS)))
    columns = ("run", "kind", "class", "mean_s", "median_s", "decile_s", "jobs")
    write_text(folder / "grid_classes.csv", _csv(classes, columns))


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def _csv(rows: list[Any], columns: tuple[str, ...]) -> str:
    import pandas as pd

    return str(pd.DataFrame(rows, columns=list(columns)).to_csv(index=False, lineterminator="\n"))


def read_rows(folder: Path) -> Rows:
    """Return the rows that a folder's tables hold, in the form of `bench.grid.experiment.run_experiment`."""
    import pandas as pd

    frames = {name: pd.read_csv(folder / f"grid_{name}.csv", dtype={"compress": str}) for name in TABLES}
    rows: list[Row] = []
    for values in frames["runs"].to_dict("records"):
        row = {str(name): value for name, value in values.items() if not pd.isna(value)}
        # a run of less than a day has neither
        empty: Row = {"days": {name: [] for name in _DAYS}, "waits": {}}
        rows.append({name: _number(name, value) for name, value in row.items()} | empty)
    for number, mine in frames["days"].groupby("run"):
        rows[_int(number)]["days"] = {name: mine[name].to_list() for name in _DAYS}
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
