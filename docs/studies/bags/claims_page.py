"""Write the page "The paper, claim by claim" on bags, and the figures that the paper has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from docs.studies.bags.claims import TABLE_2, by_hits, from_replication, ideal_minutes, judge
from docs.studies.bags.evidence import READINGS, Evidence, as_percent, change, chosen, run_of, setting_of
from docs.studies.bags.sweeps import FALSE, HITS, OPTIONS, PREDICTORS
from docs.studies.bags.traces import BAG_COLUMNS, RUNS, WHEN, column, optimum_column
from docs.studies.claims import Claim, Exhibit, PrintedNumber
from docs.studies.claims_tables import (
    claims_frame,
    claims_table,
    exhibits_table,
    number_of_claims,
    one_of,
    printed_table,
)
from docs.studies.estimates import Estimate, estimate
from docs.studies.marked_pages import DataFile, Picture, Writer
from docs.studies.text_table import text_table
from hindsched.bench.bags.configuration_means import draw_bars
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import MINUS, count
from hindsched.instances.bags import Store
from hindsched.instances.bags.clock import TimeOfWeek, time_of_week
from hindsched.instances.bags.generate import OFF_RATE, REFERENCE_SPEED, SLOT_S, SPEEDS, TRACES, classroom, timetabled
from hindsched.instances.states import UP
from hindsched.online.bags import PAPER_POLICIES, Absence

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ClaimsPage"]

_FIGURE_1, _FIGURES, _FIGURE_6 = "figure1.svg", "weekday-{}.svg", "weekend-{}.svg"
_EXHIBITS = (
    Exhibit(
        "Table 1",
        "four types of machines: CPU, index, ratio",
        "[Table 1](#table-1); the names of the CPUs are not at hand",
    ),
    Exhibit("Table 2", "ideal times", "[Table 2](#table-2)"),
    Exhibit(
        "Figure 1",
        "machines that are on, over 39 days",
        f"[of both substitute traces]({_FIGURE_1}); the original is lost",
    ),
    Exhibit(
        "Figures 2 to 5",
        "turnaround / IET on weekdays, private and shared stores",
        "[M01](weekday-M01.svg), [M04](weekday-M04.svg); the paper prints no heights of bars",
    ),
    Exhibit("Figure 6", "the same at weekends", "[M01](weekend-M01.svg), [M04](weekend-M04.svg)"),
)
#: Printed ratios of Table 1.
_RATIOS = {"A": 0.518, "B": 0.861, "C": 1.511, "D": 1.692}
#: Bags of the claims on prediction.
_PREDICTED = (
    ("M01, 1800 s", {"machines": "M01", "reference_s": 1800}),
    ("M04, 7200 s", {"machines": "M04", "reference_s": 7200}),
    ("M01, 25 of 7200 s", {"machines": "M01", "reference_s": 7200, "tasks": 25}),
    ("M01, 25 of 1800 s", {"machines": "M01", "reference_s": 1800, "tasks": 25}),
)
#: Stores of the bar charts.
_BARS = (
    ("private, noticed", Store.PRIVATE, Absence.NOTICED),
    ("private, unnoticed", Store.PRIVATE, Absence.UNNOTICED),
    ("shared", Store.SHARED, Absence.NOTICED),
)


class ClaimsPage:
    """Writers and files of the page on the paper's claims."""

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks, by name."""
        tables = (self.exhibits, self.claims, self.table_1, self.table_2, self.readings)
        more = (self.by_predictor, self.both_optima, self.other_readings)
        numbers = (self.num_claims, self.trace_runs, self.excess, self.failing)
        return {writer.__name__: writer for writer in (*tables, *more, *numbers)}

    def files(self) -> dict[str, Picture | DataFile]:
        """Return figures and data files next to the page, by name."""
        bars: dict[str, Picture | DataFile] = {
            f"{when}-{machines}.svg": Picture(partial(self._bars, machines, when), partial(self._draw, machines, when))
            for when in WHEN
            for machines in ("M01", "M04")
        }
        return bars | {
            "claims.csv": DataFile(lambda: claims_frame(self._claims)),
            "cells.csv": DataFile(self._cells),
            "sweeps.csv": DataFile(self._sweeps),
            _FIGURE_1: Picture(_machines_on, _draw_machines_on),
        }

    @cached_property
    def evidence(self) -> Evidence:
        """The stored rows."""
        return Evidence.stored()

    @cached_property
    def _claims(self) -> Sequence[Claim]:
        return judge(self.evidence)

    # ---- tables

    def exhibits(self) -> str:
        """Return the paper's tables and figures and where they stand here."""
        return exhibits_table(_EXHIBITS)

    def claims(self, *words: str) -> str:
        """Return the claims with these verdicts, see `docs.studies.claims_tables.claims_table`."""
        return claims_table(self._claims, *words)

    def table_1(self) -> str:
        """Return the types of machines; CPUs are not at hand."""
        rows = [
            [kind, "not at hand", f"{speed / 1000:.3f}", f"{_RATIOS[kind]}", f"{speed / REFERENCE_SPEED:.3f}"]
            for kind, speed in SPEEDS.items()
        ]
        mean = sum(SPEEDS.values()) / len(SPEEDS)
        rows.append(["mean", "", f"{mean / 1000:.3f}", "1.146", f"{mean / REFERENCE_SPEED:.3f}"])
        return text_table(["type", "CPU", "index printed", "ratio printed", "ratio here"], rows)

    def table_2(self) -> str:
        """Return the ideal times beside the printed ones."""
        numbers = [
            PrintedNumber("Table 2", machines, f"{tasks} tasks of {R} s", minutes, ideal_minutes(machines, tasks, R))
            for (machines, tasks, R), minutes in TABLE_2.items()
        ]
        return printed_table(numbers)

    def readings(self) -> str:
        """Return what decides between the readings of absences: a column per reading."""
        rows = self.evidence.of("weekday")
        fair = chosen(rows, machines="M04", tasks=75, reference_s=1800)
        bare = chosen(rows, checkpoints=0)
        end = self.evidence.of("weekend", machines="M01")
        shared, private = Store.SHARED, Store.PRIVATE
        lines: list[list[str]] = []
        for text, mine, (run, store), (other, base) in (
            (
                "FCFS does fairly, 75 of 1800 s, M04: FCFS over FCFS-TR, private",
                fair,
                ("FCFS", private),
                ("FCFS-TR", private),
            ),
            ("the same, shared", fair, ("FCFS", shared), ("FCFS-TR", shared)),
            (
                "at weekends the others are alike: FCFS over FCFS-AT, M01, private",
                end,
                ("FCFS", private),
                ("FCFS-AT", private),
            ),
            ("FCFS-AT differs from FCFS, shared", rows, ("FCFS-AT", shared), ("FCFS", shared)),
            ("sharing pays without checkpoints: FCFS, shared over private", bare, ("FCFS", shared), ("FCFS", private)),
            ("the same, FCFS-TR", bare, ("FCFS-TR", shared), ("FCFS-TR", private)),
            ("sharing helps: FCFS, shared over private", rows, ("FCFS", shared), ("FCFS", private)),
            ("the same, FCFS-TR", rows, ("FCFS-TR", shared), ("FCFS-TR", private)),
        ):
            pairs = [(run_of(run, store, each), run_of(other, base, each)) for each in READINGS]
            cells = ["equal" if mine[a].equals(mine[b]) else as_percent(change(mine, a, b)) for a, b in pairs]
            lines.append([text, *cells])
        return text_table(["sentence and statistic", *READINGS], lines)

    def by_predictor(self) -> str:
        """Return the change from FCFS-TR by the predictor, with shared stores."""
        columns = [
            {
                option: from_replication(self.evidence, option, store="shared", **bag)
                for option in ("predictor", "noisy")
            }
            for _, bag in _PREDICTED
        ]
        named = [(f"`{name}`", "predictor", name) for name in PREDICTORS]
        noisy = [(by_hits(value), "noisy", value) for value in (f"{hits},{false}" for hits in HITS for false in FALSE)]
        lines = [
            [text, *(as_percent(each[option][value]) for each in columns)] for text, option, value in named + noisy
        ]
        return text_table(["predictor", *(name for name, _ in _PREDICTED)], lines)

    def both_optima(self) -> str:
        """Return FCFS-PRDCT-DMD over the optimum without and with saves on demand, shared stores on weekdays."""
        lines = []
        for machines in ("M01", "M04"):
            for checkpoints in (0, 1, 9):
                rows = self.evidence.of("weekday", machines=machines, checkpoints=checkpoints)
                cells = []
                for name in ("FCFS-TR", "FCFS-PRDCT-DMD", "oracle"):
                    run = column(name, Store.SHARED, Absence.NOTICED)
                    ends, demand = (
                        _ratio(change(rows, run, optimum_column(Store.SHARED, on_demand=each)))
                        for each in (False, True)
                    )
                    cells.append(f"{ends} [{demand}]")
                lines.append([machines, str(checkpoints), *cells])
        return text_table(["machines", "checkpoints", "FCFS-TR", "`hour`", "oracle"], lines)

    def other_readings(self) -> str:
        """Return the relative changes by the other readings, for both sets of machines."""
        frame = self._sweeps()
        frame = frame[frame["option"].isin(list(OPTIONS))]
        lines = []
        for (option, value), mine in frame.groupby(["option", "value"], sort=True):
            cells = []
            for policy in PAPER_POLICIES:
                changes = mine[mine["policy"] == policy]["change"]
                ends = f"{changes.min():+z.1%} to {changes.max():+z.1%}" if len(changes) else ""
                cells.append(ends.replace("-", MINUS))
            lines.append([f"`{option}={value}`", *cells])
        return text_table(["reading", *PAPER_POLICIES], lines)

    # ---- numbers

    def num_claims(self, word: str = "all") -> str:
        """Return the number of claims with a verdict."""
        return number_of_claims(self._claims, word)

    def trace_runs(self, kind: str = "all") -> str:
        """Return a number of runs on the traces: all, starts, traces, swept traces, unfinished, optima, unproven."""
        rows = self.evidence.traces
        if one_of(kind, ("all", "starts", "traces", "swept", "unfinished", "optima", "unproven")) == "traces":
            return count(rows["seed"].nunique())
        if kind == "swept":
            return count(self.evidence.sweeps["seed"].nunique())
        if kind in ("unfinished", "unproven"):
            return count(int(rows[kind].sum()))
        starts = rows.drop_duplicates(["trace", "seed", "when"])["starts"].sum()
        if kind == "starts":
            return count(int(starts))
        columns = len(RUNS) if kind == "all" else sum(str(name).startswith("OPT ") for name in rows)
        return count(int(rows["starts"].sum()) * columns)

    def excess(self, policy: str, other: str, store: str, reading: str, when: str = "weekday") -> str:
        """Return the relative change from one policy to another, in percent; a reading is given with underscores."""
        name = one_of(reading.replace("_", " "), READINGS)
        rows = self.evidence.of(one_of(when, WHEN))
        runs = [run_of(one_of(each, PAPER_POLICIES), Store(store), name) for each in (policy, other)]
        return as_percent(change(rows, *runs))

    def failing(self) -> str:
        """Return the probability that an independent machine fails in a slot by day."""
        return f"{OFF_RATE * SLOT_S / 3600:.2%}"

    # ---- rows and figures

    def _cells(self) -> pd.DataFrame:
        """Return the means of turnaround / IET over the traces of each kind."""
        rows = self.evidence.traces
        names = ["trace", "when", *BAG_COLUMNS]
        return rows.groupby(names, sort=True).mean(numeric_only=True).drop(columns=["seed", "starts"]).reset_index()

    def _sweeps(self) -> pd.DataFrame:
        """Return the mean relative changes of the sweeps with intervals over traces."""
        import pandas as pd

        found = []
        names = ["option", "value", "machines", "store", "policy"]
        for key, mine in self.evidence.sweeps.groupby(names, sort=True):
            each = estimate(mine.groupby(["trace", "seed"])["change"].mean().tolist())
            found.append([*key, each.mean, each.low, each.high, each.num])
        return pd.DataFrame(found, columns=[*names, "change", "low", "high", "traces"])

    def _bars(self, machines: str, when: str) -> pd.DataFrame:
        """Return the means over all traces, a row per bag, store and policy."""
        import pandas as pd

        rows = self.evidence.of(when, machines=machines)
        means = rows.groupby(list(BAG_COLUMNS), sort=True).mean(numeric_only=True)
        found = []
        for bag, row in zip(means.index.tolist(), means.to_dict("records"), strict=True):
            for (label, store, absence), policy in ((bar, policy) for bar in _BARS for policy in PAPER_POLICIES):
                run = setting_of(policy, store, absence)
                best = optimum_column(store, on_demand=policy == "FCFS-PRDCT-DMD")
                found.append([*bag, when, label, policy, row[run], row[best]])
        names = [*BAG_COLUMNS, "when", "store", "policy", "slowdown", "optimum_slowdown"]
        return pd.DataFrame(found, columns=names)

    def _draw(self, machines: str, when: str, path: Path) -> None:
        canvas.save(draw_bars(self._bars(machines, when), machines, when), path)


