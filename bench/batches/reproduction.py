"""Run the paper's experiment and write its tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hindsched.bench.batches.experiment import Setup, run_experiment
from hindsched.bench.batches.experiment_rows import RUN_COLUMNS, flat_row
from hindsched.bench.batches.figures import draw_requests, draw_satisfied
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.output import Table
from hindsched.bench.report.markdown import markdown_table
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import write_text

__all__ = ["reproduce"]

Rows = Sequence[Row]

_SETTING = ("part", "deadline_s", "c", "tasks", "policy", "first", "copies_lambda")
_MEANS = (
    "fed",
    "satisfied_batches",
    "stream_batches",
    "traffic_batches",
    "free_batches",
    "satisfied_tasks",
    "stream_tasks",
    "traffic_tasks",
    "free_tasks",
    "copies_per_task",
    "latency",
    "stream_latency",
    "traffic_latency",
    "free_latency",
    "all_contacts",
)
_COLUMNS = (*_SETTING, "runs", *_MEANS, "shortest_period", "longest_period")
#: Columns that a terminal shows.
_SHOWN = (*_SETTING, "runs", *_MEANS[:3], "satisfied_tasks", "stream_tasks", "copies_per_task", "latency")


def reproduce(
    folder: Path, setup: Setup, *, num_processes: int, dask: str | None, as_json: bool, held: bool = False
) -> None:
    """Run the experiment and write its table and figures.

    Parameters
    ----------
    folder
        Receives ``runs.jsonl``, from which a later call resumes; ``batches_runs.csv``, a line per run; ``table.csv``
        and ``table.md``, a line per setting; ``requests.svg`` and ``satisfied.svg``.
    setup
        What is run.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.
    as_json
        Print JSON lines.
    held
        Run nothing; use the runs that the folder holds.

    Raises
    ------
    InputError
        When ``held`` is given and the folder holds no run of this setup.
    """
    missing = InputError("no run of this experiment, expected at least one", file=folder)
    if held and not (folder / Journal.NAME).exists():  # opening the journal would create it
        raise missing
    rows = run_experiment(setup, folder, num_processes=num_processes, dask=dask, is_held_only=held)
    if not rows:
        raise missing
    means = _means_by_setting(rows)
    write_text(folder / "batches_runs.csv", _csv([flat_row(row) for row in rows], RUN_COLUMNS))
    write_text(folder / "table.csv", _csv(means, _COLUMNS))
    write_text(folder / "table.md", markdown_table([_rounded(line) for line in means], list(_COLUMNS)) + "\n")
    draw_requests(rows, folder / "requests.svg")
    draw_satisfied(rows, folder / "satisfied.svg")
    names = _COLUMNS if as_json else _SHOWN
    table = Table({name: name for name in names}, as_json, title="Batches, means over the start dates")
    table.add_all(means if as_json else map(_rounded, means))
    table.show()


def _means_by_setting(rows: Rows) -> list[Row]:
    """Return the means over the start dates."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in _SETTING), []).append(row)
    found = []
    for key, mine in groups.items():
        line: Row = dict(zip(_SETTING, key, strict=True)) | {"runs": len(mine)}
        for name in _MEANS:
            values = [row[name] for row in mine if row.get(name) is not None]
            line[name] = sum(values) / len(values) if values else None
        line["shortest_period"] = min(row["shortest_period"] for row in mine)
        line["longest_period"] = max(row["longest_period"] for row in mine)
        found.append(line)
    return found


def _rounded(line: Row) -> Row:
    return {
        name: "" if value is None else f"{value:.3f}" if isinstance(value, float) else value
        for name, value in line.items()
    }


def _csv(lines: Rows, columns: Sequence[str]) -> str:
    import pandas as pd

    return str(pd.DataFrame(list(lines), columns=list(columns)).to_csv(index=False))
