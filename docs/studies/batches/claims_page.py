"""Write the page "The paper, claim by claim" on batches, and the figures that the paper has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from docs.studies.batches.claims import (
    PREDICTORS,
    Order,
    judge,
    orders_of_crowds,
    orders_of_hosts,
    printed_numbers,
)
from docs.studies.batches.copies import BINS
from docs.studies.batches.correlated import OTHERS, QUESTIONS, TASKS, Question, gain, together
from docs.studies.batches.evidence import Evidence, Rows, duration, read_table, select
from docs.studies.claims import Claim, Exhibit
from docs.studies.claims_tables import claims_frame, claims_table, exhibits_table, number_of_claims, printed_table
from docs.studies.estimates import estimate
from docs.studies.marked_pages import DataFile, Picture, Writer
from docs.studies.text_table import text_table
from hindsched.bench.batches.experiment_rows import times_of
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import number, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ClaimsPage"]

#: The figures that stand for several of the paper's, as this page names them.
_CROWD, _PREDICTED, _COPIES, _OVER_TIME = "crowd.svg", "predicted.svg", "copies.svg", "requests_over_time.svg"
_BY_FRACTION, _FED, _HOSTS = "fractions.svg", "fed.svg", "hosts.svg"
#: Copies per task at which the pictures end.
_MOST_COPIES = 7

_EXHIBITS = (
    Exhibit("Figure 1", "not known: the figure is not at hand", "no counterpart"),
    Exhibit(
        "Figures 2a, 2b, 3a, 3b, 4",
        "the trace: stays, availability, lost tasks, active workers (sections 3.1 to 3.3); their axes are not at hand",
        f"the same of drawn volunteers: [picture]({_CROWD})",
    ),
    Exhibit("Table 1", "5th percentile of p by period and window (10 by 6)", "[Table 1](#table-1)"),
    Exhibit(
        "Figures 5a, 5b, 6",
        "prediction of availability by number of states and horizon (section 3.4); heights are not at hand",
        f"a substitute: [picture]({_PREDICTED})",
    ),
    Exhibit(
        "Figures 7, 8",
        "requests per batch of Algorithm 2, without and with shifting (section 5.1)",
        f"[batches with N requests]({_FED}), [distributions](requests.svg), [by batch]({_OVER_TIME})",
    ),
    Exhibit("Figure 9", "batches by share of satisfied tasks (section 5.2)", f"[picture]({_BY_FRACTION})"),
    Exhibit("Algorithms 1 to 3, equation 1", "the masters", "[model](../../batches/model.md#9-readings)"),
)


class ClaimsPage:
    """Writers and files of the page on the paper's claims."""

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks, by name."""
        tables = (
            self.exhibits,
            self.printed,
            self.claims,
            self.table_1,
            self.at_requests,
            self.order,
            self.hosts_order,
            self.correlated,
        )
        numbers = (self.num_claims, self.hosts, self.correlated_errors, self.correlated_most)
        return {writer.__name__: writer for writer in (*tables, *numbers)}

    def files(self) -> dict[str, Picture | DataFile]:
        """Return figures and data files next to the page, by name."""
        return {
            "claims.csv": DataFile(lambda: claims_frame(self._claims)),
            "table_1.csv": DataFile(self._table_1),
            _CROWD: Picture(lambda: self._crowd_frame("paper"), self._draw_crowd),
            _PREDICTED: Picture(lambda: self._crowd_frame(None), self._draw_predicted),
            _FED: Picture(lambda: pd.DataFrame(self._fed()), self._draw_fed),
            _OVER_TIME: Picture(lambda: pd.DataFrame(self._over_time()), self._draw_over_time),
            _BY_FRACTION: Picture(lambda: pd.DataFrame(self._algorithm_3()), self._draw_fractions),
            _COPIES: Picture(
                lambda: pd.DataFrame(self._algorithm_3()), lambda path: _draw_copies(self._algorithm_3(), path)
            ),
            _HOSTS: Picture(
                lambda: pd.DataFrame(self._evidence.hosts),
                lambda path: _draw_copies(self._evidence.hosts, path, ("tasks",)),
            ),
        }

    # ---- rows

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence.stored()

    @cached_property
    def _runs(self) -> list[dict[str, Any]]:
        return read_table("runs")

    @cached_property
    def _forecasts(self) -> list[dict[str, Any]]:
        return read_table("correlated")

    @cached_property
    def _claims(self) -> Sequence[Claim]:
        return judge(self._runs, self._evidence)

    def _algorithm_3(self) -> list[Mapping[str, Any]]:
        names = ["seed", "deadline_s", "c", "policy", "copies_lambda", "copies", "satisfied_batches", "satisfied_tasks"]
        names += [f"at_least_{round(100 * bar)}" for bar in BINS]
        return [{name: row[name] for name in names} for row in self._evidence.copies if row["policy"] in PREDICTORS]

    def _fed(self) -> list[Mapping[str, Any]]:
        return [
            {name: row[name] for name in ("policy", "first", "deadline_s", "c", "tasks", "day", "fed")}
            for row in self._runs
            if row["part"] == "arrivals"
        ]

    def _over_time(self) -> list[Mapping[str, Any]]:
        mine = select(self._evidence.copies, seed=0, deadline_s=14_400, c=3600)
        return [
            {"policy": row["policy"], "damping": row["damping"], "requests": row["requests_by_batch"]}
            for row in mine
            if row["policy"].startswith("A2")
        ]

    def _crowd_frame(self, crowd: str | None) -> pd.DataFrame:
        rows = self._evidence.crowd
        return pd.DataFrame(rows if crowd is None else select(rows, crowd=crowd))

    # ---- tables and numbers

    def num_claims(self, word: str = "all") -> str:
        """Return the number of claims with a verdict."""
        return number_of_claims(self._claims, word)

    def exhibits(self) -> str:
        """Return the paper's tables and figures and where they stand here."""
        return exhibits_table(_EXHIBITS)

    def printed(self) -> str:
        """Return the paper's numbers beside ours."""
        return printed_table(printed_numbers(self._evidence), number)

    def claims(self, *words: str) -> str:
        """Return the claims with these verdicts, see `docs.studies.claims_tables.claims_table`."""
        return claims_table(self._claims, *words)

    def table_1(self) -> str:
        """Return the 5th percentile of p by period and window."""
        frame = self._table_1()
        windows = sorted(set(frame["window_s"]))
        lines = []
        for hours, mine in frame.groupby("period_h"):
            values = dict(zip(mine["window_s"], mine["p5"], strict=True))
            lines.append([f"{hours:g} h", *(f"{values[window]:.2f}" for window in windows)])
        return text_table(["T", *(duration(window) for window in windows)], lines)

    def at_requests(self) -> str:
        """Return satisfied batches and copies of Algorithm 3 by setting and requests per task."""
        rows = self._algorithm_3()
        lines = []
        for deadline_s, c in times_of(rows):
            for requests in sorted({row["copies_lambda"] for row in rows}):
                cells = [_setting(deadline_s, c), str(requests)]
                for policy in PREDICTORS:
                    mine = select(rows, deadline_s=deadline_s, c=c, copies_lambda=requests, policy=policy)
                    done = estimate(row["satisfied_batches"] for row in mine).mean
                    cells += [f"{estimate(row['copies'] for row in mine).mean:.2f}", share(done)]
                lines.append(cells)
        names = [f"{policy[3:]}, {what}" for policy in PREDICTORS for what in ("copies", "batches")]
        return text_table(["D - S, C", "requests per task", *names], lines)

    def order(self) -> str:
        """Return the order of the predictors for drawn volunteers, by setting."""
        return _order_table(orders_of_crowds(self._evidence.copies))

    def hosts_order(self, copies: str) -> str:
        """Return the order of the predictors for real hosts at a number of copies per task, by setting."""
        return _order_table(orders_of_hosts(self._evidence.hosts, float(copies)))

    def hosts(self, what: str) -> str:
        """Return a number of the study of real hosts: hosts, tasks or dates."""
        rows = self._evidence.hosts
        return str(len({row["date"] for row in rows}) if what == "dates" else rows[0][what])

    def correlated(self) -> str:
        """Return what forecasts for real hosts gain by other hosts; gains above 0 with their interval are bold."""
        lines = []
        for question in QUESTIONS:
            rows = self._of(question, "hosts")
            within = f"{question.horizon_h} h"
            asked = f"available in {within}" if question.c is None else f"C = {duration(question.c)} within {within}"
            num = [row["forecasts"] for row in rows]
            brier, right = (
                np.average([row[f"{what}_own"] for row in rows], weights=num) for what in ("brier", "right")
            )
            gains = [gain(rows, other) for other in OTHERS]
            cells = [f"**{one.text('+z.1f')}**" if one.low > 0 else one.text("+z.1f") for one in gains]
            lines.append([asked, f"{brier:.3f}", f"{100 * right:.1f}", *cells])
        return text_table(["forecast", "own: Brier score", "own: right, %", *OTHERS], lines)

    def correlated_errors(self) -> str:
        """Return how the sum of errors over real hosts varies for the paper's tasks, against independent hosts."""
        found = [together(self._of(question, "hosts")).mean for question in TASKS]
        return f"{min(found):.1f} to {max(found):.1f}"

    def correlated_most(self, source: str, end: str) -> str:
        """Return the greatest mean or upper end (``high``) of gains for the paper's tasks, in percent, rounded up."""
        gains = [gain(self._of(question, source), other) for question in TASKS for other in OTHERS]
        return f"{np.ceil(10 * max(getattr(one, end) for one in gains)) / 10:.1f}"

    def _of(self, question: Question, source: str) -> Rows:
        return select(self._forecasts, source=source, horizon_h=question.horizon_h, c=question.c)

    def _table_1(self) -> pd.DataFrame:
        rows = self._evidence.arrivals
        windows = [int(name.removeprefix("p5_").removesuffix("s")) for name in rows[0] if name.startswith("p5_")]
        found = []
        for hours in sorted({row["period_h"] for row in rows}):
            for window in windows:
                here, ideal = (
                    estimate(row[f"p5_{window}s"] for row in select(rows, stream=name, period_h=hours))
                    for name in ("workers", "Poisson")
                )
                printed = 0.22 if (hours, window) == (4, 7200) else None
                head = {"period_h": hours, "window_s": window, "printed": printed}
                ends = {"low": here.low, "high": here.high, "runs": here.num, "p5_poisson": ideal.mean}
                found.append(head | {"p5": here.mean} | ends)
        return pd.DataFrame(found)

    # ---- figures

    def _draw_crowd(self, path: Path) -> None:
        """Draw stays, shares of time and lost tasks of the drawn volunteers."""
        rows = select(self._evidence.crowd, crowd="paper")
        figure, panels = _grid(1, 3, 2.8)
        labels = (
            ("stay_days", "stay, days, at most", "share of workers"),
            ("share", "share of time available, at most", ""),
        )
        for axes, (name, below, beside) in zip(panels[0], labels, strict=False):
            places = sorted({row["x"] for row in rows if row["statistic"] == name and row["x"] is not None})
            means = [estimate(row["value"] for row in select(rows, statistic=name, x=x)).mean for x in places]
            axes.plot(means, places, color=canvas.COLOURS[0])
            axes.set_ylim(0, 1)
            axes.set_xlim(left=0)
            axes.set_xlabel(below)
            axes.set_ylabel(beside)
        axes = panels[0][2]
        for colour, (name, label) in enumerate((("lost", "hours of the clock"), ("lost_available", "available hours"))):
            places = sorted({row["x"] for row in rows if row["statistic"] == name})
            means = [100 * estimate(row["value"] for row in select(rows, statistic=name, x=x)).mean for x in places]
            axes.plot(places, means, "-o", markersize=3, color=canvas.COLOURS[colour], label=label)
        axes.set_xscale("log")
        axes.set_xticks([1, 10, 100], ["1", "10", "100"])
        axes.set_xlabel("length of a task, h")
        axes.set_ylabel("lost tasks, %")
        axes.legend(fontsize=8)
        canvas.save(figure, path)

    def _draw_predicted(self, path: Path) -> None:
        """Draw how often past states predict the present one, by horizon and number of states."""
        figure, panels = _grid(1, 2, 3.2)
        titles = {"paper": "volunteers as drawn for the paper", "daily": "nine tenths with a daily rhythm"}
        for axes, (crowd, title) in zip(panels[0], titles.items(), strict=True):
            rows = select(self._evidence.crowd, crowd=crowd)
            for colour, states in enumerate(sorted({row["states"] for row in rows if row["states"] is not None})):
                mine = select(rows, statistic="predicted", states=states)
                places = sorted({row["x"] for row in mine})
                means = [estimate(row["value"] for row in select(mine, x=x)).mean for x in places]
                label = f"{states} past state{'s' if states > 1 else ''}"
                axes.plot(places, means, "-o", markersize=2.5, color=canvas.COLOURS[colour], label=label)
            share = estimate(row["value"] for row in select(rows, statistic="by_share")).mean
            axes.axhline(
                share, color="black", linestyle="--", linewidth=0.8, label="its more frequent state of five weeks"
            )
            axes.set_xscale("log")
            ticks = [1, 2, 4, 8, 12, 24, 48, 96, 168]
            axes.set_xticks(ticks, [str(tick) for tick in ticks])
            axes.minorticks_off()
            axes.set_xlabel("horizon, h")
            axes.set_title(title, loc="left", fontsize=9)
        panels[0][0].set_ylabel("share of states predicted right")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
        canvas.save(figure, path)

    def _draw_fed(self, path: Path) -> None:
        """Draw the share of batches with N requests by setting: a bar per N, and a dot per start date."""
        rows = self._fed()
        settings = sorted({(row["deadline_s"], row["c"], row["tasks"]) for row in rows})
        figure, panels = _grid(2, 1, 4.2)
        for (axes,), policy in zip(panels, ("A2", "A2-shift"), strict=True):
            for place, (deadline_s, c, tasks) in enumerate(settings):
                mine = select(rows, policy=policy, first="spread", deadline_s=deadline_s, c=c, tasks=tasks)
                shares = [100 * row["fed"] for row in mine]
                axes.bar(place, np.mean(shares), color=canvas.COLOURS[5 if deadline_s == 3600 else 0])
                axes.plot([place] * len(shares), shares, "k.", markersize=4)
            axes.axhline(70, color="black", linewidth=0.8, linestyle="--")
            axes.set_ylim(0, 105)
            axes.set_ylabel("batches with N requests, %", fontsize=8)
            axes.set_title(f"{policy}; dashed: the paper's 70 %", loc="left", fontsize=9)
            axes.set_xticks(range(len(settings)), [""] * len(settings))
        names = [_setting(d, c, "\n") + f"\n{tasks:,}" for d, c, tasks in settings]
        panels[1][0].set_xticks(range(len(settings)), names, fontsize=7)
        panels[1][0].set_xlabel("D - S, C and N; dots are start dates", fontsize=8)
        canvas.save(figure, path)

    def _draw_over_time(self, path: Path) -> None:
        """Draw the requests of each batch over N under Algorithm 2."""
        rows = self._over_time()
        figure, panels = canvas.new_figure(len(rows), heights=(1.5,) * len(rows))
        for axes, row in zip(panels, rows, strict=True):
            axes.plot(row["requests"], color=canvas.COLOURS[0], linewidth=0.9)
            axes.axhline(1, color="black", linewidth=0.8)
            if row["policy"] == "A2-shift" and row["damping"] == 1:
                axes.set_yscale("log")
            else:
                axes.set_ylim(0, 2.5)
            name = "A2" if row["policy"] == "A2" else f"A2-shift, gain 1/{row['damping']}"
            axes.set_title(name, loc="left", fontsize=9)
            axes.set_ylabel("requests / N", fontsize=8)
        panels[-1].set_xlabel("batch")
        canvas.save(figure, path)

    def _draw_fractions(self, path: Path) -> None:
        """Draw batches by their share of satisfied tasks, with requests for two and four copies per task."""
        rows = self._algorithm_3()
        times = times_of(rows)
        figure, panels = _grid(1, 2, 3.6)
        names = ("satisfied_batches", *(f"at_least_{round(100 * bar)}" for bar in BINS))
        labels = ("all tasks", "at least 99 %", "at least 95 %", "at least 90 %", "fewer")
        shades = ("#08306b", "#2171b5", "#6baed6", "#c6dbef", "#f0f0f0")
        for axes, requests in zip(panels[0], (2, 4), strict=True):
            for group, (deadline_s, c) in enumerate(times):
                for bar, policy in enumerate(PREDICTORS):
                    mine = select(rows, deadline_s=deadline_s, c=c, copies_lambda=requests, policy=policy)
                    ends = [0.0, *(100 * estimate(row[name] for row in mine).mean for name in names), 100.0]
                    place = group + 0.27 * (bar - 1)
                    for shade, low, high, label in zip(shades, ends, ends[1:], labels, strict=False):
                        named = label if group == bar == 0 else None
                        style: dict[str, Any] = {"color": shade, "edgecolor": "#666666", "linewidth": 0.4}
                        axes.bar(place, high - low, bottom=low, width=0.25, label=named, **style)
                    axes.text(place, 101, policy[3], ha="center", fontsize=7)
            axes.set_xticks(range(len(times)), [_setting(d, c, "\n") for d, c in times], fontsize=8)
            axes.set_xlabel("D - S and mean C", fontsize=8)
            axes.set_ylim(0, 108)
            axes.set_title(f"requests for {requests} copies per task", loc="left", fontsize=9)
        panels[0][0].set_ylabel("batches, %")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8)
        canvas.save(figure, path)


