"""Writers of the comparison of readings and seeds with the paper's printed tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from docs.studies.claims_tables import one_of
from docs.studies.coupled.readings import published_metrics
from docs.studies.marked_pages import DataFile
from docs.studies.text_table import text_table
from hindsched.bench.coupled.paper_tables import SUBSETS, TABLES, compare_metrics, printed_tables
from hindsched.bench.coupled.reproduction import READINGS
from hindsched.bench.report.formatting import MINUS, NOTHING, count
from hindsched.bench.results.records import records
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ReadingsPage"]

_NAMES = {"diff": "%diff", "wins": "%wins", "wins30": "%wins30", "stdv": "stdv", "fails": "#fails"}
#: Difference of %diff, in points, that no spread over seeds explains.
_UNEXPLAINED_POINTS = 25
#: Instances behind each printed table.
_INSTANCES = 3000


class ReadingsPage:
    """Writers of the tables and numbers on readings and seeds.

    Parameters
    ----------
    metrics
        As `docs.studies.coupled.readings.metrics_of` returns them; None: the stored rows.
    """

    def __init__(self, metrics: pd.DataFrame | None = None) -> None:
        self._given = metrics

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        tables = (self.readings, self.closeness, self.unexplained)
        numbers = (self.failures, self.within, self.reading_diff, self.tail_stdv, self.distance)
        return {writer.__name__: writer for writer in (*tables, *numbers)}

    def files(self) -> dict[str, DataFile]:
        """Return the data files next to the pages, by name."""
        return {
            "readings_closeness.csv": DataFile(lambda: self._closeness),
            "readings_diff.csv": DataFile(self.diff_by_reading),
            "readings_seeds.csv": DataFile(self.spread_over_seeds),
        }

    # ---- frames

    @cached_property
    def _metrics(self) -> pd.DataFrame:
        return published_metrics() if self._given is None else self._given

    @cached_property
    def _printed(self) -> pd.DataFrame:
        return printed_tables()

    @cached_property
    def _common(self) -> pd.DataFrame:
        """The metrics of all readings on the same instances of seed 0."""
        metrics = self._metrics
        return metrics[(metrics["seed"] == 0) & (metrics["sample"] == "common")]

    @cached_property
    def _closeness(self) -> pd.DataFrame:
        return compare_metrics(self._common, self._printed)

    def diff_by_reading(self) -> pd.DataFrame:
        """Return %diff of each heuristic in each table: as printed, and under each reading on the same instances."""
        wide = self._common.pivot_table(index=["table", "policy"], columns="reading", values="diff")[self._names()]
        printed = self._printed.set_index(["table", "policy"])["diff"].rename("paper")
        return wide.join(printed)[["paper", *self._names()]].reset_index()

    def spread_over_seeds(self) -> pd.DataFrame:
        """Return for each reading, table and heuristic the least and largest #fails, %diff and rank over the seeds.

        #fails are scaled to 3,000 instances. Ranks by %diff are among the heuristics that the paper prints.
        """
        both = self._metrics[self._metrics["sample"] == "common"].merge(self._printed[["table", "policy"]])
        ranks = both.groupby(["reading", "table", "seed"])["diff"].rank(method="first").astype(int)
        both = both.assign(fails=both["fails"] * _INSTANCES / both["runs"], rank=ranks)
        ends = both.groupby(["reading", "table", "policy"])[["fails", "diff", "rank"]].agg(["min", "max"])
        ends.columns = ["_".join(names) for names in ends.columns]
        return ends.assign(seeds=both.groupby(["reading", "table", "policy"])["seed"].nunique()).reset_index()

    def _names(self) -> list[str]:
        return [name for name in READINGS if name in set(self._common["reading"])]

    # ---- tables

    def readings(self) -> str:
        """Return a description of each reading."""
        rows = [[f"`{name}`", READINGS[name].description] for name in self._names()]
        return text_table(["reading", "what it is"], rows, num_texts=2)

    def closeness(self, table: str, subset: str) -> str:
        """Return the rank correlation and mean distance of each reading from a printed table, metric by metric."""
        one_of(table, TABLES)
        frame = self._closeness
        mine = frame[(frame["table"] == table) & (frame["subset"] == one_of(subset, SUBSETS))]
        found = {(row["reading"], row["metric"]): row for row in records(mine)}
        rows = []
        for name in self._names():
            metrics = [found.get((name, metric)) for metric in _NAMES]
            cells = [f"{_two(row['spearman'])}, {_one(row['mean'])}" if row else NOTHING for row in metrics]
            worst = found.get((name, "diff"))
            rows.append([f"`{name}`", *cells, f"{_one(worst['largest'])} ({worst['where']})" if worst else NOTHING])
        return text_table(["reading", *_NAMES.values(), "largest distance in %diff"], rows)

    def unexplained(self) -> str:
        """Return the printed %diff that exceed every %diff found here, under any reading and seed, by many points."""
        most = self._metrics.groupby(["table", "policy"])["diff"].max().to_dict()
        rows = []
        for row in records(self._printed):
            found = most.get((row["table"], row["policy"]))
            if found is not None and row["policy"] != "RANDOM" and row["diff"] > found + _UNEXPLAINED_POINTS:
                rows.append([row["table"], row["policy"], _one(row["diff"]), _one(found)])
        return text_table(["table", "heuristic", "printed %diff", "largest here"], rows)

    # ---- numbers

    def failures(self, what: str) -> str:
        """Return, for each seed, the number of 3,000 instances with m = 10 that IE fails on, or that are impossible."""
        mine = self._metrics[(self._metrics["reading"] == "printed") & (self._metrics["table"] == "II")]
        mine = mine[mine["policy"] == "IE"].sort_values(["seed", "sample"], kind="stable")  # all before common
        column, total = {"IE": ("fails", "runs"), "impossible": ("impossible", "instances")}[
            one_of(what, ("IE", "impossible"))
        ]
        found = records(mine.drop_duplicates("seed"))
        return _listed([round(row[column] * _INSTANCES / row[total]) for row in found])

    def within(self, reading: str, table: str) -> str:
        """Return how many printed %diff lie within the spread over seeds of a reading, and whose."""
        spread = self.spread_over_seeds()
        mine = spread[(spread["reading"] == one_of(reading, self._names())) & (spread["table"] == table)]
        both = mine.merge(self._printed[["table", "policy", "diff"]], on=["table", "policy"])
        both = both[both["policy"] != "IE"]
        inside = both[(both["diff_min"] <= both["diff"]) & (both["diff"] <= both["diff_max"])]["policy"].to_list()
        return f"{len(inside)} of {len(both)}" + (f" ({', '.join(inside)})" if inside else "")

    def reading_diff(self, reading: str, table: str, policy: str) -> str:
        """Return the %diff of a heuristic under a reading, on as many instances of seed 0 as were run."""
        mine = self._metrics[(self._metrics["seed"] == 0) & (self._metrics["reading"] == reading)]
        mine = mine[(mine["table"] == table) & (mine["policy"] == policy)].sort_values("sample", kind="stable")
        if not len(mine):
            raise InputError(f"{reading} {table} {policy}, expected a reading, a table and a heuristic")
        return _one(mine["diff"].iloc[0])

    def distance(self, reading: str, table: str, metric: str) -> str:
        """Return the mean distance of a reading from a metric of a printed table, over the core rows."""
        frame = self._closeness
        found = frame[(frame["reading"] == one_of(reading, self._names())) & (frame["table"] == one_of(table, TABLES))]
        found = found[(found["subset"] == "core") & (found["metric"] == one_of(metric, _NAMES))]
        return _one(found["mean"].iloc[0])

    def tail_stdv(self, where: str) -> str:
        """Return the range of printed stdv, or the largest stdv here, of the heuristics outside the core rows."""
        tails = sorted(set(SUBSETS["all"]) - set(SUBSETS["core"]) - {"RANDOM"})
        if one_of(where, ("printed", "here")) == "printed":
            printed = self._printed[self._printed["policy"].isin(tails)]["stdv"]
            return f"{_one(printed.min())} to {_one(printed.max())}"
        mine = self._metrics[self._metrics["policy"].isin(tails) & (self._metrics["table"] == "I")]
        return _one(mine["stdv"].max())


def _listed(numbers: Sequence[int]) -> str:
    texts = [count(each) for each in numbers]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _one(value: float | None) -> str:
    """Return a number with one digit after the point."""
    return NOTHING if value is None or value != value else f"{value:,.1f}".replace("-", MINUS)  # noqa: PLR0124


def _two(value: float | None) -> str:
    """Return a number with two digits after the point."""
    return NOTHING if value is None or value != value else f"{value:.2f}".replace("-", MINUS)  # noqa: PLR0124
