"""Run the paper's experiment and write its tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hindsched.bench.grid.experiment import PARTS, Setup, run_experiment
from hindsched.bench.grid.experiment_rows import write_rows
from hindsched.bench.grid.experiment_tables import Rows, log_table, select, tables
from hindsched.bench.output import Table
from hindsched.bench.report import canvas
from hindsched.bench.report.markdown import markdown_table
from hindsched.bench.shared_types import Row
from hindsched.instances.text_files import write_text

__all__ = ["draw_utilisation", "reproduce"]

_TITLES = {
    "I": "Table I: messages and failures by method",
    "II": "Table II: degrees",
    "III": "Table III: dynamic and static overlay, mean waits in seconds",
    "baselines": "Mean waits compared with centralised schedulers",
    "log": "KTH-SP2, mean waits in seconds",
}


def reproduce(folder: Path, setup: Setup, *, num_processes: int, dask: str | None, as_json: bool) -> None:
    """Run the experiment and write its tables and its figure of utilisation.

    Parameters
    ----------
    folder
        Receives ``runs.jsonl``, from which a later call resumes, and the tables of
        `hindsched.bench.grid.experiment_rows`; if all parts are run also ``tables.md``, ``table_*.csv`` and
        ``utilisation.svg``.
    setup
        What is run.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.
    as_json
        Print JSON lines.
    """
    rows = run_experiment(setup, folder, num_processes=num_processes, dask=dask)
    write_rows(rows, folder)
    if set(setup.parts) != set(PARTS):
        return  # the tables need every part
    text = []
    for name, exact in (tables(rows) | {"log": log_table(rows)}).items():
        lines = [{key: round(x, 3) if isinstance(x, float) else x for key, x in line.items()} for line in exact]
        columns = list(lines[0])
        text.append(f"## {_TITLES[name]}\n\n{markdown_table(lines, columns)}")
        write_text(folder / f"table_{name}.csv", _csv(lines, columns))
        table = Table({column: column for column in columns}, as_json, title=_TITLES[name])
        table.add_all(lines)
        table.show()
    write_text(folder / "tables.md", "\n".join(text))
    draw_utilisation(rows, folder / "utilisation.svg")


def draw_utilisation(rows: Rows, path: Path) -> None:
    """Draw requested, executed and possible utilisation per day for the wide jobs of the first seed."""
    shown = [
        row
        for row in select(rows, part="paper", policy="dgs", degree=20, overlay="static", messaging="push", mix="wide")
        if row["seed"] == min(other["seed"] for other in rows if "seed" in other)
    ]
    figure, axes = canvas.new_figure(len(shown), heights=(2.6,) * len(shown))
    for panel, row in zip(axes, shown, strict=True):
        for (name, values), colour in zip(row["days"].items(), canvas.COLOURS, strict=False):
            dash = "--" if name == "possible" else "-"
            panel.plot(range(len(values)), values, label=name, color=colour, linestyle=dash, linewidth=1.2)
        panel.set_title(f"{row['load']:.0%} of load", loc="left", fontsize=10)
        panel.set_ylabel("share of the grid")
        panel.set_ylim(bottom=0)
    axes[-1].set_xlabel("day")
    axes[0].legend(fontsize=8, frameon=False, ncols=3)
    canvas.save(figure, path)


def _csv(lines: Sequence[Row], columns: Sequence[str]) -> str:
    import pandas as pd

    return str(pd.DataFrame(lines, columns=list(columns)).to_csv(index=False, lineterminator="\n"))
