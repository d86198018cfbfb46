"""Write the tables, numbers and figures of the pages on batches from their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from docs.studies.batches.booking_page import BookingPage
from docs.studies.batches.claims_page import ClaimsPage
from docs.studies.batches.evidence import Evidence, read_table, select
from docs.studies.batches.theorem import Tally
from docs.studies.claims_tables import one_of
from docs.studies.estimates import estimate
from docs.studies.marked_pages import DataFile, Picture, Writer
from docs.studies.text_table import text_table
from hindsched.bench.batches.figures import draw_requests, draw_satisfied
from hindsched.bench.report.formatting import NOTHING, count, number, share
from hindsched.instances.errors import InputError
from hindsched.online.batches.periods import requests_for

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Published"]

Row = Mapping[str, Any]
Column = Callable[[Sequence[Row]], str]
#: Columns of rows by their names in tables; other columns keep theirs.
_NAMES = {"deadline_s": "D - S, s", "c": "C, s", "copies_lambda": "requests per task", "first": "first calls"}


class Published:
    """Writers of the marked parts of the pages on batches.

    Examples
    --------
    >>> Published().theorem("repaired_wrong")
    '0'
    """

    folder = "results/batches"

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        tables = (self.algorithm_3, self.options, self.requests, self.expected_requests)
        more = (self.first_calls, self.overdue, self.scale)
        numbers = (self.runs, self.theorem, self.requested, self.supplied_by, self.stuck, self.with_requests)
        writers = {writer.__name__: writer for writer in (*tables, *more, *numbers)}
        return writers | self._booking.writers() | self._claims.writers()

    def pictures(self) -> dict[str, Picture | DataFile]:
        """Return the figures and data files next to the pages, by name."""
        files: dict[str, Picture | DataFile] = {
            "requests.svg": Picture(
                lambda: _frame(self._runs, ("policy", "first", "requests")),
                lambda path: draw_requests(self._runs, path),
            ),
            "satisfied.svg": Picture(
                lambda: _frame(
                    self._runs, ("policy", "satisfied_batches", "stream_batches", "satisfied_tasks", "stream_tasks")
                ),
                lambda path: draw_satisfied(self._runs, path),
            ),
        }
        return files | self._booking.files() | self._claims.files()

    # ---- rows

    @cached_property
    def _booking(self) -> BookingPage:
        return BookingPage()

    @cached_property
    def _claims(self) -> ClaimsPage:
        return ClaimsPage()

    @cached_property
    def _runs(self) -> list[dict[str, Any]]:
        return read_table("runs")

    @cached_property
    def _readings(self) -> list[dict[str, Any]]:
        return read_table("readings")

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence.stored()

    def _question(self, question: str) -> list[dict[str, Any]]:
        return [row for row in self._readings if row["question"] == question]

    # ---- numbers

    def runs(self, what: str = "all") -> str:
        """Return the number of ``all`` runs, or of those with ``optima``."""
        is_all = one_of(what, ("all", "optima")) == "all"
        return count(sum(is_all or row["stream_batches"] is not None for row in self._runs))

    def theorem(self, what: str) -> str:
        """Return a count of the cases of Theorem 1."""
        return count(int(getattr(self._evidence.theorem, one_of(what, Tally.__dataclass_fields__))))

    def requested(self, what: str, policy: str, copies_lambda: str) -> str:
        """Return a number of the question of requests; copies per task, others shares."""
        for row in self._question("requests"):
            if (row["policy"], row["copies_lambda"]) == (policy, _integer(copies_lambda)):
                return number(row[what]) if what == "copies_per_task" else share(row[what])
        raise InputError(f"{policy} {copies_lambda}, expected a run of batches_readings.csv")

    def with_requests(self, what: str, policy: str, copies_lambda: str, deadline_s: str, c: str) -> str:
        """Return a number of Algorithm 3 by requests per task, over crowds: ``copies`` per task, others shares."""
        wanted = {"copies_lambda": _integer(copies_lambda), "deadline_s": _integer(deadline_s), "c": _integer(c)}
        mine = select(self._evidence.copies, policy=policy, **wanted)
        if not mine:
            raise InputError(f"{policy} {copies_lambda} {deadline_s} {c}, expected a run of batches_copies.csv")
        mean = estimate(row[what] for row in mine).mean
        return number(mean) if what == "copies" else share(mean)

    def supplied_by(self, first: str) -> str:
        """Return the share of batches with enough requests under Algorithm 2, by how first calls are made."""
        return _percent([row for row in self._question("begin") if row["first"] == first], "fed")

    def stuck(self, overdue: str, what: str = "stuck") -> str:
        """Return the number of runs of Algorithm 3 that get stuck with an option ``overdue``, or of all ``runs``."""
        return count(sum(row[what] for row in self._question("closing") if row["overdue"] == overdue))

    # ---- tables

    def algorithm_3(self) -> str:
        """Return the results of Algorithm 3 by setting of times and predictor, with the hindsight optima."""
        columns: dict[str, Column] = {
            "batches": lambda mine: _percent(mine, "satisfied_batches"),
            "stream": lambda mine: _percent(mine, "stream_batches"),
            "free": lambda mine: _percent(mine, "free_batches"),
            "tasks": lambda mine: _percent(mine, "satisfied_tasks"),
            "stream, tasks": lambda mine: _percent(mine, "stream_tasks"),
            "worst batch": lambda mine: share(_decile(mine, "fractions", 0)),
            "copies per satisfied task": lambda mine: _plain(mine, "copies_per_task"),
            "latency, s": lambda mine: _plain(mine, "latency"),
            "stream, s": lambda mine: _plain(mine, "stream_latency"),
            "free, s": lambda mine: _plain(mine, "free_latency"),
        }
        likely = [row for row in self._runs if (row["first"], row["copies_lambda"]) == ("spread", 2)]
        return _grouped(likely, ("deadline_s", "c", "policy"), columns)

    def options(self) -> str:
        """Return the effect of ``first`` and ``copies_lambda`` at D/8, where all values were run."""
        least = min(row["tasks"] for row in self._runs)
        mine = [
            row for row in self._runs if row["part"] == "batches" and row["tasks"] == least and _ratio(row) == "D/8"
        ]
        columns: dict[str, Column] = {
            "batches": lambda mine: _percent(mine, "satisfied_batches"),
            "tasks": lambda mine: _percent(mine, "satisfied_tasks"),
            "copies per satisfied task": lambda mine: _plain(mine, "copies_per_task"),
            "enough requests": lambda mine: _percent(mine, "fed"),
        }
        return _grouped(mine, ("policy", "first", "copies_lambda"), columns)

    def requests(self) -> str:
        """Return the requests per batch under Algorithm 2: the paper's Figures 7 and 8."""
        columns: dict[str, Column] = {
            "enough requests": lambda mine: _percent(mine, "fed"),
            **{
                name: lambda mine, place=place: number(_decile(mine, "requests", place))  # type: ignore[misc]
                for name, place in (("least", 0), ("1st decile", 1), ("median", 5), ("9th decile", 9), ("most", 10))
            },
            "periods, s": lambda mine: (
                f"{min(row['shortest_period'] for row in mine):,} to {max(row['longest_period'] for row in mine):,}"
            ),
        }
        mine = [row for row in self._runs if row["part"] == "arrivals"]
        return _grouped(mine, ("policy", "first", "deadline_s", "c"), columns)

    def expected_requests(self) -> str:
        """Return the requests that Hypothesis 1 predicts for Algorithm 2, and the observed ones."""
        head = ["N", "lambda / (0.9 N)", "period, h", "mean gap over even gap", "expected / N", "median / N"]
        mine = [row for row in self._runs if (row["policy"], row["first"], row["deadline_s"]) == ("A2", "spread", 3600)]
        lines = []
        for tasks in sorted({row["tasks"] for row in mine}):
            runs = [row for row in mine if row["tasks"] == tasks]
            hours = sum(row["shortest_period"] + row["longest_period"] for row in runs) / (7200 * len(runs))
            calls = select(self._evidence.arrivals, stream="workers")
            period = min({row["period_h"] for row in calls}, key=lambda known, hours=hours: abs(known - hours))  # type: ignore[misc]
            gaps = select(calls, period_h=period)
            wanted = requests_for(tasks, 0.99) / (0.9 * tasks)
            stretch = estimate(row["mean_gap_s"] / row["even_gap_s"] for row in gaps).mean
            observed = sum(row["requests"][5] for row in runs) / len(runs)
            numbers = map(number, (wanted, hours, stretch, wanted / stretch, observed))
            lines.append([count(tasks), *numbers, _percent(runs, "fed")])
        return text_table([*head, "enough requests"], lines)

    def first_calls(self) -> str:
        """Return the share of batches with enough requests under Algorithm 2 by ``first``."""
        columns: dict[str, Column] = {
            first: lambda mine, first=first: _percent([row for row in mine if row["first"] == first], "fed")  # type: ignore[misc]
            for first in ("spread", "start")
        }
        return _grouped(self._question("begin"), ("deadline_s", "c"), columns)

    def overdue(self) -> str:
        """Return the number of runs in which Algorithm 3 gets stuck, by ``overdue``."""

        def with_option(mine: Sequence[Row], overdue: str) -> list[Row]:
            return [row for row in mine if row["overdue"] == overdue]

        columns: dict[str, Column] = {}
        for overdue in ("carry", "drop"):
            columns[f"stuck, {overdue}"] = lambda mine, overdue=overdue: count(  # type: ignore[misc]
                sum(row["stuck"] for row in with_option(mine, overdue))
            )
            columns[f"tasks, {overdue}"] = lambda mine, overdue=overdue: _percent(  # type: ignore[misc]
                with_option(mine, overdue), "satisfied_tasks"
            )
        return _grouped(self._question("closing"), ("policy",), columns)

    def scale(self) -> str:
        """Return processor seconds and memory by step for both sizes."""
        by_step: dict[str, list[Row]] = {}
        for row in read_table("scale"):
            by_step.setdefault(row["step"], []).append(row)
        sizes = [count(row["workers"]) for row in next(iter(by_step.values()))]
        lines = [
            [
                step,
                *(number(row["seconds"]) for row in rows),
                *(number(row["us_each"]) if row["of"] != "batches" else NOTHING for row in rows),
                *(number(row["peak_megabytes"]) for row in rows),
            ]
            for step, rows in by_step.items()
        ]
        units = ("s", "µs each", "peak MB")
        return text_table(["step", *(f"{unit}, {size}" for unit in units for size in sizes)], lines)


