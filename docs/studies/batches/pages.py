"""Write the tables, numbers and figures of the pages on batches from their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from docs.studies.batches.claims import judge, read_table, read_tally
from docs.studies.batches.theorem import Tally
from docs.studies.marked_pages import Picture, Writer
from hindsched.bench.batches.figures import draw_requests, draw_satisfied
from hindsched.bench.report.formatting import NOTHING, count, number, share
from hindsched.bench.report.markdown import text_table
from hindsched.instances.errors import InputError
from hindsched.online.batches.periods import requests_for

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Published"]

Row = Mapping[str, Any]


class Published:
    """The published rows, read when first asked for, and what pages say of them.

    Examples
    --------
    >>> Published().theorem("repaired_wrong")
    '0'
    """

    folder = "batches"

    def writers(self) -> dict[str, Writer]:
        """Return who writes the marked parts of pages (see `docs.studies.marked_pages`), by name."""
        tables = (
            self.claims,
            self.settings,
            self.readings,
            self.fed,
            self.foreseen,
            self.clairvoyant,
            self.begins,
            self.closing,
            self.arrivals,
            self.masters,
            self.crowds,
            self.scale,
        )
        numbers = (
            self.runs,
            self.theorem,
            self.mean,
            self.booked,
            self.closed,
            self.clairvoyance,
            self.fed_by,
            self.stuck,
        )
        return {writer.__name__: writer for writer in (*tables, *numbers)}

    def pictures(self) -> dict[str, Picture]:
        """Return the pictures beside the pages, by file."""
        return {
            "requests.svg": Picture(
                lambda: _frame(self._runs, ("policy", "first", "requests")),
                lambda path: draw_requests(self._runs, path),
            ),
            "satisfied.svg": Picture(
                lambda: _frame(self._runs, ("policy", "satisfied_batches", "stream_batches")),
                lambda path: draw_satisfied(self._runs, path),
            ),
        }

    @cached_property
    def _runs(self) -> list[dict[str, Any]]:
        return read_table("runs")

    @cached_property
    def _masters(self) -> list[dict[str, Any]]:
        return read_table("policies")

    @cached_property
    def _readings(self) -> list[dict[str, Any]]:
        return read_table("readings")

    @cached_property
    def _tally(self) -> Tally:
        return read_tally()

    # ---- numbers

    def runs(self, what: str = "all") -> str:
        """Return how many runs there are: ``all``, those with ``rungs``, or on a ``day``."""
        if what == "all":
            return count(len(self._runs))
        if what == "rungs":
            return count(sum(row["stream_batches"] is not None for row in self._runs))
        return count(sum(row["day"] == _whole(what) for row in self._runs))

    def theorem(self, what: str) -> str:
        """Return a number of the tally of Theorem 1."""
        if what not in Tally.__dataclass_fields__:
            raise InputError(f"{what!r}, expected one of {', '.join(Tally.__dataclass_fields__)}")
        return count(int(getattr(self._tally, what)))

    def mean(self, what: str, policy: str, first: str, copies_lambda: str, ratio: str, tasks: str = "all") -> str:
        """Return a mean over runs of Algorithm 3: shares in percent, copies as they are; ``ratio`` is such as D/8."""
        mine = [
            row
            for row in self._runs
            if (row["policy"], row["first"]) == (policy, first)
            and row["copies_lambda"] == _whole(copies_lambda)
            and (ratio == "all" or _ratio(row) == ratio)
            and (tasks == "all" or row["tasks"] == _whole(tasks))
        ]
        value = _mean(mine, what)
        if value is None:
            return NOTHING
        return number(value) if what == "copies_per_task" else share(value)

    def booked(self, what: str, policy: str, copies_lambda: str, deadline_s: str, c: str, crowd: str = "paper") -> str:
        """Return a number of the comparison of masters; ``contacts`` are per task, others shares."""
        wanted = (policy, _whole(copies_lambda), _whole(deadline_s), _whole(c), crowd)
        for row in self._masters:
            if tuple(row[name] for name in ("policy", "copies_lambda", "deadline_s", "c", "crowd")) == wanted:
                return number(row[what]) if what in ("contacts", "copies_per_task") else share(row[what])
        raise InputError(f"{wanted!r}, expected a run that is published")

    def closed(self, deadline_s: str, c: str) -> str:
        """Return the share that booking closes of the gap between the paper's best master and hindsight, in tasks."""
        wanted = (_whole(deadline_s), _whole(c), 2, "paper")
        mine = [
            row
            for row in self._masters
            if tuple(row[name] for name in ("deadline_s", "c", "copies_lambda", "crowd")) == wanted
        ]
        (ours,) = (row for row in mine if row["policy"] == "booking")
        best = max((row for row in mine if row is not ours), key=lambda row: row["satisfied_tasks"])
        gap = best["stream_tasks"] - best["satisfied_tasks"]
        return share((ours["satisfied_tasks"] - best["satisfied_tasks"]) / gap) if gap > 0 else NOTHING

    def clairvoyance(self, what: str, policy: str, copies_lambda: str) -> str:
        """Return a number of the question of requests; copies as they are, others shares."""
        for row in self._questions("requests"):
            if (row["policy"], row["copies_lambda"]) == (policy, _whole(copies_lambda)):
                return number(row[what]) if what == "copies_per_task" else share(row[what])
        raise InputError(f"{(policy, copies_lambda)!r}, expected a run that is published")

    def fed_by(self, first: str) -> str:
        """Return the share of batches that Algorithm 2 feeds with one kind of begin, over all settings of times."""
        return _percent([row for row in self._questions("begin") if row["first"] == first], "fed")

    def stuck(self, overdue: str, what: str = "stuck") -> str:
        """Return how many runs of Algorithm 3 got stuck by a reading of ``overdue``, or how many ``runs`` they are."""
        return count(sum(row[what] for row in self._questions("closing") if row["overdue"] == overdue))

    def _questions(self, question: str) -> list[dict[str, Any]]:
        return [row for row in self._readings if row["question"] == question]

    # ---- tables

    def claims(self) -> str:
        """Return the paper's claims, one by one."""
        found = judge(self._runs, read_table("arrivals"), self._tally)
        lines = [[f.source, f.claim, f.evidence.replace("|", "/"), f.verdict] for f in found]
        head = "| source | the paper's claim | here | verdict |\n|---|---|---|---|\n"
        return head + "".join("| " + " | ".join(line) + " |\n" for line in lines)

    def settings(self) -> str:
        """Return Algorithm 3 in each setting, with the rungs."""
        columns: dict[str, Callable[[Sequence[Row]], str]] = {
            "starts": lambda mine: str(len({row["day"] for row in mine})),
            "batches": lambda mine: _percent(mine, "satisfied_batches"),
            "stream": lambda mine: _percent(mine, "stream_batches"),
            "traffic": lambda mine: _percent(mine, "traffic_batches"),
            "free": lambda mine: _percent(mine, "free_batches"),
            "tasks": lambda mine: _percent(mine, "satisfied_tasks"),
            "worst, median batch": _fractions,
            "copies": lambda mine: _plain(mine, "copies_per_task"),
            "latency, s": lambda mine: _plain(mine, "latency"),
            "stream, s": lambda mine: _plain(mine, "stream_latency"),
            "free, s": lambda mine: _plain(mine, "free_latency"),
        }
        meant = [row for row in self._runs if (row["first"], row["copies_lambda"]) == ("spread", 2)]
        return self._grouped(meant, ("deadline_s", "c", "tasks", "policy"), columns)

    def readings(self) -> str:
        """Return what the readings of ``first`` and ``copies_lambda`` decide, where all were run."""
        least = min(row["tasks"] for row in self._runs)
        mine = [row for row in self._runs if row["part"] == "batches" and row["tasks"] == least]
        columns: dict[str, Callable[[Sequence[Row]], str]] = {
            "batches": lambda mine: _percent(mine, "satisfied_batches"),
            "tasks": lambda mine: _percent(mine, "satisfied_tasks"),
            "copies": lambda mine: _plain(mine, "copies_per_task"),
            "fed": lambda mine: _percent(mine, "fed"),
        }
        return self._grouped(mine, ("deadline_s", "c", "policy", "first", "copies_lambda"), columns)

    def fed(self) -> str:
        """Return how many requests batches got under Algorithm 2: the paper's Figures 6 and 7."""
        columns: dict[str, Callable[[Sequence[Row]], str]] = {
            "starts": lambda mine: str(len({row["day"] for row in mine})),
            "fed": lambda mine: _percent(mine, "fed"),
            **{
                name: lambda mine, place=place: number(_decile(mine, "requests", place))  # type: ignore[misc]
                for name, place in (("least", 0), ("1st decile", 1), ("median", 5), ("9th decile", 9), ("most", 10))
            },
            "periods, s": lambda mine: (
                f"{min(row['shortest_period'] for row in mine):,} to {max(row['longest_period'] for row in mine):,}"
            ),
        }
        mine = [row for row in self._runs if row["part"] == "arrivals"]
        return self._grouped(mine, ("policy", "first", "deadline_s", "c", "tasks"), columns)

    def foreseen(self) -> str:
        """Return the requests that Algorithm 2 is to expect, by the gaps of hypothesis 1, beside those that came."""
        head = [
            "N",
            "lambda / (0.9 N)",
            "period, h",
            "gap over even gap",
            "expected requests / N",
            "median that came",
            "fed",
        ]
        mine = [row for row in self._runs if (row["policy"], row["first"], row["deadline_s"]) == ("A2", "spread", 3600)]
        lines = []
        for tasks in sorted({row["tasks"] for row in mine}):
            runs = [row for row in mine if row["tasks"] == tasks]
            hours = sum(row["shortest_period"] + row["longest_period"] for row in runs) / (7200 * len(runs))
            near = {abs(row["period_h"] - hours): row for row in read_table("arrivals")}
            gaps = near[min(near)]
            wanted, stretch = requests_for(tasks, 0.99) / (0.9 * tasks), gaps["mean_gap_s"] / gaps["even_gap_s"]
            came = sum(row["requests"][5] for row in runs) / len(runs)
            lines.append(
                [count(tasks), *map(number, (wanted, hours, stretch, wanted / stretch, came)), _percent(runs, "fed")]
            )
        return text_table(head, lines)

    def clairvoyant(self) -> str:
        """Return what Algorithm 3, and hindsight on its contacts, make of requests for one copy and for two."""
        columns: dict[str, Callable[[Sequence[Row]], str]] = {
            "batches": lambda mine: _percent(mine, "satisfied_batches"),
            "stream": lambda mine: _percent(mine, "stream_batches"),
            "tasks": lambda mine: _percent(mine, "satisfied_tasks"),
            "stream's tasks": lambda mine: _percent(mine, "stream_tasks"),
            "copies": lambda mine: _plain(mine, "copies_per_task"),
        }
        return self._grouped(self._questions("requests"), ("copies_lambda", "policy"), columns)

    def begins(self) -> str:
        """Return how many batches Algorithm 2 feeds by how workers begin."""
        columns: dict[str, Callable[[Sequence[Row]], str]] = {"fed": lambda mine: _percent(mine, "fed")}
        return self._grouped(self._questions("begin"), ("deadline_s", "c", "first"), columns)

    def closing(self) -> str:
        """Return in how many runs Algorithm 3 gets stuck, by whether a deadline closes a batch."""
        columns: dict[str, Callable[[Sequence[Row]], str]] = {
            "runs": lambda mine: count(sum(row["runs"] for row in mine)),
            "stuck": lambda mine: count(sum(row["stuck"] for row in mine)),
            "tasks": lambda mine: _percent(mine, "satisfied_tasks"),
        }
        return self._grouped(self._questions("closing"), ("overdue", "policy"), columns)

    def arrivals(self) -> str:
        """Return what tests say of contacts as a Poisson stream."""
        head = ["period, h", "contacts", "mean gap, s", "even gap, s", "5th percentile of p", "refused at 5%"]
        head += ["5th percentile, mean gap's rate", "refused, mean gap's rate"]
        windows = [name for name in read_table("arrivals")[0] if name.startswith("dispersion_")]
        head += [f"variance / mean in {name.removeprefix('dispersion_').removesuffix('s')} s" for name in windows]
        head.append("swing over the day")
        lines = [
            [
                str(row["period_h"]),
                count(row["contacts"]),
                number(row["mean_gap_s"]),
                number(row["even_gap_s"]),
                number(row["ks_p_5th_percentile"]),
                share(row["ks_rejected_at_5_percent"]),
                number(row["ks_fitted_p_5th_percentile"]),
                share(row["ks_fitted_rejected_at_5_percent"]),
                *(number(row[name]) for name in windows),
                share(row["daily_swing"]),
            ]
            for row in read_table("arrivals")
        ]
        return text_table(head, lines)

    def masters(self) -> str:
        """Return the masters side by side on volunteers as drawn for the paper."""
        return self._masters_of([row for row in self._masters if row["crowd"] == "paper"], ("deadline_s", "c"))

    def crowds(self) -> str:
        """Return the masters side by side on other kinds of volunteers."""
        times = {(row["deadline_s"], row["c"]) for row in self._masters if row["crowd"] != "paper"}
        mine = [row for row in self._masters if (row["deadline_s"], row["c"]) in times]
        return self._masters_of(mine, ("crowd",))

    def scale(self) -> str:
        """Return time and memory on many volunteers."""
        head = ["step", "volunteers", "days", "N", "amount", "", "processor s", "us each", "holds, MB", "most held, MB"]
        head.append("load")
        lines = [
            [
                str(row["step"]),
                count(row["workers"]),
                str(row["days"]),
                count(row["tasks"]),
                count(row["amount"]),
                str(row["of"]),
                number(row["seconds"]),
                number(row["us_each"]) if row["of"] != "batches" else NOTHING,
                NOTHING if row["megabytes"] is None else number(row["megabytes"]),
                number(row["peak_megabytes"]),
                number(row["load"]),
            ]
            for row in read_table("scale")
        ]
        return text_table(head, lines)

    def _masters_of(self, rows: Sequence[Row], keys: Sequence[str]) -> str:
        names = ("satisfied_batches", "stream_batches", "free_batches", "satisfied_tasks", "stream_tasks")
        head = [*keys, "master", "requests a task", "batches", "stream", "free", "tasks", "stream's tasks"]
        head += ["copies", "contacts / N", "most"]
        lines = [
            [
                *(str(row[key]) for key in keys),
                row["policy"],
                str(row["copies_lambda"]),
                *(share(row[name]) for name in names),
                *(
                    NOTHING if row[name] is None else number(row[name])
                    for name in ("copies_per_task", "contacts", "most_contacts")
                ),
            ]
            for row in rows
        ]
        return text_table(head, lines)

    def _grouped(
        self, rows: Sequence[Row], keys: Sequence[str], columns: Mapping[str, Callable[[Sequence[Row]], str]]
    ) -> str:
        """Return a table with a line for each combination of keys."""
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            groups.setdefault(tuple(row[key] for key in keys), []).append(row)
        lines = [[*map(str, key), *(say(groups[key]) for say in columns.values())] for key in sorted(groups)]
        return text_table([*keys, *columns], lines)


def _mean(rows: Sequence[Row], name: str) -> float | None:
    values = [row[name] for row in rows if row.get(name) is not None]
    return sum(values) / len(values) if values else None


def _percent(rows: Sequence[Row], name: str) -> str:
    value = _mean(rows, name)
    return NOTHING if value is None else share(value)


def _plain(rows: Sequence[Row], name: str) -> str:
    value = _mean(rows, name)
    return NOTHING if value is None else number(value)


def _fractions(rows: Sequence[Row]) -> str:
    """Return the satisfied share of tasks in the worst and in the median batch."""
    return ", ".join(share(_decile(rows, "fractions", place)) for place in (0, 5))


def _decile(rows: Sequence[Row], name: str, place: int) -> float:
    """Return the least (0) or the most (10) of all rows, or the mean over them of a decile between."""
    values = [row[name][place] for row in rows]
    found: float = min(values) if place == 0 else max(values) if place == 10 else sum(values) / len(values)
    return found


def _ratio(row: Row) -> str:
    return f"D/{row['deadline_s'] // row['c']}"


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{text!r}, expected an integer") from None


def _frame(rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([{name: row[name] for name in columns} for row in rows])