def _draw_copies(rows: Rows, path: Path, shares: Sequence[str] = ("batches", "tasks")) -> None:
    """Draw shares of satisfied batches and tasks by copies per task, a column per setting."""
    times = times_of(rows)
    figure, panels = _grid(len(shares), len(times), 0.6 + 1.9 * len(shares))
    for column, (deadline_s, c) in enumerate(times):
        for line, what in enumerate(shares):
            axes = panels[line][column]
            for colour, policy in enumerate(PREDICTORS):
                mine = select(rows, deadline_s=deadline_s, c=c, policy=policy)
                points = []
                for requests in sorted({row["copies_lambda"] for row in mine}):
                    here = select(mine, copies_lambda=requests)
                    points.append([estimate(row[of] for row in here).mean for of in ("copies", f"satisfied_{what}")])
                sent, done = zip(*points, strict=True)
                marker = "os^"[colour]
                style: dict[str, Any] = {"color": canvas.COLOURS[colour], "label": policy[3:], "markersize": 3.5}
                axes.plot(sent, [100 * share for share in done], f"-{marker}", **style)
            axes.axvline(2, color="#999999", linewidth=0.8, linestyle="--")
            axes.set_xlim(0, _MOST_COPIES)
            axes.set_xticks(range(0, _MOST_COPIES, 2))
            axes.set_ylim(40, 102) if what == "tasks" else axes.set_ylim(-3, 103)
            if column == 0:
                axes.set_ylabel(f"satisfied {what}, %", fontsize=8)
            if line == 0:
                axes.set_title(f"D - S = {duration(deadline_s)}, C = {duration(c)}", loc="left", fontsize=8)
            if line == len(shares) - 1:
                axes.set_xlabel("copies per task", fontsize=8)
    panels[0][0].legend(fontsize=7, loc="lower right")
    canvas.save(figure, path)


def _grid(rows: int, columns: int, height: float) -> tuple[Figure, list[list[Axes]]]:
    figure, panels = canvas.new_grid(rows, columns)
    figure.set_size_inches(9.0, height)
    return figure, panels


def _setting(deadline_s: int, c: int, between: str = ", ") -> str:
    return f"{duration(deadline_s)}{between}{duration(c)}"


def _order_table(orders: Sequence[Order]) -> str:
    """Return leads with intervals, in percentage points, copies and satisfied batches, a line per setting."""
    lines = [
        [
            _setting(*order.times),
            order.history.text("+.1f"),
            order.speed.text("+.1f"),
            " / ".join(f"{copies:.2f}" for copies in order.sent),
            " / ".join(share(batches) for batches in order.batches),
        ]
        for order in orders
    ]
    names = ["history - speed", "speed - copies", "copies per task (h / s / c)", "satisfied batches (h / s / c)"]
    return text_table(["D - S, C", *names], lines)