def _grouped(rows: Sequence[Row], keys: Sequence[str], columns: Mapping[str, Column]) -> str:
    """Return a table with a line for each combination of keys."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    lines = [[*map(str, key), *(column(groups[key]) for column in columns.values())] for key in sorted(groups)]
    return text_table([*(_NAMES.get(key, key) for key in keys), *columns], lines)


def _mean(rows: Sequence[Row], name: str) -> float | None:
    values = [row[name] for row in rows if row.get(name) is not None]
    return sum(values) / len(values) if values else None


def _percent(rows: Sequence[Row], name: str) -> str:
    value = _mean(rows, name)
    return NOTHING if value is None else share(value)


def _plain(rows: Sequence[Row], name: str) -> str:
    value = _mean(rows, name)
    return NOTHING if value is None else number(value)


def _decile(rows: Sequence[Row], name: str, place: int) -> float:
    """Return the minimum (0) or maximum (10) over all rows, or the mean of a decile between."""
    values = [row[name][place] for row in rows]
    found: float = min(values) if place == 0 else max(values) if place == 10 else sum(values) / len(values)
    return found


def _ratio(row: Row) -> str:
    return f"D/{row['deadline_s'] // row['c']}"


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{text!r}, expected an integer") from None


def _frame(rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([{name: row[name] for name in columns} for row in rows])
