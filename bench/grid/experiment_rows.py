"""Write the rows of the experiment as three compact tables.

``grid_runs.csv`` has a line per run. ``grid_days.csv`` (utilisation per day) and ``grid_classes.csv`` (waits by class
of width, length and area) describe the runs that the paper's figures show.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hindsched.bench.grid.experiment_tables import Rows
from hindsched.instances.text_files import write_text

__all__ = ["DAYS", "write_rows"]

_COLUMNS = (
    *("part", "mix", "nodes", "jobs", "load", "seed", "compress", "slot_s", "policy", "degree", "overlay", "messaging"),
    *("rule", "failed", "total_wait", "max_wait", "median_wait", "ends", "searches", "queries", "pull", "push", "poll"),
    *("refusals", "allocated_nodes", "failed_reach", "failed_stale", "submitted_slots", "mean_width", "area"),
    *("seconds", "least", "mean", "most"),
)
DAYS = ("requested", "executed", "possible")


def write_rows(rows: Rows, folder: Path) -> None:
    """Write the three tables into a folder."""
    runs, days, classes = [], [], []
    for number, row in enumerate(rows):
        runs.append({name: _short(row.get(name)) for name in _COLUMNS})
        is_shown = row["policy"] == "dgs" and row["part"] == "paper"
        if is_shown and (row["degree"], row["overlay"], row["messaging"]) == (20, "static", "push"):
            shares = [[f"{share:.4f}" for share in row["days"][name]] for name in DAYS]
            days += [(number, day, *each) for day, each in enumerate(zip(*shares, strict=True))]
            classes += [
                (number, kind, name, *(f"{value:.6g}" for value in summary))
                for kind, each in row["waits"].items()
                for name, summary in each.items()
                if summary
            ]
    write_text(folder / "grid_runs.csv", _csv(runs, _COLUMNS))
    write_text(folder / "grid_days.csv", _csv(days, ("run", "day", *DAYS)))
    columns = ("run", "kind", "class", "mean_s", "median_s", "decile_s", "jobs")
    write_text(folder / "grid_classes.csv", _csv(classes, columns))


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def _csv(rows: list[Any], columns: tuple[str, ...]) -> str:
    import pandas as pd

    return str(pd.DataFrame(rows, columns=list(columns)).to_csv(index=False, lineterminator="\n"))
