"""Write the tables, numbers and figures of the pages on grids from their rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.studies.claims_tables import one_of
from docs.studies.estimates import estimate
from docs.studies.grid import run_tables
from docs.studies.grid.claims import DAY_SLOTS, interval_text
from docs.studies.grid.claims_page import ClaimsPage
from docs.studies.grid.dynamics_page import DynamicsPage
from docs.studies.marked_pages import DataFile, Picture, Writer
from docs.studies.rows import ROWS, read_rows
from docs.studies.text_table import text_table
from hindsched.bench.grid.experiment_tables import (
    Rows,
    confidence_interval,
    log_table,
    mean_wait_s,
    scheduler,
    select,
    tables,
)
from hindsched.bench.grid.reproduction import draw_utilisation
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import MINUS, NOTHING, count
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Published"]

_SETTINGS = (("wide", 0.28), ("wide", 0.95), ("narrow", 0.28), ("narrow", 0.95))
#: Schedulers from the bound to dgs, with the patience of ``late``, and their names in tables.
_WAITS = (
    ("bound", None, "proven bound"),
    ("best", None, "best known"),
    ("queue", None, "queue(length)"),
    ("easy", None, "easy"),
    ("asap_counted", None, "asap_counted"),
    ("asap_pinned", None, "asap_pinned"),
    ("late", 60, "late, patience 60"),
    ("late", 10**9, "late, no promises"),
    ("dgs", None, "dgs"),
)
#: Steps from dgs to the queue, and the price that each shows.
_STEPS = (
    ("dgs", "asap_pinned", "decentralisation"),
    ("asap_pinned", "asap_counted", "fixed nodes"),
    ("asap_counted", "easy", "promises to waiting jobs behind the first"),
    ("easy", "queue(file)", "the promise to the first waiting job"),
    ("queue(file)", "queue(length)", "order of submission instead of the shortest first"),
)
_CENTRALISED = ("queue(length)", "queue(file)", "easy", "fcfs", "asap_counted", "asap_pinned", "dgs")


class Published:
    """Writers of the marked parts of the pages on grids.

    Examples
    --------
    >>> sorted(Published().writers())[:3]
    ['before', 'bounds', 'burst']
    """

    folder = "results/grid"

    def writers(self) -> Mapping[str, Writer]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        parts = (
            self.workloads,
            self.centralised,
            self.steps,
            self.log,
            self.whole_log,
            self.waits,
            self.bounds,
            self.scale,
        )
        numbers = (self.wait, self.less, self.solved, self.gap, self.slowest, self.mean_width)
        mine = {writer.__name__: writer for writer in (*parts, *numbers)}
        return mine | self._claims_page.writers() | DynamicsPage().writers()

    def pictures(self) -> Mapping[str, Picture | DataFile]:
        """Return the figures and data files next to the pages, by name."""
        return {
            "utilisation.svg": Picture(lambda: read_rows("grid_days"), lambda path: draw_utilisation(self._rows, path)),
            "waits.svg": Picture(lambda: self._drawn_waits, self._draw_waits),
            "bounds.svg": Picture(lambda: read_rows("grid_bounds"), _draw_bounds),
            **DynamicsPage().files(),
        } | self._claims_page.files()

    # ---- rows, and tables of them

    @cached_property
    def _rows(self) -> Rows:
        return run_tables.read_rows(ROWS)

    @cached_property
    def _tables(self) -> Mapping[str, list[dict[str, Any]]]:
        return tables(self._rows)

    @cached_property
    def _claims_page(self) -> ClaimsPage:
        return ClaimsPage(lambda: self._rows)

    @cached_property
    def _drawn_waits(self) -> pd.DataFrame:
        """The mean waits at 95 % of load by scheduler."""
        import pandas as pd

        return pd.DataFrame([line for line in self._tables["baselines"] if line["load"] == 0.95])

    # ---- tables

    def workloads(self) -> str:
        """Return jobs, days and seeds of each part of the experiment."""
        parts = [
            (f"{mix}, {load:.0%}", select(self._rows, part="paper", mix=mix, load=load)) for mix, load in _SETTINGS
        ]
        parts += [
            ("wide, 95%, overlays only", select(self._rows, part="overlay")),
            ("both mixes, other numbers of nodes", select(self._rows, part="size")),
            ("both mixes, 95%, searchers, polls, rounds", select(self._rows, part="sweep")),
            ("KTH-SP2", select(self._rows, part="log")),
        ]
        lines = []
        for name, mine in parts:
            jobs = _range([row["jobs"] for row in mine])
            is_log = mine[0]["mix"] == "KTH-SP2"
            days = NOTHING if is_log else _range([row["submitted_slots"] / DAY_SLOTS for row in mine])
            is_mixed = len({row["mix"] for row in mine}) > 1 or is_log
            width = NOTHING if is_mixed else f"{estimate(row['mean_width'] for row in mine).mean:.1f}"
            lines.append([name, jobs, days, width, _seeds(mine), str(len(mine))])
        return text_table(["workload", "jobs", "days", "mean width", "seeds", "runs"], lines)

    def centralised(self) -> str:
        """Return waits of dgs and of centralised schedulers at high load."""
        lines = []
        for mix, name in product(("wide", "narrow"), _CENTRALISED):
            (line,) = select(self._tables["baselines"], mix=mix, load=0.95, policy=name)
            longest = max(row["max_wait"] * row["slot_s"] for row in self._runs(mix, name))
            lines.append([f"{mix}, 95%", name, _with_interval(line, "wait_s", ",.1f"), f"{longest:,.0f}"])
        return text_table(["workload", "scheduler", "mean wait, s", "longest, s"], lines)

    def _runs(self, mix: str, name: str) -> Rows:
        """Return the runs of a scheduler at 95 % of load."""
        usual = {"degree": 20, "overlay": "static", "messaging": "push"} if name == "dgs" else {}
        return [row for row in select(self._rows, part="paper", mix=mix, load=0.95, **usual) if scheduler(row) == name]

    def log(self) -> str:
        """Return mean waits on the real log by scheduler and compression of its gaps."""
        lines: dict[str, list[str]] = {}
        gaps = []
        for line in log_table(self._rows):
            gaps.append(line["compress"])
            words = [line[name] for name in ("overlay", "messaging") if isinstance(line[name], str)]
            name = line["policy"] if line["policy"] != "dgs" else "dgs, " + ", ".join(words)
            is_random = line["policy"] == "dgs"
            wait = _with_interval(line, "wait_s", ",.0f") if is_random else f"{line['wait_s']:,.0f}"
            failed = f" ({line['failed_percent']:.2f} % failed)" if line["failed_percent"] >= 0.005 else ""
            lines.setdefault(name, []).append(f"{wait}{failed}")
        names = [f"gaps times {gap}" for gap in dict.fromkeys(gaps)]
        return text_table(["scheduler", *names], [[name, *cells] for name, cells in lines.items()])

    def whole_log(self) -> str:
        """Return mean waits on the whole log in slots of a second, and run times."""
        lines: dict[str, list[str]] = {}
        mixes = ("KTH-SP2", "KTH-SP2 as requested")
        for mix in mixes:
            for row in select(self._rows, part="whole", mix=mix):
                lines.setdefault(scheduler(row), []).extend([f"{mean_wait_s(row):,.0f}", f"{row['seconds']:.3f}"])
        head = ["scheduler"]
        for mix, text in zip(mixes, ("used processors", "requested processors, all jobs"), strict=True):
            jobs = select(self._rows, part="whole", mix=mix)[0]["jobs"]
            head += [f"mean wait, s: {text} ({jobs:,} jobs)", "run time, s"]
        return text_table(head, [[policy, *cells] for policy, cells in lines.items()])

    def waits(self, kind: str) -> str:
        """Return mean waits from the bound to dgs on windows of the ``log`` or on ``generated`` workloads."""
        frame = read_rows("grid_waits")
        mine = frame[frame["place"].str.startswith(one_of(kind, ("log", "generated")))]
        lines = []
        for policy, patience, name in _WAITS:
            rows = mine[mine["policy"] == policy]
            if patience is not None:
                rows = rows[rows["patience"] == patience]
            if rows.empty:
                continue
            columns = ["total_wait", "jobs", "failed", "messages"]
            by_place = rows.groupby("place", sort=False)[columns].mean()
            mean, half = confidence_interval(
                (by_place["total_wait"] / (by_place["jobs"] - by_place["failed"])).to_list()
            )
            longest = NOTHING if rows["max_wait"].isna().all() else f"{rows['max_wait'].max():,.0f}"
            per_job = by_place["messages"].sum() / by_place["jobs"].sum()
            messages = NOTHING if by_place["messages"].isna().all() else f"{per_job:,.0f}"
            lines.append([name, f"{mean:,.1f} ± {half:,.1f}", longest, messages])
        return text_table(["scheduler", "mean wait, slots", "longest", "messages per job"], lines)

    def bounds(self) -> str:
        """Return schedules and bounds on windows of the log."""
        lines = []
        for row in read_rows("grid_bounds").to_dict("records"):
            numbers = [count(row[name]) for name in ("rules", "value", "lower", "certified")]
            spent = [str(row["limit_s"]), f"{row['processor_s']:.0f}", f"{row['seconds']:.0f}"]
            lines.append([f"{row['first']:,}", f"{row['jobs']:,}", *numbers, _gap(row), *spent])
        names = ["first job", "jobs", "best rule", "schedule", "proven", "certificate", "gap"]
        return text_table([*names, "limit, s", "processor, s", "elapsed, s"], lines)

    def scale(self) -> str:
        """Return time and memory on large grids."""
        lines = []
        for row in read_rows("grid_scale").to_dict("records"):
            numbers = [f"{row[name]:,}" for name in ("jobs", "slots")]
            each = [NOTHING if row[name] != row[name] else f"{row[name]:,.1f}" for name in ("job_us", "shuffle_us")]
            times = [f"{row[name]:,.1f}" for name in ("overlay_s", "run_s")]
            lines.append([f"{row['nodes']:,}", row["overlay"], *numbers, *times, *each, f"{row['peak_megabytes']:,}"])
        names = [
            "nodes",
            "overlay",
            "jobs",
            "slots",
            "overlay, s",
            "run, s",
            "µs per job",
            "µs per shuffle",
            "peak, MB",
        ]
        return text_table(names, lines)

    # ---- numbers

    def wait(self, mix: str, load: str, policy: str) -> str:
        """Return the mean wait of a scheduler in seconds, with its interval."""
        mine = select(self._tables["baselines"], mix=mix, load=float(load), policy=policy)
        if not mine:
            raise InputError(f"{mix} {load} {policy}, expected a workload and a scheduler of the table")
        return _with_interval(mine[0], "wait_s", ",.0f")

    def steps(self) -> str:
        """Return how much longer jobs wait at 95 % of load with one scheduler than with the next, in seconds."""
        lines = []
        for longer, shorter, price in _STEPS:
            waits = [
                estimate(
                    mean_wait_s(a) - mean_wait_s(b)
                    for a, b in zip(self._runs(mix, longer), self._runs(mix, shorter), strict=True)
                )
                for mix in ("wide", "narrow")
            ]
            lines.append([f"{longer} - {shorter}", price, *(interval_text(each, ",.0f") for each in waits)])
        return text_table(["step", "price of", "wide, s", "narrow, s"], lines)

    def solved(self) -> str:
        """Return on how many windows of 50 jobs of the log the best schedule is proven optimal, of how many."""
        rows = read_rows("grid_waits")
        status = rows[rows["policy"] == "best"]["status"]
        return f"{(status == 'optimal').sum()} of {len(status)}"

    def less(self, kind: str, patience: str) -> str:
        """Return how many slots less jobs wait with ``late`` than with dgs, on the ``log`` or on ``generated`` jobs."""
        frame = read_rows("grid_waits")
        mine = frame[frame["place"].str.startswith(one_of(kind, ("log", "generated")))]
        late = mine[(mine["policy"] == "late") & (mine["patience"] == int(patience))]
        columns = ["total_wait", "jobs", "failed"]
        means = [rows.groupby("place")[columns].mean() for rows in (mine[mine["policy"] == "dgs"], late)]
        dgs, other = (each["total_wait"] / (each["jobs"] - each["failed"]) for each in means)
        return estimate((dgs - other).to_list()).text(",.1f").replace("-", MINUS)

    def gap(self, jobs: str) -> str:
        """Return the gap of the window with a number of jobs."""
        rows = {str(row["jobs"]): row for row in read_rows("grid_bounds").to_dict("records")}
        return _gap(rows[one_of(jobs, rows)])

    def slowest(self) -> str:
        """Return the longest run time on the whole log."""
        return f"{max(row['seconds'] for row in select(self._rows, part='whole')):.2f}"

    def mean_width(self, mix: str) -> str:
        """Return the mean width of a mix."""
        mine = select(self._rows, part="paper", mix=one_of(mix, ("wide", "narrow")))
        return f"{sum(row['mean_width'] for row in mine) / len(mine):.1f}"

    # ---- figures

    def _draw_waits(self, path: Path) -> None:
        """Draw the mean waits at 95 % of load on a logarithmic axis, with a panel per mix."""
        figure, panels = canvas.new_figure(2, heights=(2.2, 2.2))
        for axes, mix in zip(panels, ("wide", "narrow"), strict=True):
            mine = self._drawn_waits[self._drawn_waits["mix"] == mix].sort_values("wait_s")
            for row in mine.to_dict("records"):
                marker, colour = ("s", 1) if row["policy"] == "dgs" else ("o", 0)
                style: dict[str, Any] = {"fmt": marker, "color": canvas.COLOURS[colour], "capsize": 3}
                axes.errorbar(row["wait_s"], row["policy"], xerr=row["wait_s_ci"], **style)
            axes.set_xscale("log")
            axes.margins(y=0.1)
            axes.grid(axis="x", which="both", linewidth=0.3)
            axes.set_title(f"{mix} jobs, 95 % of load", loc="left", fontsize=10)
        panels[-1].set_xlabel("mean wait, s (with 95 % confidence intervals)")
        canvas.save(figure, path)


def _draw_bounds(path: Path) -> None:
    """Draw best rule, schedule and bound of each window over the schedule."""
    rows = read_rows("grid_bounds").to_dict("records")
    figure, (axes,) = canvas.new_figure(1, heights=(3.0,))
    for place, (name, label) in enumerate((("rules", "best rule"), ("value", "schedule"), ("lower", "proven bound"))):
        places = [i + 0.27 * (place - 1) for i in range(len(rows))]
        axes.bar(
            places, [row[name] / row["value"] for row in rows], width=0.25, color=canvas.COLOURS[place], label=label
        )
    axes.set_xticks(range(len(rows)), [f"{row['jobs']:,} jobs" for row in rows])
    axes.set_ylabel("total wait / that of the schedule")
    axes.legend(fontsize=8, frameon=False)
    canvas.save(figure, path)


def _gap(row: Mapping[Any, Any]) -> str:
    if row["status"] == "optimal":
        return "optimal"
    return f"{(row['value'] - row['lower']) / row['value'] if row['value'] else 0.0:.0%}"


def _range(values: list[float]) -> str:
    """Return the least and the greatest value as whole numbers, or one number if they are equal."""
    return " to ".join(dict.fromkeys(f"{value:,.0f}" for value in (min(values), max(values))))


def _seeds(rows: Rows) -> str:
    seeds = sorted({row["seed"] for row in rows})
    return f"{seeds[0]}-{seeds[-1]}" if len(seeds) > 1 else str(seeds[0])


def _with_interval(line: Mapping[str, Any], name: str, form: str) -> str:
    """Return a mean and half its confidence interval, or 0 if all values are 0."""
    if line[name] == line[f"{name}_ci"] == 0:
        return "0"
    return f"{line[name]:{form}} ± {line[f'{name}_ci']:{form}}".replace("-", MINUS)
