"""The reproduction's page and files, and the command that makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hindsched.bench.grid.paper.claims import Finding, findings
from hindsched.bench.grid.paper.published import write_rows
from hindsched.bench.grid.paper.runs import PARTS, Setup, run_experiment
from hindsched.bench.grid.paper.tables import Rows, interval, mean_wait_s, pick, tables
from hindsched.bench.output import Table
from hindsched.bench.report import canvas
from hindsched.bench.report.markdown import markdown_table
from hindsched.instances.text_files import write_text

__all__ = ["draw_utilisation", "log_table", "reproduce"]

_TITLES = {
    "I": "Table I: messages and failures by method",
    "II": "Table II: degrees",
    "III": "Table III: dynamic and static overlay, mean waits in seconds",
    "baselines": "Mean waits beside schedulers with a centre",
}


def reproduce(
    folder: Path,
    *,
    num_processes: int,
    dask: str | None,
    as_json: bool,
    seeds: Sequence[int],
    scale: float,
    log: str | None,
    narrow_seeds: Sequence[int] | None = None,
    overlay_seeds: Sequence[int] = (),
    parts: Sequence[str] = (),
) -> None:
    """Run the experiment, and write tables, utilisation and the list of claims.

    Parameters
    ----------
    folder
        Receives ``runs.jsonl``, from which a later call goes on, the rows as they are published
        (`bench.grid.paper.published`), and if all parts are run ``tables.md``, one CSV a table, ``claims.md``,
        ``claims.csv`` and ``utilisation.svg``.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.
    as_json
        Print JSON lines.
    seeds, scale, log, narrow_seeds, overlay_seeds, parts
        See `hindsched.bench.grid.paper.runs.Setup`.
    """
    narrow = None if narrow_seeds is None else tuple(narrow_seeds)
    setup = Setup(tuple(seeds), scale, log, narrow, tuple(overlay_seeds), tuple(parts) or PARTS)
    rows = run_experiment(setup, folder, num_processes=num_processes, dask=dask)
    write_rows(rows, folder)
    if set(setup.parts) != set(PARTS):
        return  # tables and claims are about all of them
    found = tables(rows) | {"log": log_table(rows)}
    titles = _TITLES | {"log": "KTH-SP2, mean waits in seconds"}
    text = []
    for name, exact in found.items():
        lines = [{key: round(x, 3) if isinstance(x, float) else x for key, x in line.items()} for line in exact]
        columns = list(lines[0])
        text.append(f"## {titles[name]}\n\n{markdown_table(lines, columns)}")
        write_text(folder / f"table_{name}.csv", _csv(lines, columns))
        table = Table({column: column for column in columns}, as_json, title=titles[name])
        table.add_all(lines)
        table.show()
    write_text(folder / "tables.md", "\n".join(text))
    claims = findings(rows)
    said = [asdict(finding) for finding in claims]
    write_text(folder / "claims.md", markdown_table(said, list(said[0])))
    write_text(folder / "claims.csv", _csv(said, list(said[0])))
    draw_utilisation(rows, folder / "utilisation.svg")
    _show_claims(claims, as_json)


def log_table(rows: Rows) -> list[dict[str, Any]]:
    """Return mean waits and failures on the real log, by how much its gaps are compressed and by scheduler."""
    found = []
    runs = pick(rows, part="log")
    keys = ("compress", "policy", "overlay", "messaging")
    for key in dict.fromkeys(tuple(row.get(name) for name in keys) for row in runs):
        mine = pick(runs, **dict(zip(keys, key, strict=True)))
        mean, half = interval(map(mean_wait_s, mine))
        failed = interval([100 * row["failed"] / row["jobs"] for row in mine])[0]
        line = dict(zip(keys, key, strict=True)) | {"jobs": mine[0]["jobs"], "wait_s": mean}
        found.append(line | {"wait_s_ci": half, "failed_percent": failed})
    return found


def draw_utilisation(rows: Rows, path: Path) -> None:
    """Draw requested, executed and possible utilisation day by day: one workload, the first seed."""
    shown = [
        row
        for row in pick(rows, part="paper", policy="dgs", degree=20, overlay="static", messaging="push", mix="wide")
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


def _show_claims(claims: Sequence[Finding], as_json: bool) -> None:
    table = Table({name: name for name in ("number", "claim", "ours", "verdict")}, as_json, title="The paper's claims")
    table.add_all(asdict(finding) for finding in claims)
    table.show()


def _csv(lines: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    import pandas as pd

    return str(pd.DataFrame(lines, columns=list(columns)).to_csv(index=False, lineterminator="\n"))
