"""Write the tables, numbers and figures of the pages on jobs with a deadline from their rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from docs.studies.claims import Claim
from docs.studies.claims_tables import claims_frame, claims_table, number_of_claims, one_of
from docs.studies.deadline.claims import Factor, factors, judge
from docs.studies.deadline.intervals import Resamples
from docs.studies.deadline.strategy_runs import mean_ratio, strategies_table
from docs.studies.marked_pages import DataFile, Picture, Writer
from docs.studies.rows import ROWS, read_rows
from docs.studies.text_table import text_table
from hindsched.bench.deadline.cells import CELL, FREE, GUARDED, cells, draw_ratios
from hindsched.bench.deadline.reproduction import DEADLINES_H, OVERHEADS_S, SHOWN, WORK_S
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import count
from hindsched.bench.results.bootstrap import percentiles, resample
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.records import records

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Published"]

_CELLS = [(deadline_h, overhead_s) for deadline_h in DEADLINES_H for overhead_s in OVERHEADS_S]
_HEADINGS = [f"{deadline_h} h, {overhead_s} s" for deadline_h, overhead_s in _CELLS]
#: Columns of `cells` that a table shows, and their forms.
_FORMS = {
    "dollars": ".2f",
    "ratio": ".3f",
    "ratio_95": ".3f",
    "worst": ".2f",
    "guarded_ratio": ".3f",
    "gap_closed": ".0%",
    "saved": ".0%",
    "score": ".2f",
    "launches": ".1f",
    "overhead_h": ".1f",
}
_TESTED = ("renewal", "uniform", "greedy")
_STATISTICS = ("mean", "95")


class Published:
    """Writers of the marked parts of the pages on jobs with a deadline.

    Writers take the words of a mark, and raise `InputError` for unknown words. A cell is given by its deadline in hours
    and its overhead in seconds.

    Examples
    --------
    >>> sorted(Published().writers())[:3]
    ['by_cell', 'cell', 'chains']
    """

    folder = "results/deadline"

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        tables = (self.claims, self.by_cell, self.missed, self.held_out, self.chains)
        numbers = (self.runs, self.instances, self.num_claims, self.cell, self.range, self.factor, self.tested)
        more = (self.test_windows, self.over_free, self.draws)
        own: dict[str, Writer] = {writer.__name__: writer for writer in (*tables, *numbers, *more)}
        return own | {"strategies": strategies_table, "strategy": mean_ratio}

    def pictures(self) -> dict[str, Picture | DataFile]:
        """Return the figures and data files next to the pages, by name."""
        return {
            "ratios.svg": Picture(lambda: self._drawn, self._draw),
            "cells.csv": DataFile(lambda: self._cells),
            "claims.csv": DataFile(lambda: claims_frame(self._claims)),
        }

    # ---- rows

    @cached_property
    def _lines(self) -> pd.DataFrame:
        import pandas as pd

        return pd.read_csv(ROWS / "deadline_runs.csv.xz")

    @cached_property
    def _cells(self) -> pd.DataFrame:
        return cells(self._lines, WORK_S)

    @cached_property
    def _claims(self) -> Sequence[Claim]:
        return judge(self._lines)

    @cached_property
    def _factors(self) -> Sequence[Factor]:
        return factors(self._lines)

    @property
    def _drawn(self) -> pd.DataFrame:
        found = self._cells[self._cells["guard"] != "step_old"]
        return found[found["policy"].isin([FREE, *SHOWN])]

    def _draw(self, path: Path) -> None:
        canvas.save(draw_ratios(self._drawn, SHOWN), path)

    def _by_policy(self) -> dict[str, dict[tuple[int, int], dict[str, Any]]]:
        """Return the statistics by policy and cell, without those under the guard ``step_old``."""
        found: dict[str, dict[tuple[int, int], dict[str, Any]]] = {}
        for row in records(self._cells[self._cells["guard"] != "step_old"]):
            found.setdefault(row["policy"], {})[row["deadline_h"], row["overhead_s"]] = row
        return found

    @cached_property
    def _test(self) -> dict[tuple[int, int], pd.DataFrame]:
        """The costs in the test windows, by cell, divided by the optimum."""
        rows = read_rows("deadline_held_out")
        ratios = rows[list(_TESTED)].div(rows[FREE], axis=0)
        found = rows.assign(**{name: ratios[name] for name in _TESTED})
        return {
            (deadline_h, overhead_s): found[(found["deadline_h"] == deadline_h) & (found["overhead_s"] == overhead_s)]
            for deadline_h, overhead_s in _CELLS
        }

    # ---- tables

    def claims(self, *words: str) -> str:
        """Return the claims with these verdicts."""
        return claims_table(self._claims, *words)

    def by_cell(self, column: str) -> str:
        """Return a statistic of each policy, with a column for each cell."""
        form = _FORMS[one_of(column, _FORMS)]
        by_policy = self._by_policy()
        names = [FREE, GUARDED, *in_order(set(by_policy) - {FREE, GUARDED}, "deadline")]
        rows = []
        for name in names:
            values = [by_policy[name][cell][column] for cell in _CELLS]
            if not all(np.isnan(values)):
                rows.append([name, *(format(value, form) for value in values)])
        return text_table(["policy", *_HEADINGS], rows)

    def missed(self) -> str:
        """Return how many runs of each policy miss the deadline with the guard ``step_old``."""
        old = self._cells[self._cells["guard"] == "step_old"]
        rows = []
        for name in in_order(old["policy"].unique(), "deadline"):
            mine = old[old["policy"] == name].set_index(list(CELL))["missed"]
            rows.append([name, *(count(mine[cell]) for cell in _CELLS)])
        return text_table(["policy", *_HEADINGS], rows)

    def held_out(self, statistic: str) -> str:
        """Return cost / free in the test windows, in the mean or the 95th percentile, and what renewal saves."""
        one_of(statistic, _STATISTICS)
        rows = []
        for cell, heading in zip(_CELLS, _HEADINGS, strict=True):
            test = self._test[cell]
            values = {name: _statistic(test[name], statistic) for name in _TESTED}
            row = [heading, count(len(test)), *(f"{value:.3f}" for value in values.values())]
            drawn = Resamples(test)
            for other in ("uniform", "greedy"):
                ours, theirs = (
                    drawn.mean(test[name]) if statistic == "mean" else drawn.quantile(test[name], 0.95)
                    for name in ("renewal", other)
                )
                low, high = percentiles(theirs - ours)
                row.append(f"{values[other] - values['renewal']:.3f} ({low:.3f} to {high:.3f})")
            rows.append(row)
        return text_table(["D, d", "windows", *_TESTED, "uniform - renewal", "greedy - renewal"], rows)

    def chains(self) -> str:
        """Return mean costs on drawn chains over the mean optimum, with a 95 % interval for the best policy."""
        rows = []
        for (up, stay), group in read_rows("deadline_chains").groupby(["up", "stay"], sort=True):
            weights = resample(len(group))
            best, free = (weights @ group[name].to_numpy() for name in ("known", FREE))
            low, high = percentiles(best / free)
            ratios = [f"{group[name].mean() / group[FREE].mean():.3f}" for name in ("known", *_TESTED)]
            ratios[0] += f" ({low:.3f} to {high:.3f})"
            rows.append([f"{up:g}, {stay:g}", *ratios])
        return text_table(["share with spot, stay", "known rates", *_TESTED], rows)

    # ---- numbers

    def runs(self, guard: str = "step") -> str:
        """Return the number of runs under a guard."""
        mine = self._lines[self._lines["guard"] == one_of(guard, ("step", "step_old"))]
        return count((~mine["policy"].isin([FREE, GUARDED])).sum())

    def instances(self) -> str:
        """Return the number of instances of the experiment."""
        return count((self._lines["policy"] == FREE).sum())

    def num_claims(self, word: str = "all") -> str:
        """Return the number of claims with a verdict."""
        return number_of_claims(self._claims, word)

    def cell(self, column: str, policy: str, deadline_h: str, overhead_s: str) -> str:
        """Return a statistic of a policy in a cell."""
        by_policy = self._by_policy()
        cell = (
            int(one_of(deadline_h, list(map(str, DEADLINES_H)))),
            int(one_of(overhead_s, list(map(str, OVERHEADS_S)))),
        )
        return format(by_policy[one_of(policy, by_policy)][cell][one_of(column, _FORMS)], _FORMS[column])

    def factor(self, statistic: str, deadline_h: str, overhead_s: str) -> str:
        """Return by which factor uniform closes greedy's gap in a cell, with its interval."""
        one_of(statistic, _STATISTICS)
        found = {
            (str(factor.deadline_h), str(factor.overhead_s)): factor
            for factor in self._factors
            if factor.statistic.startswith(statistic)
        }
        one_of(deadline_h, [cell[0] for cell in found])
        one_of(overhead_s, [cell[1] for cell in found])
        return found[deadline_h, overhead_s].text.partition(": ")[2]

    def range(self, end: str, column: str, policy: str) -> str:
        """Return the least or the greatest value of a statistic of a policy in a cell."""
        by_policy = self._by_policy()
        values = [row[one_of(column, _FORMS)] for row in by_policy[one_of(policy, by_policy)].values()]
        return format(min(values) if one_of(end, ("least", "most")) == "least" else max(values), _FORMS[column])

    def tested(self, end: str, policy: str, statistic: str) -> str:
        """Return the least or the greatest cost / free of a policy over the cells, in the test windows."""
        one_of(policy, _TESTED)
        one_of(statistic, _STATISTICS)
        values = [_statistic(test[policy], statistic) for test in self._test.values()]
        return f"{min(values) if one_of(end, ('least', 'most')) == 'least' else max(values):.3f}"

    def test_windows(self) -> str:
        """Return the number of test windows."""
        return count(sum(map(len, self._test.values())))

    def over_free(self, end: str, policy: str) -> str:
        """Return the least or the greatest mean cost of a policy over the mean optimum of a drawn chain."""
        names = ("known", *_TESTED)
        groups = read_rows("deadline_chains").groupby(["up", "stay"])
        ratios = groups[one_of(policy, names)].mean() / groups[FREE].mean()
        return f"{ratios.min() if one_of(end, ('least', 'most')) == 'least' else ratios.max():.3f}"

    def draws(self) -> str:
        """Return the number of instances of each drawn chain."""
        return count(len(read_rows("deadline_chains")) / len(read_rows("deadline_chains").groupby(["up", "stay"])))


def _statistic(values: pd.Series[float], statistic: str) -> float:
    return float(values.mean() if statistic == "mean" else values.quantile(0.95))
