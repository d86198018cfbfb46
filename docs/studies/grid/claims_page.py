"""Write the page "The paper, claim by claim" on grids, and its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.studies.claims import Claim, Exhibit, PrintedNumber
from docs.studies.claims_tables import claims_frame, claims_table, exhibits_table, number_of_claims, one_of
from docs.studies.estimates import Estimate, estimate
from docs.studies.grid.claims import (
    CLASS_NAMES,
    DAY_SLOTS,
    Setting,
    class_means,
    dgs_runs,
    interval_text,
    judge,
    settings_of,
    size_rates,
    whole_days,
)
from docs.studies.marked_pages import DataFile, Picture, Writer
from docs.studies.text_table import text_table
from hindsched.bench.grid.experiment import CLASSES
from hindsched.bench.grid.experiment_rows import COMPARED
from hindsched.bench.grid.experiment_tables import Rows, mean_wait_s, overlay_pairs, per_day, select
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import NOTHING
from hindsched.bench.shared_types import Row

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ClaimsPage"]

_EXECUTED, _CLASSES, _MESSAGES = "executed.svg", "classes.svg", "messages.svg"
#: Slots between two rounds of Cyclon in these runs, and in some further ones.
_EVERY, _RARE = 10, 1_000
#: Workloads whose waits the figures show: elsewhere nearly no job waits.
_BUSY = (("wide", 0.95), ("narrow", 0.95))

_EXHIBITS = (
    Exhibit("Figures 1, 2; Section 3.8", "not at hand", "not judged"),
    Exhibit("Figure 3", "the search of a node", "[model](../../grid/model.md#33-dgs)"),
    Exhibit("Table I", "messages and lost jobs of Push, Pull and Poll", "[Table I](#table-i)"),
    Exhibit("Table II", "four degrees: lost jobs, waits, messages", "[Table II](#table-ii)"),
    Exhibit("Table III", "waits over the dynamic and the static overlay", "[Table III](#table-iii)"),
    Exhibit("Figure 4", "requested and executed utilisation over time", "[picture](utilisation.svg)"),
    Exhibit(
        "Figures 5a to 5d, 6a, 6b",
        "utilisation, waits by width, length and area, and messages; their axes are not at hand, nor which is which",
        f"[EU against RU]({_EXECUTED}), [waits by class]({_CLASSES}), "
        f"[messages by number of nodes and degree]({_MESSAGES})",
    ),
)

#: Printed values, by row and column, None where the paper leaves a place empty.
_TABLE_1: Mapping[str, tuple[float, ...]] = {
    "push": (152_277, 0.0),
    "pull": (2_187_928, 0.0),
    "poll": (72_000_000, 0.21),
}
_TABLE_2: Mapping[int, tuple[float, ...]] = {
    10: (1.5, 247, 75_592, 1_108_196),
    20: (0.0, 394, 192_713, 5_421_255),
    30: (0.0, 467, 282_813, 11_632_289),
    40: (0.0, 452, 346_302, 13_097_892),
}
_TABLE_3 = {0.28: (936.0, 848.0), 0.95: (16_858.0, 14_913.0)}
_COLUMNS_1 = ("messages per day", "failed, %")
_COLUMNS_2 = ("failed, %", "mean wait, s", "push per day", "pull per day")
_COLUMNS_3 = ("dynamic, s", "static, s", "difference, s", "difference, %")


class ClaimsPage:
    """Writers and files of the page on the paper's claims.

    Parameters
    ----------
    rows
        Returns the runs of the experiment.
    """

    def __init__(self, rows: Callable[[], Rows]) -> None:
        self._load = rows

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks, by name."""
        tables = (self.exhibits, self.claims, self.versus, self.sweep, self.sizes, self.lengths, self.rare_rounds)
        more = (self.first_schedules, self.num_claims, self.requested, self.in_degree)
        return {writer.__name__: writer for writer in (*tables, *more)}

    def files(self) -> dict[str, Picture | DataFile]:
        """Return figures and data files next to the page, by name."""
        return {
            "claims.csv": DataFile(lambda: claims_frame(self._claims)),
            "printed_numbers.csv": DataFile(self._numbers_frame),
            _EXECUTED: Picture(self._days, self._draw_executed),
            _CLASSES: Picture(self._waits, self._draw_classes),
            _MESSAGES: Picture(self._messages, self._draw_messages),
        }

    @cached_property
    def _rows(self) -> Rows:
        return self._load()

    @cached_property
    def _paper(self) -> Rows:
        return select(self._rows, part="paper")

    @cached_property
    def _settings(self) -> Sequence[Setting]:
        return settings_of(self._paper)

    @cached_property
    def _claims(self) -> Sequence[Claim]:
        return judge(self._rows)

    # ---- printed numbers

    @cached_property
    def _numbers(self) -> Sequence[PrintedNumber]:
        """The numbers of Tables I to III, printed and here, by workload: the last word of ``row``."""
        found = []
        for setting in self._settings:
            where = _name(setting)
            for method, printed in _TABLE_1.items():
                runs = dgs_runs(self._paper, setting, messaging="poll" if method == "poll" else "push")
                here = _estimates(runs, partial(per_day, name=method), _failed)
                found += _beside("I", f"{method}, {where}", _COLUMNS_1, printed, here)
            for degree, printed in _TABLE_2.items():
                runs = dgs_runs(self._paper, setting, degree=degree)
                measures = (_failed, mean_wait_s, partial(per_day, name="push"), partial(per_day, name="pull"))
                found += _beside("II", f"{degree}, {where}", _COLUMNS_2, printed, _estimates(runs, *measures))
            dynamic, static = _TABLE_3[setting[1]]
            pairs = overlay_pairs(self._rows, *setting)
            here = [
                estimate(a for a, _ in pairs),
                estimate(b for _, b in pairs),
                estimate(a - b for a, b in pairs),
                estimate(100 * (a - b) / b if b else 0.0 for a, b in pairs),
            ]
            printed = (dynamic, static, dynamic - static, round(100 * (dynamic - static) / static, 2))
            found += _beside("III", f"{setting[1]:.0%}, {where}", _COLUMNS_3, printed, here)
        return found

    def _numbers_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self._numbers)

    # ---- tables

    def exhibits(self) -> str:
        """Return the paper's tables and figures and where they stand here."""
        return exhibits_table(_EXHIBITS)

    def claims(self, *words: str) -> str:
        """Return the claims with these verdicts, see `docs.studies.claims_tables.claims_table`."""
        return claims_table(self._claims, *words)

    def versus(self, table: str) -> str:
        """Return a table of the paper: each printed number, and the number here in each workload."""
        mine = [number for number in self._numbers if number.table == one_of(table, ("I", "II", "III"))]
        lines: dict[tuple[str, str], list[str]] = {}
        places = [_name(setting) for setting in self._settings]
        for number in mine:
            row, _, where = number.row.partition(", ")
            line = lines.setdefault((row, number.column), ["", *[NOTHING] * len(places)])
            line[0] = NOTHING if number.printed is None else f"{number.printed:,}"
            line[1 + places.index(where)] = _written(number)
        if table == "III":
            columns = ["mix", *places]
            places = list(dict.fromkeys(mix for mix, _ in self._settings))
            by_load = {
                key: [line[0], *(line[columns.index(f"{mix} {key[0]}")] for mix in places)]
                for key, line in lines.items()
            }
            lines = by_load
        names = {"I": "method", "II": "degree", "III": "load"}
        return text_table([names[table], "", "printed", *places], [[*key, *line] for key, line in lines.items()])

    def rare_rounds(self) -> str:
        """Return how much longer jobs wait over the dynamic overlay than over the static one, by rounds of Cyclon."""
        lines = []
        for setting in self._settings:
            rare = dgs_runs(select(self._rows, part="sweep"), setting, overlay="cyclon")
            if rare:
                static, often = (dgs_runs(self._paper, setting, overlay=name) for name in ("static", "cyclon"))
                cells = [interval_text(_paired(runs, static), ",.1f") for runs in (often, rare)]
                lines.append([_name(setting), *cells, str(len(rare))])
        names = [f"a round every {slots:,} slots, s" for slots in (_EVERY, _RARE)]
        return text_table(["dynamic - static", *names, "seeds"], lines)

    def sweep(self, option: str) -> str:
        """Return runs by number of searchers (``fwd``) or by slots between polls (``poll_slots``)."""
        messaging, usual = {"fwd": ("push", 5), "poll_slots": ("poll", 2)}[one_of(option, ("fwd", "poll_slots"))]
        names = ("push", "pull") if option == "fwd" else ("poll",)
        runs = select(self._rows, part="sweep", overlay="static", messaging=messaging)
        lines = []
        for mix in dict.fromkeys(row["mix"] for row in runs):
            for value in sorted({row[option] for row in select(runs, mix=mix)}):
                mine = select(runs, mix=mix, **{option: value})
                wait, failed = _estimates(mine, mean_wait_s, _failed)
                messages = _estimates(mine, *(partial(per_day, name=name) for name in names))
                longer = _paired(mine, select(runs, mix=mix, **{option: usual}))
                cells = [interval_text(wait, ",.0f"), interval_text(longer, ",.0f") if value != usual else NOTHING]
                cells += [interval_text(failed), *(interval_text(each, ",.0f") for each in messages)]
                lines.append([mix, str(value), *cells, str(wait.num)])
        what = {"fwd": "searchers", "poll_slots": "slots between polls"}[option]
        head = ["jobs", what, "mean wait, s", f"difference to {usual}, s", "failed, %"]
        return text_table([*head, *(f"{name} per day" for name in names), "runs"], lines)

    def sizes(self) -> str:
        """Return waits, queries and messages per node by number of nodes."""
        lines = []
        for setting in self._settings:
            runs = [row for part in ("size", "paper") for row in dgs_runs(select(self._rows, part=part), setting)]
            for nodes in sorted({row["nodes"] for row in runs}):
                mine = select(runs, nodes=nodes)
                wait, queries, push, pull = _estimates(
                    mine,
                    mean_wait_s,
                    lambda row: row["queries"] / row["searches"],
                    lambda row: per_day(row, "push") / row["nodes"],
                    lambda row: per_day(row, "pull") / row["nodes"],
                )
                numbers = [
                    interval_text(wait, ",.0f"),
                    interval_text(queries),
                    interval_text(push, ".1f"),
                    interval_text(pull, ",.1f"),
                    str(len(mine)),
                ]
                lines.append([_name(setting), f"{nodes:,}", *numbers])
        names = ["mean wait, s", "queries per search", "push per node and day", "pull per node and day", "runs"]
        return text_table(["workload", "M", *names], lines)

    def lengths(self) -> str:
        """Return mean waits by length at 95 % of load: dgs, and centralised schedulers with and without holes."""
        found = {
            (setting, policy): class_means(self._paper, setting, "length", policy)
            for setting, policy in product(_BUSY, ("dgs", *COMPARED))
        }
        lines = []
        for name in _names("length"):
            waits = [means.get(name) for means in found.values()]
            lines.append([name, *(NOTHING if wait is None else interval_text(wait, ",.0f") for wait in waits)])
        return text_table(["length", *(f"{mix}, {policy}" for (mix, _), policy in found)], lines)

    def first_schedules(self) -> str:
        """Return messages per day with the first schedules over new links, which push over Cyclon needs."""
        links = self._links()
        a_day = estimate(each * DAY_SLOTS / _EVERY for each in links)
        lines = []
        for setting in self._settings:
            runs = dgs_runs(self._paper, setting, overlay="cyclon")
            push, pull = _estimates(runs, partial(per_day, name="push"), partial(per_day, name="pull"))
            rooms = [per_day(row, "pull") - per_day(row, "push") for row in runs]
            periods = [a_day.mean * _EVERY / room for room in rooms if room > 0]
            period = interval_text(estimate(periods), ",.0f") if len(periods) == len(rooms) else NOTHING
            first, second, last = (interval_text(each, ",.0f") for each in (push, a_day, pull))
            lines.append([_name(setting), first, second, f"{push.mean + a_day.mean:,.0f}", last, period])
        names = ["push", "first schedules", "both", "pull", "least period, min"]
        return text_table(["per day, dynamic", *names], lines)

    # ---- numbers

    def num_claims(self, word: str = "all") -> str:
        """Return the number of claims with a verdict."""
        return number_of_claims(self._claims, word)

    def requested(self, load: str) -> str:
        """Return the greatest RU of a day at a load, in percent."""
        runs = select(self._paper, load=float(load), policy="dgs", degree=20, overlay="static", messaging="push")
        return f"{100 * max(max(row['days']['requested']) for row in runs):.0f}"

    def in_degree(self, overlay: str) -> str:
        """Return the standard deviation of the number of nodes that list a node at degree 20."""
        mine = select(self._rows, part="reach", degree=20, overlay=one_of(overlay, ("static", "cyclon")))
        return f"{estimate(row['in_degree_sd'] for row in mine).mean:.1f}"

    def _links(self) -> list[float]:
        return [row["new_links"] for row in select(self._rows, part="reach", degree=20, overlay="cyclon")]

    # ---- figures

    def _days(self) -> pd.DataFrame:
        """Return RU and EU of each day until the last submission."""
        import pandas as pd

        rows = [
            {"setting": _name(setting), "requested": requested, "executed": executed}
            for setting in self._settings
            for run in dgs_runs(self._paper, setting)
            for requested, executed in whole_days(run)
        ]
        return pd.DataFrame(rows)

    def _draw_executed(self, path: Path) -> None:
        """Draw EU against RU, a point per day."""
        figure, (axes,) = canvas.new_figure(1, width=6.4, heights=(4.2,))
        for colour, (name, mine) in enumerate(self._days().groupby("setting", sort=False)):
            style: dict[str, Any] = {"s": 9, "alpha": 0.6, "linewidths": 0, "marker": "osD^"[colour % 4]}
            axes.scatter(
                100 * mine["requested"], 100 * mine["executed"], color=canvas.COLOURS[colour], label=name, **style
            )
        axes.plot([0, 100, 170], [0, 100, 100], color="black", linewidth=0.8, label="min(RU, 100 %)")
        axes.axhline(90, color="grey", linestyle=":", linewidth=0.8, label="90 %")
        axes.set_xlabel("RU of a day, % of the grid")
        axes.set_ylabel("EU of the day, % of the grid")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=8, frameon=False)
        canvas.save(figure, path)

    def _waits(self) -> pd.DataFrame:
        """Return mean waits by class at 95 % of load."""
        import pandas as pd

        rows = []
        for setting, kind in product(_BUSY, CLASSES):
            for name, wait in class_means(self._paper, setting, kind).items():
                rows.append({"mix": setting[0], "kind": kind, "class": name, **wait._asdict()})
        return pd.DataFrame(rows)

    def _draw_classes(self, path: Path) -> None:
        """Draw mean waits by width, length and area on a logarithmic axis, with intervals."""
        frame = self._waits()
        figure, (panels,) = canvas.new_grid(1, len(CLASSES))
        labels = ("width, nodes", "length", "area, quarter of the jobs")
        for axes, kind, label in zip(panels, CLASSES, labels, strict=True):
            names = _names(kind)
            for colour, (mix, _) in enumerate(_BUSY):
                mine = frame[(frame["kind"] == kind) & (frame["mix"] == mix)]
                places = [names.index(name) for name in mine["class"]]
                least = [max(low, mean / 10) for low, mean in zip(mine["low"], mine["mean"], strict=True)]
                ends = [mine["mean"] - least, mine["high"] - mine["mean"]]
                style: dict[str, Any] = {"fmt": ("-o", "--s")[colour], "markersize": 4, "capsize": 3}
                axes.errorbar(places, mine["mean"], yerr=ends, color=canvas.COLOURS[colour], label=mix, **style)
            axes.set_xticks(range(len(names)), [name.removeprefix("quarter ") for name in names], fontsize=8)
            axes.set_yscale("log")
            axes.set_xlabel(label)
        _share_heights(panels)
        panels[0].set_ylabel("mean wait, s, at 95 % of load")
        panels[0].legend(fontsize=8, frameon=False)
        canvas.save(figure, path)

    def _messages(self) -> pd.DataFrame:
        """Return messages per node and day by number of nodes, and by degree."""
        import pandas as pd

        rows = []
        for setting, method in product(self._settings, ("push", "pull")):
            head = {"setting": _name(setting), "method": method}
            for nodes, rates in size_rates(self._rows, setting, method).items():
                rows.append(head | {"along": "nodes", "x": nodes} | estimate(rates.values())._asdict())
            for degree in _TABLE_2:
                runs = dgs_runs(self._paper, setting, degree=degree)
                found = estimate(per_day(row, method) / row["nodes"] for row in runs)
                rows.append(head | {"along": "degree", "x": degree} | found._asdict())
        return pd.DataFrame(rows)

    def _draw_messages(self, path: Path) -> None:
        """Draw messages per node and day against the number of nodes and the degree."""
        frame = self._messages()
        figure, (panels,) = canvas.new_grid(1, 2)
        names = {"nodes": "M, nodes (d = 20)", "degree": "d, degree (M = 5,000)"}
        for axes, (along, label) in zip(panels, names.items(), strict=True):
            for number, ((setting, method), mine) in enumerate(
                frame[frame["along"] == along].groupby(["setting", "method"], sort=False)
            ):
                style: dict[str, Any] = {"fmt": "--s" if method == "push" else "-o", "markersize": 4, "capsize": 3}
                ends = [mine["mean"] - mine["low"].clip(lower=1), mine["high"] - mine["mean"]]
                colour = canvas.COLOURS[number // 2]
                axes.errorbar(mine["x"], mine["mean"], yerr=ends, color=colour, label=f"{setting}, {method}", **style)
            axes.set_xscale("log")
            axes.set_yscale("log")
            ticks = sorted(set(frame[frame["along"] == along]["x"]))
            axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
            axes.minorticks_off()
            axes.set_xlabel(label)
        _share_heights(panels)
        panels[0].set_ylabel("messages per node and day")
        panels[1].legend(fontsize=7, frameon=False, handlelength=4, loc="center left", bbox_to_anchor=(1.0, 0.5))
        canvas.save(figure, path)


def _name(setting: Setting) -> str:
    return f"{setting[0]} {setting[1]:.0%}"


def _names(kind: str) -> list[str]:
    """Return the names of the classes of jobs by width, length or area."""
    return [CLASS_NAMES.get(name, name) for name in CLASSES[kind]]


def _share_heights(panels: Sequence[Axes]) -> None:
    """Give panels the same range of heights."""
    ends = [end for axes in panels for end in axes.get_ylim()]
    for axes in panels:
        axes.set_ylim(min(ends), max(ends))


def _failed(row: Row) -> float:
    return float(100 * row["failed"] / row["jobs"])


def _paired(runs: Rows, others: Rows) -> Estimate:
    """Estimate how much longer jobs wait in some runs than in others with the same seeds, in seconds."""
    waits = {row["seed"]: mean_wait_s(row) for row in others}
    return estimate(mean_wait_s(row) - waits[row["seed"]] for row in runs)


def _estimates(runs: Rows, *measures: Callable[[Row], float]) -> list[Estimate]:
    return [estimate(map(measure, runs)) for measure in measures]


def _beside(
    table: str, row: str, columns: Sequence[str], printed: Sequence[float], here: Sequence[Estimate]
) -> list[PrintedNumber]:
    return [
        PrintedNumber(table, row, column, value, found.mean, found.low, found.high, found.num)
        for column, value, found in zip(columns, printed, here, strict=True)
    ]


def _written(number: PrintedNumber) -> str:
    """Return the number here with its interval."""
    assert number.here is not None
    assert number.low is not None
    assert number.high is not None
    form = {"%": ".2f", "s": ",.1f"}.get(number.column.rpartition(", ")[2], ",.0f")
    return interval_text(Estimate(number.here, number.low, number.high, number.runs or 0), form)
