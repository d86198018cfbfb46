"""The reproduction's page and files, and the command that makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hindsched.bench.batches.paper.arrivals import arrivals
from hindsched.bench.batches.paper.claims import Finding, findings
from hindsched.bench.batches.paper.rows import RUN_COLUMNS, flat
from hindsched.bench.batches.paper.runs import Setup, run_experiment
from hindsched.bench.batches.paper.theorem import Tally, verify
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.output import Table
from hindsched.bench.report import canvas
from hindsched.bench.report.markdown import markdown_table
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import write_text

__all__ = ["draw_requests", "draw_satisfied", "reproduce"]

Rows = Sequence[Mapping[str, Any]]

#: Workers of the paper's section 3.3.
_CALLERS = 11_320
_NO_RUN = "no run of this experiment, expected some to tell of"
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


def reproduce(
    folder: Path,
    *,
    num_processes: int,
    dask: str | None,
    as_json: bool,
    days: Sequence[int],
    batches: int,
    scale: float,
    seed: int,
    held: bool = False,
) -> None:
    """Run the experiment, test hypothesis 1 and Theorem 1, and write tables, pictures and the list of claims.

    Parameters
    ----------
    folder
        Receives ``runs.jsonl``, from which a later call goes on; ``table``, ``arrivals`` and ``claims`` as ``.csv``
        and ``.md``; ``requests.svg`` and ``satisfied.svg``; ``batches_runs.csv``, ``batches_arrivals.csv`` and
        ``batches_theorem.csv``, from which the documentation is written.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.
    as_json
        Print JSON lines.
    days, batches, scale, seed
        See `hindsched.bench.batches.paper.runs.Setup`.
    held
        Make nothing new; tell of what the folder holds.

    Raises
    ------
    InputError
        When none is asked for and none is held.
    """
    if held and not (folder / Journal.NAME).exists():  # opened, it would be made
        raise InputError(_NO_RUN, file=folder)
    calls = _calls(folder, max(1, round(_CALLERS * scale)), seed, is_held_only=held)
    tally = _tally(folder, is_held_only=held)
    setup = Setup(tuple(days), batches, scale, seed)
    rows = run_experiment(setup, folder, num_processes=num_processes, dask=dask, is_held_only=held)
    if not rows:
        raise InputError(_NO_RUN, file=folder)
    theorem = [] if tally is None else [asdict(tally)]
    for name, lines in (("runs", [flat(row) for row in rows]), ("arrivals", calls), ("theorem", theorem)):
        if lines:
            keys = RUN_COLUMNS if name == "runs" else tuple(lines[0])
            write_text(folder / f"batches_{name}.csv", _csv(lines, keys))
    found = [asdict(finding) for finding in findings(rows, calls, tally)]
    columns = tuple(Finding.__dataclass_fields__)
    for name, lines, keys in (
        ("table", _by_setting(rows), _COLUMNS),
        *([("arrivals", calls, tuple(calls[0]))] if calls else []),
        ("claims", found, columns),
    ):
        write_text(folder / f"{name}.csv", _csv(lines, keys))
        write_text(folder / f"{name}.md", markdown_table([_shown(line) for line in lines], list(keys)) + "\n")
    draw_requests(rows, folder / "requests.svg")
    draw_satisfied(rows, folder / "satisfied.svg")
    shown = Table({name: name for name in columns}, as_json, title="Claims of the paper")
    shown.add_all(found)
    shown.show()


def _calls(folder: Path, workers: int, seed: int, *, is_held_only: bool) -> list[dict[str, Any]]:
    """Return the rows of hypothesis 1, made once; none if they are not held and nothing is to be made."""
    key = job_key("batches", "online", "arrivals tested at the even rate", workers, seed)
    job = Job(key, f"contacts of {workers} workers", _calls_row, (workers, seed), group="arrivals")
    row = _made_once(folder, job, is_held_only=is_held_only)
    return [] if row is None else list(row["rows"])


def _calls_row(workers: int, seed: int) -> dict[str, Any]:
    return {"kind": "arrivals", "rows": arrivals(workers, seed)}


def _tally(folder: Path, *, is_held_only: bool) -> Tally | None:
    """Return what became of Theorem 1, case by case, made once; None if it is not held and nothing is to be made."""
    job = Job(job_key("batches", "online", "theorem"), "Theorem 1", _tally_row, (), group="theorem")
    row = _made_once(folder, job, is_held_only=is_held_only)
    return None if row is None else Tally(**{name: row[name] for name in Tally.__dataclass_fields__})


def _made_once(folder: Path, job: Job, *, is_held_only: bool) -> dict[str, Any] | None:
    """Return the row of a job, made if the folder does not hold it; or None."""
    with Journal(folder) as journal:
        if not is_held_only:
            run_jobs("reproduce", [job], journal, num_processes=1)
        return dict(journal[job.key]) if job.key in journal else None


def _tally_row() -> dict[str, Any]:
    return {"kind": "theorem", **asdict(verify())}


def _by_setting(rows: Rows) -> list[dict[str, Any]]:
    """Return the means over the days."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in _SETTING), []).append(row)
    found = []
    for key, mine in groups.items():
        line: dict[str, Any] = dict(zip(_SETTING, key, strict=True)) | {"runs": len(mine)}
        for name in _MEANS:
            values = [row[name] for row in mine if row.get(name) is not None]
            line[name] = sum(values) / len(values) if values else None
        line["shortest_period"] = min(row["shortest_period"] for row in mine)
        line["longest_period"] = max(row["longest_period"] for row in mine)
        found.append(line)
    return found


