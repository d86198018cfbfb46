"""Write the rows of the experiment as three compact tables.

``grid_runs.csv`` has a line per run. ``grid_days.csv`` (utilisation per day) describes the runs that the paper's
figures show, ``grid_classes.csv`` (waits by class of width, length and area) also runs of two centralised schedulers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hindsched.bench.grid.experiment_tables import Rows
from hindsched.instances.text_files import write_text

__all__ = ["COMPARED", "DAYS", "write_rows"]

_COLUMNS = (
    *("part", "mix", "nodes", "jobs", "load", "seed", "compress", "slot_s", "policy", "degree", "overlay", "messaging"),
    *(
        "fwd",
        "poll_slots",
        "every",
        "rule",
        "failed",
        "total_wait",
        "max_wait",
        "median_wait",
        "ends",
        "searches",
        "queries",
    ),
    *("pull", "push", "poll", "refusals", "allocated_nodes", "failed_reach", "failed_stale", "submitted_slots"),
    *("mean_width", "area", "seconds", "least", "mean", "most", "in_degree_sd", "new_links"),
)
DAYS = ("requested", "executed", "possible")
#: Centralised schedulers whose waits by class stand beside those of dgs: with holes that short jobs fill, and without.
COMPARED = ("asap_counted", "fcfs")
_SHOWN = ("dgs", 20, "static", "push")


def write_rows(rows: Rows, folder: Path) -> None:
    """Write the three tables into a folder."""
    runs, days, classes = [], [], []
    for number, row in enumerate(rows):
        runs.append({name: _short(row.get(name)) for name in _COLUMNS})
        if row["part"] != "paper":
            continue
        is_shown = (row["policy"], row.get("degree"), row.get("overlay"), row.get("messaging")) == _SHOWN
        if is_shown:
            shares = [[f"{share:.4f}" for share in row["days"][name]] for name in DAYS]
            days += [(number, day, *each) for day, each in enumerate(zip(*shares, strict=True))]
        if is_shown or row["policy"] in COMPARED:
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