def _ratio(excess: Estimate) -> str:
    return f"{1 + excess.mean:.2f}"


def _machines_on() -> pd.DataFrame:
    """Return the number of machines that are on by hour, for one trace of each kind."""
    import pandas as pd

    step = 3600 // SLOT_S
    frames = {
        name: (draw(0) == UP).sum(axis=0)[::step] for name, draw in zip(TRACES, (classroom, timetabled), strict=True)
    }
    return pd.DataFrame(frames)


def _draw_machines_on(path: Path) -> None:
    """Draw the machines that are on over 39 days, with nights and weekends in grey."""
    frame = _machines_on()
    figure, panels = canvas.new_figure(len(TRACES), width=9.0, heights=(1.9,) * len(TRACES))
    days = [i / 24 for i in range(len(frame))]
    for axes, name in zip(panels, TRACES, strict=True):
        quiet = [time_of_week(i * 3600 * 1000) is not TimeOfWeek.DAY for i in range(len(frame))]
        axes.fill_between(days, 0, 32, where=quiet, color="#eeeeee", linewidth=0, step="post")
        axes.plot(days, frame[name], color=canvas.COLOURS[0], linewidth=0.8)
        axes.axhline(17.42, color="black", linestyle="--", linewidth=0.8, label="printed mean, 17.42")
        axes.set_xlim(0, 39)
        axes.set_ylim(0, 32)
        axes.set_ylabel("machines on", fontsize=8)
        axes.set_title(f"trace `{name}`", loc="left", fontsize=9)
    panels[0].legend(fontsize=7, loc="lower right")
    panels[-1].set_xlabel("days after Monday 0:00; nights and weekends are grey", fontsize=8)
    canvas.save(figure, path)
