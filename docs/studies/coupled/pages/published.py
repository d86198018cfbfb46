"""Writers of the pages on the paper's experiment: runs, optima, ratios, and metrics against IE.

The rows are ``paper_runs.csv.xz`` (17 heuristics on 6,000 instances under two readings) and ``paper_optima.csv``.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.studies.claims_tables import one_of
from docs.studies.coupled import optima
from docs.studies.coupled.pages.claims import ClaimsPage
from docs.studies.coupled.pages.fleets import FleetsPage
from docs.studies.coupled.pages.foresight import ForesightPage
from docs.studies.coupled.pages.growth import GrowthPage
from docs.studies.coupled.pages.kmis import KmisPage
from docs.studies.coupled.pages.lookahead import LookaheadPage
from docs.studies.coupled.pages.online_optima import OnlineOptimaPage
from docs.studies.coupled.pages.program_lagrangian import ProgramLagrangianPage
from docs.studies.coupled.pages.readings import ReadingsPage
from docs.studies.coupled.pages.real_machines import RealMachinesPage
from docs.studies.coupled.pages.scale import ScalePage
from docs.studies.coupled.pages.simulator import SimulatorPage
from docs.studies.coupled.pages.solver_race import SolverRacePage
from docs.studies.coupled.pages.variants import VariantsPage
from docs.studies.marked_pages import DataFile, Picture, Writer
from docs.studies.rows import ROWS
from docs.studies.text_table import text_table
from hindsched.bench.coupled import reproduction
from hindsched.bench.coupled.versus import diff_by_wmin
from hindsched.bench.report import canvas, ratio_plots
from hindsched.bench.report.formatting import MINUS, NOTHING, count, interval, number, share
from hindsched.bench.results.ratio_statistics import distribution, ends, in_median_order
from hindsched.bench.results.ratios import with_ratios
from hindsched.bench.results.read import read_results
from hindsched.bench.results.records import records

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Published"]

READINGS = ("printed", "conditional")
_SHARES = ("optimal", "within10", "within30", "within100")
_INTERVALS = ("quartile_1", "median", "quartile_3", "mean")


class Published:
    """Writers of all pages of results of ``coupled``; rows are read when a writer needs them.

    The words of a mark after the name are the arguments of its writer; unknown values raise `InputError`. ``reading``
    is ``printed`` or ``conditional``, ``table`` is ``I`` (m = 5) or ``II`` (m = 10).

    Examples
    --------
    >>> "versus" in Published().writers()
    True
    >>> Published().instances("impossible"), Published().longer("count")
    ('200', '1,038')
    """

    folder = "results/coupled"
    more_pages = ("../../lookahead.md",)

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        tables = (self.ratios, self.optima)
        numbers = (self.runs, self.instances, self.impossible, self.fails, self.rank, self.first, self.spearman)
        more = (self.ratio, self.slower, self.duel, self.rescued, self.longer)
        mine = {writer.__name__: writer for writer in (*tables, *numbers, *more)}
        for page in self._others:
            mine |= page.writers()
        return mine

    @cached_property
    def _others(self) -> tuple[Any, ...]:
        """The writers of pages that need other rows than the paper's experiment."""
        lookahead = LookaheadPage(lambda: self._of[READINGS[0]])
        experiments = (ForesightPage(), OnlineOptimaPage(), KmisPage(), ProgramLagrangianPage(), ScalePage())
        variants = VariantsPage(lambda: self._of[READINGS[0]])
        others = (ReadingsPage(), ClaimsPage(lambda: self._of), lookahead, variants)
        return (
            *others,
            *experiments,
            RealMachinesPage(),
            FleetsPage(),
            GrowthPage(),
            SimulatorPage(),
            SolverRacePage(),
        )

    def pictures(self) -> dict[str, Picture | DataFile]:
        """Return the pictures and data files next to the pages, by name."""
        return {
            "figure2.svg": Picture(self._diff_by_wmin, lambda path: reproduction.draw_figure_2(self._of, path)),
            "ratios.svg": Picture(self._heuristics, lambda path: _draw_ranges(self._heuristics(), path)),
            "optima.svg": Picture(
                lambda: self._optima_by_point, lambda path: optima.draw_distribution(self._optima_by_point, path)
            ),
            "optima.csv": DataFile(lambda: self._optima_by_point),
            "ratios.csv": DataFile(self._all_ratios),
            "tables.csv": DataFile(lambda: self._metrics),
            **{name: file for page in self._others for name, file in page.files().items()},
        }

    # ---- rows, and tables of them

    @cached_property
    def _of(self) -> dict[str, pd.DataFrame]:
        """Return the runs under each reading, with the value as ``makespan`` too."""
        runs = read_results(ROWS / "paper_runs.csv.xz").runs
        runs["makespan"] = runs["value"]
        return {reading: runs[runs["estimator"] == reading].reset_index(drop=True) for reading in READINGS}

    @cached_property
    def _optima(self) -> pd.DataFrame:
        return optima.known_optima()

    @cached_property
    def _optima_by_point(self) -> pd.DataFrame:
        return optima.distribution(self._optima)

    @cached_property
    def _metrics(self) -> pd.DataFrame:
        return reproduction.tables(self._of)

    @cached_property
    def _ratios(self) -> dict[str, pd.DataFrame]:
        return {reading: with_ratios(runs) for reading, runs in self._of.items()}

    @cached_property
    def _distributions(self) -> dict[str, pd.DataFrame]:
        return {reading: in_median_order(distribution(ratios)) for reading, ratios in self._ratios.items()}

    def _all_ratios(self) -> pd.DataFrame:
        """Return the distribution of ratios of every heuristic under each reading."""
        import pandas as pd

        return pd.concat([table.assign(reading=reading) for reading, table in self._distributions.items()])

    def _diff_by_wmin(self) -> pd.DataFrame:
        import pandas as pd

        frames = [diff_by_wmin(frame, panels=("m",)) for frame in self._of.values()]
        return pd.concat(frames)[["m", "wmin", "policy", "diff"]]

    def _distribution(self, reading: str) -> pd.DataFrame:
        return self._distributions[one_of(reading, READINGS)]

    def _heuristics(self) -> pd.DataFrame:
        """Return the ratios under the first reading, without RANDOM, whose scale would hide the others."""
        table = self._distribution(READINGS[0])
        return table[table["policy"] != "RANDOM"]

    def _makespans(self, policy: str, reading: str) -> pd.Series[float]:
        """Return the makespans of a policy by instance, infinite where it fails."""
        runs = self._of[one_of(reading, READINGS)]
        mine = runs[runs["policy"] == one_of(policy, runs["policy"].unique())]
        return mine.set_index("fingerprint")["value"].fillna(float("inf"))

    def _table(self, table: str, reading: str) -> pd.DataFrame:
        metrics = self._metrics
        one_of(table, metrics["table"].unique())
        mine = metrics[(metrics["table"] == table) & (metrics["reading"] == one_of(reading, READINGS))]
        return mine.sort_values("diff", kind="stable", ignore_index=True)

    # ---- tables

    def ratios(self, reading: str) -> str:
        """Return the competitive ratios of all heuristics under a reading."""
        names = ["1st quartile", "median", "3rd quartile", "mean", "95% of the mean"]
        rows = []
        for row in records(self._distribution(reading)):
            cells = [interval(*ends(row, name)) for name in _INTERVALS]
            cells += [f"{number(row['ci_low'])} to {number(row['ci_high'])}"]
            cells += [share(row[name]) for name in ("within10", "within30", "within100")]
            rows.append([row["policy"], *cells, share(row["unfinished"] / row["runs"])])
        return text_table(["heuristic", *names, "within 10%", "30%", "100%", "unfinished"], rows)

    def optima(self) -> str:
        """Return the median optimum at each point of the experiment."""
        frame = self._optima_by_point
        rows = [
            [str(m), str(n_com), *(_slots(value) for value in group.sort_values("wmin")["median"])]
            for (m, n_com), group in frame.groupby(["m", "n_com"])
        ]
        wmins = sorted(frame["wmin"].unique())
        return text_table(["m", "n_com", f"wmin = {wmins[0]}", *map(str, wmins[1:])], rows)

    # ---- numbers

    def runs(self) -> str:
        """Return the number of stored runs."""
        return count(sum(len(frame) for frame in self._of.values()))

    def instances(self, kind: str) -> str:
        """Return the number of instances: all, finishable (feasible) or impossible (infeasible)."""
        status = self._optima["status"]
        kinds = {"all": len(status), "finishable": (status == "optimal").sum()}
        kinds["impossible"] = (status == "infeasible").sum()
        return count(kinds[one_of(kind, kinds)])

    def impossible(self) -> str:
        """Return the points of the infeasible instances."""
        where = self._optima[self._optima["status"] == "infeasible"]
        ms = " or ".join(str(m) for m in sorted(where["m"].unique()))
        return f"m = {ms} and wmin >= {where['wmin'].min()}"

    def fails(self, reading: str, policy: str, table: str = "both") -> str:
        """Return the number of failed runs of a policy, in one table or both."""
        chosen = ("I", "II") if table == "both" else (table,)
        found = [self._table(each, reading).set_index("policy")["fails"] for each in chosen]
        return count(sum(each[one_of(policy, each.index)] for each in found))

    def rank(self, table: str, reading: str, policy: str) -> str:
        """Return the rank of a policy by %diff."""
        order = self._table(table, reading)["policy"].to_list()
        place = order.index(one_of(policy, order)) + 1
        ending = "th" if place in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
        return f"{place}{ending}"

    def first(self, reading: str, how_many: str) -> str:
        """Return the policies with the least %diff in both tables."""
        orders = [self._table(table, reading)["policy"].to_list()[: int(how_many)] for table in ("I", "II")]
        said = [f"{', '.join(order[:-1])} and {order[-1]}" if len(order) > 1 else order[0] for order in orders]
        return said[0] if said[0] == said[1] else f"{said[0]} (Table I), {said[1]} (Table II)"

    def spearman(self, table: str) -> str:
        """Return the rank correlation of the two readings' orders by %diff."""
        first, second = READINGS
        found = reproduction.compare(self._table(table, second), self._table(table, first), first)
        return f"{found['spearman'].iloc[0]:.2f}".replace("-", MINUS)

    def ratio(self, reading: str, policy: str, statistic: str) -> str:
        """Return a statistic of a policy's competitive ratio."""
        frame = self._distribution(reading)
        rows = {row["policy"]: row for row in records(frame)}
        row = rows[one_of(policy, rows)]
        if one_of(statistic, (*_INTERVALS, *_SHARES, "unfinished")) in _INTERVALS:
            return interval(*ends(row, statistic))
        return share(row["unfinished"] / row["runs"] if statistic == "unfinished" else row[statistic])

    def slower(self, policy: str, statistic: str) -> str:
        """Return the share of instances where the second reading makes a policy slower, or the median change."""
        mine, other = (self._makespans(policy, reading) for reading in READINGS)
        ratio = (other / mine)[(mine < float("inf")) & (other < float("inf"))]
        if one_of(statistic, ("share", "median")) == "share":
            return share(float((ratio > 1).mean()))
        return f"{ratio.median() - 1:.0%}".replace("-", MINUS)

    def duel(self, policy: str, reading: str, other: str, other_reading: str, outcome: str) -> str:
        """Return the share of instances that two policies finish where one is faster, or slower, than the other."""
        mine, theirs = self._makespans(policy, reading), self._makespans(other, other_reading)
        both = (mine < float("inf")) & (theirs < float("inf"))
        is_so = mine < theirs if one_of(outcome, ("faster", "slower")) == "faster" else mine > theirs
        return share(float(is_so[both].mean()))

    def rescued(self, reading: str, failing: str, finishing: str) -> str:
        """Return the number of instances that one policy finishes and another does not."""
        fails = self._makespans(failing, reading) == float("inf")
        return count((fails & (self._makespans(finishing, reading) < float("inf"))).sum())

    def longer(self, statistic: str) -> str:
        """Return the number of optima that are longer without stand-by, or their median or largest increase."""
        frame = self._optima
        ratio = (frame["makespan_no_stand_by"] / frame["makespan"]).astype(float)
        ratio = ratio[ratio > 1]
        said = {"count": count(len(ratio)), "median": f"{ratio.median() - 1:.0%}", "most": number(ratio.max())}
        return said[one_of(statistic, said)]


def _slots(value: Any) -> str:
    """Return a makespan, a parameter or a count in whole numbers; nothing of nothing."""
    return NOTHING if value is None or value != value else f"{value:,.0f}"  # noqa: PLR0124


def _draw_ranges(table: pd.DataFrame, path: Path) -> None:
    figure, (axes,) = canvas.new_figure(width=7.0, heights=(0.75 + 0.21 * len(table),))
    ratio_plots.draw_ranges(axes, table, xlabel="makespan / hindsight optimum")
    canvas.save(figure, path)