def _shown(line: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: "" if value is None else f"{value:.3f}" if isinstance(value, float) else value
        for name, value in line.items()
    }


def _csv(lines: Rows, columns: Sequence[str]) -> str:
    import pandas as pd

    return str(pd.DataFrame(list(lines), columns=list(columns)).to_csv(index=False))


def draw_requests(rows: Rows, path: Path) -> None:
    """Draw how many requests batches got, as shares of N: the paper's Figures 6 and 7."""
    figure, panels = canvas.new_figure(2, heights=(3.2, 3.2))
    for axes, first in zip(panels, ("spread", "start"), strict=True):
        for place, policy in enumerate(("A2", "A2-shift")):
            wanted = ("arrivals", policy, first)
            mine = [row for row in rows if (row["part"], row["policy"], row["first"]) == wanted]
            for row in mine:
                label = policy if row is mine[0] else None
                shares = [tenth / 10 for tenth in range(11)]
                axes.plot(row["requests"], shares, color=canvas.COLOURS[place], alpha=0.4, label=label)
        axes.axvline(1.0, color="black", linewidth=0.8)
        axes.set_xlim(0, 3)
        axes.set_xlabel("requests between submission and L, over N")
        axes.set_ylabel("share of batches")
        axes.set_title(f"first = {first}: one curve a setting and day", loc="left", fontsize=10)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="lower right")
    canvas.save(figure, path)


def draw_satisfied(rows: Rows, path: Path) -> None:
    """Draw satisfied batches by predictor beside the rung ``stream``: the paper's Figure 8."""
    mine = [row for row in rows if (row["part"], row["first"], row.get("copies_lambda")) == ("batches", "spread", 2)]
    ratios = sorted({row["deadline_s"] / row["c"] for row in mine})
    figure, (axes,) = canvas.new_figure(1, heights=(3.6,))
    policies = list(dict.fromkeys(row["policy"] for row in mine))
    for place, policy in enumerate([*policies, "stream"]):
        name = "stream_batches" if policy == "stream" else "satisfied_batches"
        middles, heights = [], []
        for x, ratio in enumerate(ratios):
            there = [row for row in mine if row["deadline_s"] / row["c"] == ratio]
            chosen = [row[name] for row in there if policy in ("stream", row["policy"])]
            if chosen:
                middles.append(x + 0.2 * (place - 1.5))
                heights.append(sum(chosen) / len(chosen))
        axes.bar(middles, heights, width=0.18, color=canvas.COLOURS[place], label=policy)
    axes.set_xticks(range(len(ratios)), [f"D/{ratio:g}" for ratio in ratios])
    axes.set_ylabel("share of batches satisfied")
    axes.set_title("stream: the best in hindsight on the runs' own contacts", loc="left", fontsize=10)
    axes.legend(loc="upper left")
    canvas.save(figure, path)
