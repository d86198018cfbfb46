"""Write the tables, numbers and figures of the pages on jobs with a deadline from their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from docs.studies.claims import Claim
from docs.studies.claims_tables import claims_frame, claims_table, number_of_claims, one_of
from docs.studies.deadline import strategy_runs
from docs.studies.deadline.claims import Factor, costs_by_window, factors, judge, remaining_gap
from docs.studies.deadline.foresight import columns_of_hours
from docs.studies.deadline.intervals import PERCENTILE, Estimate, Resamples, difference, quantile
from docs.studies.deadline.rounded import rounded_ratios
from docs.studies.deadline.skynomad import PRINTED, means
from docs.studies.deadline.speed import SOLVERS
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
    "score": "z.2f",
}
_TESTED = ("renewal", "uniform", "greedy")
#: Statistics of cost / free: the mean, or the quantile of this share.
_STATISTICS: Mapping[str, float | None] = {"mean": None, "95": PERCENTILE}


class Published:
    """Writers of the marked parts of the pages on jobs with a deadline.

    Writers take the words of a mark, and raise `InputError` for unknown words. A cell is given by its deadline in hours
    and its overhead in seconds.

    Examples
    --------
    >>> sorted(Published().writers())[:3]
    ['ahead', 'ahead_windows', 'by_cell']
    """

    folder = "results/deadline"

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        tables = (
            self.claims,
            self.by_cell,
            self.factors,
            self.held_out,
            self.chains,
            self.ahead,
            self.panel,
            self.speed,
            self.race,
        )
        numbers = (self.runs, self.instances, self.num_claims, self.cell, self.range, self.factor, self.tested)
        more = (self.lead, self.missed, self.test_windows, self.over_free, self.draws, self.gap_left)
        times = (self.ahead_windows, self.speed_of, self.measured_on, self.race_of)
        own: dict[str, Writer] = {writer.__name__: writer for writer in (*tables, *numbers, *more, *times)}
        return own | {
            "models": strategy_runs.models_table,
            "strategy": strategy_runs.mean_ratio,
            "raised": lambda: f"{count((rounded_ratios() > 1).sum())} of {count(len(rounded_ratios()))}",
            "files": lambda word: count(strategy_runs.num_files(word)),
            "lead_of_best_file": lambda: strategy_runs.lead_of_best().text(".3f"),
        }

    def pictures(self) -> dict[str, Picture | DataFile]:
        """Return the figures and data files next to the pages, by name."""
        return {
            "ratios.svg": Picture(lambda: self._drawn, self._draw),
            "foresight.svg": Picture(lambda: read_rows("deadline_foresight"), _draw_foresight),
            "strategies.svg": Picture(strategy_runs.files_frame, strategy_runs.draw_models),
            "race.svg": Picture(lambda: read_rows("deadline_solvers"), _draw_race),
            "cells.csv": DataFile(lambda: self._cells),
            "strategies.csv": DataFile(strategy_runs.files_frame),
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
    def _factors(self) -> Mapping[str, Factor]:
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

    def factors(self) -> str:
        """Return by which factor uniform closes greedy's gap, in all windows and in parts of them."""
        rows = [
            [factor.setting, count(factor.windows), factor.mean.text(), factor.bad.text()]
            for factor in self._factors.values()
        ]
        return text_table(["windows", "number", "of mean gaps", "of 95th percentiles"], rows)

    def held_out(self, statistic: str) -> str:
        """Return cost / free in the test windows, in the mean or the 95th percentile, and what renewal saves."""
        one_of(statistic, _STATISTICS)
        rows = []
        for cell, heading in zip(_CELLS, _HEADINGS, strict=True):
            test = self._test[cell]
            values = {name: _statistic(test[name], statistic) for name in _TESTED}
            row = [heading, count(len(test)), *(f"{value:.3f}" for value in values.values())]
            row += [_lead(test, "renewal", other, statistic).text(".3f") for other in ("uniform", "greedy")]
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

    def ahead(self) -> str:
        """Return mean cost / free by hours of foresight, with a column for each cell."""
        by_hours = _mean_ratios()
        rows = [[f"{hours} h", *(f"{ratios[cell]:.3f}" for cell in _CELLS)] for hours, ratios in by_hours.items()]
        rows[0][0] += " (`renewal`)"
        return text_table(["foresight", *_HEADINGS], [*rows, ["all hours", *["1.000"] * len(_CELLS)]])

    def panel(self) -> str:
        """Return the mean dollars of SkyNomad's panel: printed, billed as its artifact does, and of all slots."""
        who = {"free": "optimum", "up_s": "UP(S), three zones (`up_s`)", "uniform": "UP, one zone (`uniform`)"}
        rows = [
            [who[name], f"{PRINTED[name]:.2f}", *(f"{dollars:.2f}" for dollars in reversed(both))]
            for name, both in means().items()
        ]
        return text_table(["who", "printed, $", "billed as the artifact does, $", "every slot billed, $"], rows)

    def speed(self) -> str:
        """Return medians and maxima of times, with the times that are aimed at."""
        rows = [
            [
                row["what"],
                count(row["times"]),
                *(f"{row[name]:,.1f}" for name in ("median", "worst")),
                f"{row['aim']:,.0f}",
            ]
            for row in records(read_rows("deadline_speed"))
        ]
        return text_table(["what", "number", "median, ms", "most, ms", "aim, ms"], rows)

    def race(self) -> str:
        """Return for each group and solver the proofs, the median time, and the median ratio to the first solver."""
        frame = read_rows("deadline_solvers")
        base = frame[frame["solver"] == SOLVERS[0]].set_index("instance")["seconds"]
        frame["ratio"] = frame["seconds"] / frame["instance"].map(base)
        rows = []
        for group in frame["group"].unique():
            for solver in SOLVERS:
                own = frame[(frame["group"] == group) & (frame["solver"] == solver)]
                proven = int((own["status"] == "optimal").sum())
                more = "" if proven == len(own) else ">= "
                ratio = f"{more}{_three_digits(own['ratio'].median())}"
                took = _three_digits(1000 * own["seconds"].median())
                rows.append([group, solver, f"{proven} of {len(own)}", took, ratio])
        return text_table(["instances", "solver", "proven", "median, ms", "median ratio"], rows)

    # ---- numbers

    def gap_left(self, hours: str) -> str:
        """Return the share of renewal's gap to the optimum that hours of foresight leave, with its interval."""
        columns = {str(number): column for number, column in columns_of_hours().items()}
        return remaining_gap(read_rows("deadline_foresight"), columns[one_of(hours, columns)]).text(".0%")

    def ahead_windows(self) -> str:
        """Return the number of windows of the study of foresight."""
        return count(len(read_rows("deadline_foresight")))

    def speed_of(self, key: str, statistic: str) -> str:
        """Return the median or the maximum of the times of a row, in milliseconds, or its aim."""
        rows = {row["key"]: row for row in records(read_rows("deadline_speed"))}
        value = rows[one_of(key, rows)][one_of(statistic, ("median", "worst", "aim"))]
        return f"{value:,.1f} ms" if value < 10_000 else f"{value / 1000:,.0f} s"

    def race_of(self, solver: str) -> str:
        """Return the median over all instances of the race of a solver's time over that of the first solver."""
        frame = read_rows("deadline_solvers").pivot_table(index="instance", columns="solver", values="seconds")
        return _three_digits((frame[one_of(solver, SOLVERS)] / frame[SOLVERS[0]]).median())

    def measured_on(self) -> str:
        """Return the machine of the times."""
        return str(read_rows("deadline_speed")["machine"].iloc[0])

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

    def factor(self, statistic: str, key: str, policy: str = "uniform") -> str:
        """Return by which factor a policy closes greedy's gap, with its interval (see `factors`)."""
        found = self._factors if policy == "uniform" else factors(self._lines, one_of(policy, self._by_policy()))
        factor = found[one_of(key, found)]
        return (factor.mean if one_of(statistic, _STATISTICS) == "mean" else factor.bad).text()

    def lead(self, policy: str, other: str, deadline_h: str, overhead_s: str) -> str:
        """Return by how much the mean cost / free of a policy is below that of another one, with its interval."""
        costs = costs_by_window(self._lines)
        mine = costs[(costs["deadline_h"] == int(deadline_h)) & (costs["overhead_s"] == int(overhead_s))]
        for name in (policy, other):
            mine = mine.assign(**{one_of(name, self._by_policy()): mine[name] / mine[FREE]})
        return _lead(mine, policy, other, "mean").text(".3f")

    def missed(self, guard: str) -> str:
        """Return how many runs under a guard miss the deadline."""
        mine = self._cells[self._cells["guard"] == one_of(guard, ("step", "step_old"))]
        return count(mine["missed"].sum())

    def range(self, end: str, column: str, policy: str) -> str:
        """Return the least or the greatest value of a statistic of a policy in a cell."""
        by_policy = self._by_policy()
        values = [row[one_of(column, _FORMS)] for row in by_policy[one_of(policy, by_policy)].values()]
        return format(_end(end, values), _FORMS[column])

    def tested(self, end: str, policy: str, statistic: str) -> str:
        """Return the least or the greatest cost / free of a policy over the cells, in the test windows."""
        one_of(policy, _TESTED)
        one_of(statistic, _STATISTICS)
        values = [_statistic(test[policy], statistic) for test in self._test.values()]
        return f"{_end(end, values):.3f}"

    def test_windows(self) -> str:
        """Return the number of test windows."""
        return count(sum(map(len, self._test.values())))

    def over_free(self, end: str, policy: str) -> str:
        """Return the least or the greatest mean cost of a policy over the mean optimum of a drawn chain."""
        names = ("known", *_TESTED)
        groups = read_rows("deadline_chains").groupby(["up", "stay"])
        ratios = groups[one_of(policy, names)].mean() / groups[FREE].mean()
        return f"{_end(end, ratios):.3f}"

    def draws(self) -> str:
        """Return the number of instances of each drawn chain."""
        return count(len(read_rows("deadline_chains")) / len(read_rows("deadline_chains").groupby(["up", "stay"])))


