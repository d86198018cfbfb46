"""Run the paper's experiment and write its tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hindsched.bench.grid.experiment import Setup, run_experiment
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
        `hindsched.bench.grid.experiment_rows`, and ``tables.md`` and ``table_*.csv`` of the parts that are run; with
        the part ``paper`` also ``utilisation.svg``.
    setup
        What is run.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.
    as_json
        Print JSON lines.
    """
    rows = run_experiment(setup, folder, num_processes=num_processes, dask=dask)
    write_rows(rows, folder)
    text = []
    for name, exact in (tables(rows) | {"log": log_table(rows)}).items():
        if not exact:
            continue  # of a part that is not run
        lines = [{key: round(x, 3) if isinstance(x, float) else x for key, x in line.items()} for line in exact]
        columns = list(lines[0])
        text.append(f"## {_TITLES[name]}\n\n{markdown_table(lines, columns)}")
        write_text(folder / f"table_{name}.csv", _csv(lines, columns))
        table = Table({column: column for column in columns}, as_json, title=_TITLES[name])
        table.add_all(lines)
        table.show()
    write_text(folder / "tables.md", "\n".join(text))
    if "paper" in setup.parts:
        draw_utilisation(rows, folder / "utilisation.svg")


def draw_utilisation(rows: Rows, path: Path) -> None:
    """Draw RU and EU per day to the end of the last job: a panel per workload, a line per seed."""
    runs = select(rows, part="paper", policy="dgs", degree=20, overlay="static", messaging="push")
    settings = sorted({(row["load"], row["mix"]) for row in runs})
    figure, axes = canvas.new_figure(len(settings), heights=(1.9,) * len(settings))
    for panel, (load, mix) in zip(axes, settings, strict=True):
        mine = select(runs, load=load, mix=mix)
        for row in mine:
            for name, label, colour in (("requested", "RU", 0), ("executed", "EU", 1)):
                values = [100 * share for share in row["days"][name]]
                named = label if row is mine[0] else None
                panel.plot(values, label=named, color=canvas.COLOURS[colour], linewidth=0.9, alpha=0.6)
            last = row["submitted_slots"] * row["slot_s"] / 86_400
            panel.axvline(last, color="black", linestyle=":", linewidth=0.8)
        panel.axhline(100, color="grey", linewidth=0.6)
        panel.set_title(f"{mix} jobs, {load:.0%} of load, {len(mine)} seeds", loc="left", fontsize=9)
        panel.set_ylabel("% of the grid", fontsize=8)
        panel.set_ylim(bottom=0)
        panel.set_xlim(left=0)
    axes[-1].set_xlabel("day (dotted: last submission of each seed)")
    axes[0].legend(fontsize=8, frameon=False, ncols=2)
    canvas.save(figure, path)


def _csv(lines: Sequence[Row], columns: Sequence[str]) -> str:
    import pandas as pd

    return str(pd.DataFrame(lines, columns=list(columns)).to_csv(index=False, lineterminator="\n"))
