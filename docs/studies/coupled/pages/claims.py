"""Writers of the page on the paper's claims, exhibits and printed numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from docs.studies.claims import Claim, PrintedNumber
from docs.studies.claims_tables import claims_frame, claims_table, exhibits_table, number_of_claims, one_of
from docs.studies.coupled.claims import EXHIBITS, PRINTED, Tables, judge, tables_of
from docs.studies.coupled.paper_metrics import aggregated, is_within, least_outlier, printed_numbers, stdv_over_trials
from docs.studies.marked_pages import DataFile, Picture
from docs.studies.rows import ROWS
from docs.studies.text_table import text_table
from hindsched import instances
from hindsched.bench.coupled.gantt import draw_pair
from hindsched.bench.coupled.paper_tables import METRICS, TABLES
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import MINUS, count

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

__all__ = ["ClaimsPage"]

_HEADINGS = {"fails": "#fails", "diff": "%diff", "wins": "%wins", "wins30": "%wins30", "stdv": "stdv"}
#: The folder of the pages.
_PAGES = ROWS.parents[1] / "results/coupled"


class ClaimsPage:
    """Writers of the page on the paper's claims.

    Parameters
    ----------
    runs
        Returns the runs of the experiment under each reading.
    """

    def __init__(self, runs: Callable[[], Mapping[str, pd.DataFrame]]) -> None:
        self._runs = runs

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        tables = (self.claims, self.exhibits, self.versus)
        numbers = (self.num_claims, self.inside, self.agreement, self.aggregation, self.trial_stdv, self.outlier)
        return {writer.__name__: writer for writer in (*tables, *numbers)}

    def files(self) -> dict[str, Picture | DataFile]:
        """Return the data files and the picture next to the pages, by name."""
        return {
            "claims.csv": DataFile(lambda: claims_frame(self._claims)),
            "printed_numbers.csv": DataFile(self._numbers_frame),
            "figure1.svg": Picture(_figure_1, _draw_figure_1),
            "printed.svg": Picture(self._differences, lambda path: _draw_differences(self._differences(), path)),
        }

    @cached_property
    def _tables(self) -> Tables:
        return tables_of(self._runs())

    @cached_property
    def _claims(self) -> Sequence[Claim]:
        return judge(self._tables)

    @cached_property
    def _numbers(self) -> Sequence[PrintedNumber]:
        return printed_numbers(self._tables[PRINTED])

    def _numbers_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self._numbers)

    def _differences(self) -> pd.DataFrame:
        """Return the printed %diff and those here, without RANDOM, whose scale would hide the others."""
        frame = self._numbers_frame()
        return frame[(frame["column"] == "diff") & (frame["row"] != "RANDOM")].reset_index(drop=True)

    # ---- tables

    def claims(self, *words: str) -> str:
        """Return the claims with these verdicts, or all."""
        return claims_table(self._claims, *words)

    def exhibits(self) -> str:
        """Return the tables and figures of the paper and where they stand here."""
        return exhibits_table(EXHIBITS)

    def versus(self, table: str) -> str:
        """Return a table of the paper: each printed number, and the number here, in the order of the latter."""
        mine = self._tables[PRINTED][one_of(table, TABLES)]
        printed = {(number.row, number.column): number for number in self._numbers if number.table == table}
        rows = []
        for policy in sorted(mine.metrics, key=lambda policy: mine.metrics[policy]["diff"]):
            row = [policy]
            for name in METRICS:
                number = printed.get((policy, name))
                here = _metric(name, mine.metrics[policy][name])
                if name == "diff" and policy != "IE":
                    here += " ({} to {})".format(*(_metric(name, end) for end in mine.intervals[policy][name]))
                row += ["" if number is None or number.printed is None else _metric(name, number.printed), here]
            rows.append(row)
        names = [text for name in METRICS for text in (f"{_HEADINGS[name]} printed", "here")]
        return text_table(["heuristic", *names], rows)

    # ---- numbers

    def num_claims(self, word: str = "all") -> str:
        """Return the number of claims, or of those with a verdict."""
        return number_of_claims(self._claims, word)

    def inside(self, what: str, column: str = "all") -> str:
        """Return the number of printed numbers, of those within the interval here, or in one for both errors."""
        numbers = [number for number in self._numbers if one_of(column, (*METRICS, "all")) in (number.column, "all")]
        widths = {"within": 1.0, "both": 2**0.5}
        if one_of(what, ("all", *widths)) != "all":
            numbers = [number for number in numbers if is_within(number, widths[what])]
        return count(len(numbers))

    def agreement(self, table: str) -> str:
        """Return the rank correlation of the printed %diff and those here, RANDOM left out."""
        import pandas as pd

        found = [n for n in self._numbers if (n.table, n.column) == (table, "diff") and n.row != "RANDOM"]
        printed, here = (pd.Series([getattr(n, name) for n in found]).rank() for name in ("printed", "here"))
        return f"{printed.corr(here):.2f}"

    def aggregation(self) -> str:
        """Return by how much other means change a %diff at most, RANDOM left out."""
        return f"{max(aggregated(mine) for mine in self._tables[PRINTED].values()):.1f}"

    def trial_stdv(self, table: str, policy: str) -> str:
        """Return the stdv of a heuristic over trials instead of scenarios."""
        return f"{stdv_over_trials(self._tables[PRINTED][one_of(table, TABLES)], policy):.0f}"

    def outlier(self, where: str, table: str, policy: str) -> str:
        """Return how many times as long as IE a heuristic takes in one scenario: at least (printed), at most (here)."""
        if one_of(where, ("printed", "here")) == "here":
            most = self._tables[PRINTED][one_of(table, TABLES)].largest(policy)
        else:
            found = {
                number.column: number.printed
                for number in self._numbers
                if (number.table, number.row) == (table, policy)
            }
            most = least_outlier(found["diff"] or 0.0, found["stdv"] or 0.0)
        return f"{1 + most / 100:.1f}" if most < 900 else f"{1 + most / 100:.0f}"


def _metric(name: str, value: float) -> str:
    return count(value) if name == "fails" else f"{value:,.1f}".replace("-", MINUS)


def _draw_differences(frame: pd.DataFrame, path: Path) -> None:
    """Draw each printed %diff beside the one here with its interval, by table in the order of the paper."""
    tables = [(str(name), group.iloc[::-1]) for name, group in frame.groupby("table")]
    heights = [0.7 + 0.19 * len(group) for _, group in tables]
    figure, panels = canvas.new_figure(len(tables), width=7.0, heights=heights)
    for axes, (name, group) in zip(panels, tables, strict=True):
        places = range(len(group))
        axes.hlines(places, group["low"], group["high"], color=canvas.COLOURS[0], linewidth=2, label="here, 95 %")
        axes.plot(group["here"], places, "o", color=canvas.COLOURS[0], markersize=5, label="here")
        axes.plot(group["printed"], places, "D", color=canvas.COLOURS[1], markersize=5, label="printed")
        axes.axvline(0.0, color=canvas.COLOURS[7], linewidth=0.8)
        axes.set_yticks(places, group["row"], fontsize=8)
        axes.set_xlim(-50, 190)
        axes.set_title(f"Table {name} (m = {TABLES[name]})", loc="left", fontsize=9)
        axes.grid(axis="x", alpha=0.3)
    panels[0].legend(loc="upper right", fontsize=8)
    panels[-1].set_xlabel("%diff to IE (below 0: faster)", fontsize=9)
    canvas.save(figure, path)


def _figure_1() -> pd.DataFrame:
    """Return the states of the instance in the manner of Figure 1 and the letters of both schedules."""
    import pandas as pd

    instance, run, best = _read_figure_1()
    states = ["".join(str(state) for state in row) for row in instance.states]
    return pd.DataFrame({"states": states, "run": run.letters, "best": best.letters})


def _draw_figure_1(path: Path) -> None:
    instance, run, best = _read_figure_1()
    canvas.save(draw_pair(instance, best, run, "schedule in the manner of Figure 1", "figure1.json"), path)


def _read_figure_1() -> tuple[instances.coupled.Instance, instances.coupled.Schedule, instances.coupled.Schedule]:
    instance = instances.read(_PAGES / "figure1.json")
    run, best = (instances.read_schedule(_PAGES / f"figure1_{name}.json") for name in ("schedule", "optimum"))
    return instance, run, best