def _end(word: str, values: Iterable[float]) -> float:
    return min(values) if one_of(word, ("least", "most")) == "least" else max(values)


def _three_digits(number: float) -> str:
    """Return a number with at least three digits.

    Examples
    --------
    >>> _three_digits(1210.4), _three_digits(18.24)
    ('1,210', '18.2')
    """
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _mean_ratios() -> dict[int, dict[tuple[int, int], float]]:
    """Return mean cost / free by hours of foresight and cell."""
    rows = read_rows("deadline_foresight")
    found: dict[int, dict[tuple[int, int], float]] = {}
    for hours, column in columns_of_hours().items():
        means = (rows[column] / rows[FREE]).groupby([rows[name] for name in CELL]).mean()
        found[hours] = {cell: float(means[cell]) for cell in _CELLS}
    return found


def _draw_foresight(path: Path) -> None:
    """Draw mean cost / free against hours of foresight, a line for each cell."""
    by_hours = _mean_ratios()
    figure, (axes,) = canvas.new_figure(width=7.0, heights=(3.4,))
    names = [*map(str, by_hours), "all"]
    for i, (cell, heading) in enumerate(zip(_CELLS, _HEADINGS, strict=True)):
        style = "-" if cell[1] == min(overhead_s for _, overhead_s in _CELLS) else "--"
        means = [*(ratios[cell] for ratios in by_hours.values()), 1.0]
        axes.plot(
            names, means, style, color=canvas.COLOURS[i // 2], marker="o", markersize=3, label=f"D, d = {heading}"
        )
    axes.set_xlabel("hours of foresight (0: renewal)")
    axes.set_ylabel("mean cost / free")
    axes.legend(fontsize=8, frameon=False)
    canvas.save(figure, path)


def _draw_race(path: Path) -> None:
    """Draw the time of each solve of the race by solver; hollow where the solver stopped without a proof."""
    rows = read_rows("deadline_solvers")
    figure, (axes,) = canvas.new_figure(width=7.0, heights=(2.6,))
    groups = list(rows["group"].unique())
    for row in records(rows):
        place = SOLVERS.index(row["solver"]) + 0.1 * (groups.index(row["group"]) - (len(groups) - 1) / 2)
        colour = canvas.COLOURS[0]
        face = colour if row["status"] == "optimal" else "none"
        axes.plot(row["seconds"], place, "o", color=colour, markerfacecolor=face, markersize=4)
    axes.set_yticks(range(len(SOLVERS)), SOLVERS)
    axes.set_ylim(len(SOLVERS) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_xlabel("seconds of processor time (hollow: stopped without a proof)")
    canvas.save(figure, path)


def _statistic(values: pd.Series[float], statistic: str) -> float:
    share = _STATISTICS[statistic]
    return float(values.mean()) if share is None else quantile(values, share)


def _lead(ratios: pd.DataFrame, policy: str, other: str, statistic: str) -> Estimate:
    """Return by how much a statistic of cost / free is lower with one policy than with another one."""
    return difference(Resamples(ratios), ratios[other], ratios[policy], _STATISTICS[one_of(statistic, _STATISTICS)])
