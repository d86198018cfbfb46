"""Write the tables, numbers and figures of the pages on grids from their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.studies.claims import Claim
from docs.studies.grid.claims import judge
from docs.studies.marked_pages import Picture, Writer
from docs.studies.rows import ROWS, read_rows
from hindsched.bench.grid import experiment_rows
from hindsched.bench.grid.experiment_tables import Rows, confidence_interval, log_table, mean_wait_s, select, tables
from hindsched.bench.grid.reproduction import draw_utilisation
from hindsched.bench.report.formatting import MINUS, NOTHING, count
from hindsched.bench.report.markdown import text_table
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Published"]

_DAY_SLOTS = 1440
_SETTINGS = (("wide", 0.28), ("wide", 0.95), ("narrow", 0.28), ("narrow", 0.95))


class Published:
    """The published rows, read when first asked for, and what pages say of them.

    Examples
    --------
    >>> sorted(Published().writers())[:3]
    ['bounds', 'centre', 'claim']
    """

    folder = "grid"

    def writers(self) -> Mapping[str, Writer]:
        """Return who writes the marked parts of pages (see `docs.studies.marked_pages`), by name."""
        parts = (self.ran, self.methods, self.degrees, self.overlays, self.claim, self.centre, self.log, self.whole)
        more = (self.rungs, self.bounds, self.nodes, self.verdicts, self.wait, self.slowest, self.mean_width)
        return {writer.__name__: writer for writer in (*parts, *more)}

    def pictures(self) -> Mapping[str, Picture]:
        """Return the pictures beside the pages, by file."""
        return {"utilisation.svg": Picture(self._days, self._draw)}

    # ---- rows, and tables of them

    @cached_property
    def _rows(self) -> Rows:
        return experiment_rows.read_rows(ROWS)

    @cached_property
    def _tables(self) -> Mapping[str, list[dict[str, Any]]]:
        return tables(self._rows)

    @cached_property
    def _findings(self) -> Sequence[Claim]:
        return judge(self._rows)

    def _frame(self, name: str) -> pd.DataFrame:
        return read_rows(f"grid_{name}")

    def _days(self) -> pd.DataFrame:
        return self._frame("days")

    def _draw(self, path: Path) -> None:
        draw_utilisation(self._rows, path)

    # ---- tables

    def ran(self) -> str:
        """Return what was run: jobs, days and seeds of each part."""
        lines = []
        for mix, load in _SETTINGS:
            mine = select(self._rows, part="paper", mix=mix, load=load)
            jobs, days = mine[0]["jobs"], mine[0]["submitted_slots"] / _DAY_SLOTS
            width = sum(row["mean_width"] for row in mine) / len(mine)
            seeds = _seeds(mine)
            lines.append([f"{mix}, {load:.0%}", f"{jobs:,}", f"{days:.1f}", f"{width:.1f}", seeds, str(len(mine))])
        mine = select(self._rows, part="overlay")
        if mine:
            days = mine[0]["submitted_slots"] / _DAY_SLOTS
            more = [f"{mine[0]['jobs']:,}", f"{days:.1f}", f"{mine[0]['mean_width']:.1f}", _seeds(mine), str(len(mine))]
            lines.append(["wide, 95%, overlays only", *more])
        mine = select(self._rows, part="size")
        jobs = " / ".join(f"{n:,}" for n in sorted({row["jobs"] for row in mine}))
        lines.append(["narrow, 28%, sizes", jobs, NOTHING, NOTHING, _seeds(mine), str(len(mine))])
        mine = select(self._rows, part="log")
        lines.append(["KTH-SP2", f"{mine[0]['jobs']:,}", NOTHING, NOTHING, _seeds(mine), str(len(mine))])
        return text_table(["workload", "jobs", "days", "mean width", "seeds", "runs"], lines)

    def methods(self) -> str:
        """Table I."""
        names = ["workload", "method", "messages", "failed"]
        return text_table(
            names,
            [
                [
                    _where(line),
                    line["method"],
                    _with(line, "messages", ",.0f"),
                    f"{_with(line, 'failed_percent', '.2f')} %",
                ]
                for line in self._tables["I"]
            ],
        )

    def degrees(self) -> str:
        """Table II."""
        lines = [
            [
                _where(line),
                str(line["degree"]),
                f"{_with(line, 'failed_percent', '.2f')} %",
                _with(line, "wait_s", ",.0f"),
                _with(line, "push", ",.0f"),
                _with(line, "pull", ",.0f"),
            ]
            for line in self._tables["II"]
        ]
        return text_table(["workload", "degree", "failed", "mean wait, s", "push", "pull"], lines)

    def overlays(self) -> str:
        """Table III."""
        lines = [
            [
                _where(line),
                str(line["seeds"]),
                _with(line, "dynamic_s", ",.1f"),
                _with(line, "static_s", ",.1f"),
                _with(line, "difference_s", ",.1f"),
            ]
            for line in self._tables["III"]
        ]
        return text_table(["workload", "seeds", "dynamic, s", "static, s", "difference, s"], lines)

    def claim(self, number: str) -> str:
        """Return what the runs say about a claim of the checklist."""
        mine = [finding for finding in self._findings if number in finding.source.split(", ")]
        if not mine:
            raise InputError(f"{number!r}, expected the number of a claim, 1 to 10")
        lines = [[finding.claim, finding.evidence, f"**{finding.verdict}**"] for finding in mine]
        text = ["| the paper | here | |", "|---|---|---|"]
        return "\n".join([*text, *(f"| {' | '.join(line)} |" for line in lines)]) + "\n"

    def centre(self) -> str:
        """Return mean waits of dgs beside schedulers with a centre, at high load."""
        lines = []
        for mix, load in (setting for setting in _SETTINGS if setting[1] > 0.5):
            mine = [line for line in self._tables["baselines"] if (line["mix"], line["load"]) == (mix, load)]
            by_policy = {line["policy"]: line for line in mine}
            for name in ("queue", "easy", "fcfs", "asap_counted", "asap_pinned", "dgs"):
                line = by_policy[name]
                waits = _with(line, "wait_s", ",.1f")
                lines.append([f"{mix}, {load:.0%}", name, waits, f"{_with(line, 'failed_percent', '.2f')} %"])
        return text_table(["workload", "scheduler", "mean wait, s", "failed"], lines)

    def log(self) -> str:
        """Return mean waits on the real log."""
        lines = []
        for line in log_table(self._rows):
            missing = [line[name] for name in ("overlay", "messaging") if isinstance(line[name], str)]
            name = line["policy"] if line["policy"] != "dgs" else "dgs, " + ", ".join(missing)
            is_drawn = line["policy"] == "dgs"  # the others have no seed, so no interval
            wait = _with(line, "wait_s", ",.0f") if is_drawn else f"{line['wait_s']:,.0f}"
            lines.append([line["compress"], name, wait, f"{line['failed_percent']:.2f} %"])
        return text_table(["gaps times", "scheduler", "mean wait, s", "failed"], lines)

    def whole(self) -> str:
        """Return mean waits on the whole log in seconds, and what the schedulers took."""
        names = {"KTH-SP2": "used processors, jobs that ran", "KTH-SP2 as requested": "requested processors, all jobs"}
        lines = []
        for mix, said in names.items():
            for row in select(self._rows, part="whole", mix=mix):
                policy = f"queue({row['rule']})" if row["policy"] == "queue" else row["policy"]
                wait = f"{mean_wait_s(row):,.0f}"
                lines.append([said, f"{row['jobs']:,}", policy, wait, f"{row['seconds']:.3f}"])
        return text_table(["reading", "jobs", "scheduler", "mean wait, s", "run time, s"], lines)

    def rungs(self, kind: str) -> str:
        """Return mean waits from the bound up to dgs: on windows of the log, or on generated workloads."""
        frame = self._frame("waits")
        mine = frame[frame["place"].str.startswith(_one_of(kind, ("log", "generated")))]
        names = ["bound", "best", "queue", "easy", "asap_counted", "asap_pinned", "late 60", "late never", "dgs"]
        lines = []
        for name in names:
            policy, _, patience = name.partition(" ")
            rows = mine[mine["policy"] == policy]
            if patience:
                rows = rows[(rows["patience"] <= 60) == (patience == "60")]
            if rows.empty:
                continue
            by_place = rows.groupby("place", sort=False)[
                ["total_wait", "jobs", "failed", "max_wait", "messages"]
            ].mean()
            ran = by_place["jobs"] - by_place["failed"]
            mean, half = confidence_interval((by_place["total_wait"] / ran).to_list())
            longest = NOTHING if by_place["max_wait"].isna().all() else f"{by_place['max_wait'].max():,.0f}"
            messages = by_place["messages"].sum() / by_place["jobs"].sum()
            said = NOTHING if by_place["messages"].isna().all() else f"{messages:,.0f}"
            shown = {"best": "best known", "late 60": "late, patience 60", "late never": "late, no promises"}
            lines.append([shown.get(name, name), f"{mean:,.1f} ± {half:,.1f}", longest, said])
        return text_table(["rung", "mean wait, slots", "longest", "messages a job"], lines)

    def bounds(self) -> str:
        """Return what is reached on windows of the log."""
        lines = []
        for row in self._frame("bounds").to_dict("records"):
            gap = (row["value"] - row["lower"]) / row["value"] if row["value"] else 0.0
            reached = "optimal" if row["status"] == "optimal" else f"{gap:.0%}"
            numbers = [count(row[name]) for name in ("rules", "value", "lower", "certified")]
            spent = [str(row["limit_s"]), f"{row['processor_s']:.0f}", f"{row['seconds']:.0f}"]
            lines.append([f"{row['first']:,}", f"{row['jobs']:,}", *numbers, reached, *spent])
        names = [
            "first",
            "jobs",
            "best rule",
            "schedule",
            "proven",
            "certificate",
            "gap",
            "limit, s",
            "processor, s",
            "gone by, s",
        ]
        return text_table(names, lines)

    def nodes(self) -> str:
        """Return time and memory on large grids."""
        lines = []
        for row in self._frame("scale").to_dict("records"):
            numbers = [f"{row[name]:,}" for name in ("jobs", "slots")]
            each = [NOTHING if row[name] != row[name] else f"{row[name]:,.1f}" for name in ("job_us", "shuffle_us")]
            times = [f"{row[name]:,.1f}" for name in ("overlay_s", "run_s")]
            lines.append([f"{row['nodes']:,}", row["overlay"], *numbers, *times, *each, f"{row['peak_megabytes']:,}"])
        names = ["nodes", "overlay", "jobs", "slots", "overlay, s", "run, s", "a job, µs", "a shuffle, µs", "peak, MB"]
        return text_table(names, lines)

    # ---- numbers

    def verdicts(self, word: str) -> str:
        """Return how many findings hold, do not, or cannot be told."""
        words = {"holds": "holds", "not": "does not hold here", "open": "undecided"}
        verdict = words[_one_of(word, words)]
        return str(sum(finding.verdict == verdict for finding in self._findings))

    def wait(self, mix: str, load: str, policy: str) -> str:
        """Return the mean wait of a scheduler in seconds."""
        mine = select(self._tables["baselines"], mix=mix, load=float(load), policy=policy)
        if not mine:
            raise InputError(f"{mix} {load} {policy}, expected a workload and a scheduler of the table")
        return f"{mine[0]['wait_s']:,.0f}".replace("-", MINUS)

    def slowest(self) -> str:
        """Return the longest run time on the whole log."""
        return f"{max(row['seconds'] for row in select(self._rows, part='whole')):.2f}"

    def mean_width(self, mix: str) -> str:
        """Return the mean width of a mix."""
        mine = select(self._rows, part="paper", mix=_one_of(mix, ("wide", "narrow")))
        return f"{sum(row['mean_width'] for row in mine) / len(mine):.1f}"


def _seeds(rows: Rows) -> str:
    seeds = sorted({row["seed"] for row in rows})
    return f"{seeds[0]}-{seeds[-1]}" if len(seeds) > 1 else str(seeds[0])


def _where(line: Mapping[str, Any]) -> str:
    return f"{line['mix']}, {line['load']:.0%}"


def _with(line: Mapping[str, Any], name: str, form: str) -> str:
    """Return a mean and half its confidence interval."""
    return f"{line[name]:{form}} ± {line[f'{name}_ci']:{form}}".replace("-", MINUS)


def _one_of(word: str, words: Any) -> str:
    if word not in words:
        raise InputError(f"{word!r}, expected one of {', '.join(words)}")
    return word
