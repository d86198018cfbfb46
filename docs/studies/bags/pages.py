"""Write the tables, numbers and figures of the pages on bags from their rows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.studies.bags.claims import judge
from docs.studies.marked_pages import Picture, Writer
from docs.studies.rows import read_rows
from hindsched.bench.bags.configuration_means import CONFIGURATION, ORACLE, draw_bars, in_table_order
from hindsched.bench.bags.verify import CLAIMS
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import NOTHING, count, interval, number, share
from hindsched.bench.report.markdown import text_table
from hindsched.bench.results.records import records
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Published"]

_NAMES = {ORACLE: "… told the truth"}
#: Bars that the page shows: the paper's two sets of machines on weekdays, and the zones.
_BARS = (
    *((machines, store, "weekday") for machines in ("M01", "M04") for store in ("shared", "private")),
    ("zones", "shared", "daily"),
)


class Published:
    """The published rows, read when first asked for, and what pages say of them.

    Writers take the words of a mark; those of one parameter's values are refused in one line (`InputError`) where they
    are none. A cell is told by machines, store, part of the week, tasks, reference seconds and checkpoints.

    Examples
    --------
    >>> sorted(Published().writers())[:4]
    ['cells', 'claims', 'closed', 'gain']
    """

    folder = "bags"

    def writers(self) -> dict[str, Writer]:
        """Return who writes the marked parts of pages (see `docs.studies.marked_pages`), by name."""
        tables = (self.claims, self.cells, self.gaps, self.verified, self.speed)
        counts = (self.runs, self.optima, self.optimal, self.verified_on)
        means = (self.slowdown, self.on_demand, self.ratio, self.closed, self.gain, self.waits)
        times = (self.speed_of, self.measured_on)
        return {writer.__name__: writer for writer in (*tables, *counts, *means, *times)}

    def pictures(self) -> dict[str, Picture]:
        """Return the pictures beside the pages, by file."""
        return {
            f"bars-{'-'.join(cell[:2])}.svg": Picture(partial(self._of, *cell), partial(self._draw, *cell))
            for cell in _BARS
        }

    # ---- rows, and tables of them

    @cached_property
    def _cells(self) -> pd.DataFrame:
        return read_rows("bags_cells")

    def _of(self, machines: str, store: str, when: str) -> pd.DataFrame:
        found = self._cells
        for name, word in (("machines", machines), ("store", store), ("when", when)):
            found = found[found[name] == _one_of(word, found[name].unique())]
        return found

    def _draw(self, machines: str, store: str, when: str, path: Path) -> None:
        canvas.save(draw_bars(self._cells, machines, store, when), path)

    def _cell(self, cell: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        """Return the rows of a cell by policy."""
        if len(cell) != len(CONFIGURATION):
            raise InputError(f"{' '.join(cell)!r}, expected a cell: {' '.join(CONFIGURATION)}")
        found = self._cells
        for name, word in zip(CONFIGURATION, cell, strict=True):
            texts = found[name].astype(str)
            found = found[texts == _one_of(word, texts.unique())]
        return {row["policy"]: row for row in records(found)}

    # ---- tables

    def claims(self) -> str:
        """Return what became of each claim."""
        rows = [[f.source, f.claim, f"**{f.verdict}**", f.evidence] for f in judge(self._cells)]
        return _left_table(["", "the paper says, or one may ask", "", "here"], rows)

    def cells(self, machines: str, when: str) -> str:
        """Return turnaround / IET of every cell, in brackets turnaround / OPT, and OPT / IET."""
        found = self._cells[self._cells["machines"] == _one_of(machines, self._cells["machines"].unique())]
        found = found[found["when"] == _one_of(when, found["when"].unique())]
        policies = in_table_order(found["policy"].unique())
        rows = []
        for cell, group in found.groupby(["tasks", "reference_s", "store", "checkpoints"], sort=True):
            by_policy = {row["policy"]: row for row in records(group)}
            told = [_both(by_policy[name]) if name in by_policy else NOTHING for name in policies]
            rows.append([*map(str, cell), *told, number(by_policy["FCFS"]["optimum_slowdown"])])
        names = [_NAMES.get(name, name) for name in policies]
        return text_table(["tasks", "R", "store", "checkpoints", *names, "OPT / IET"], rows)

    def gaps(self) -> str:
        """Return how far above the optimum the schedulers are with a shared store, and what ours close of FCFS-TR's."""
        names = ("FCFS", "FCFS-TR", "LEVEL", "PACE")
        rows = []
        shared = self._cells[self._cells["store"] == "shared"]
        for cell, group in shared.groupby(["machines", "when", "checkpoints"], sort=True):
            gap = {name: _gap(group, name) for name in names}
            told = [f"{gap[name]:.1%}" for name in names]
            closed = [_closed(gap[name], gap["FCFS-TR"]) for name in ("LEVEL", "PACE")]
            rows.append([*map(str, cell), *told, *closed])
        return text_table(["machines", "", "checkpoints", *names, "LEVEL closes", "PACE closes"], rows)

    def verified(self) -> str:
        """Return how often each theorem was confirmed by machine."""
        times = _verified()
        return text_table(["", "times"], [[says, count(times[name])] for name, says in CLAIMS.items()])

    def speed(self) -> str:
        """Return what is measured of speed."""
        rows = []
        for row in records(read_rows("bags_speed")):
            proven = count(row["proven"]) if row["proven"] >= 0 else NOTHING  # a run proves nothing
            times = [_ms(row[name]) for name in ("median", "worst")]
            rows.append([row["what"], row["size"], count(row["times"]), proven, *times])
        return text_table(["", "size", "times", "proven", "median", "worst"], rows)

    # ---- numbers

    def runs(self, kind: str = "all") -> str:
        """Return how many runs there are: all, or those that did not finish."""
        return count(self._cells["starts" if _one_of(kind, ("all", "unfinished")) == "all" else "unfinished"].sum())

    def optima(self, kind: str = "all") -> str:
        """Return how many optima without saves on demand there are: all, or those that are not proven."""
        mine = self._cells[self._cells["policy"] == "FCFS"]
        if _one_of(kind, ("all", "unproven")) == "all":
            return count(mine["starts"].sum())
        return count((mine["starts"] - mine["proven"]).sum())

    def slowdown(self, policy: str, *cell: str) -> str:
        """Return turnaround / IET of a policy in a cell.

        ``OPT`` is the optimum without saves on demand, ``TRUTH`` the scheduler that is told the truth.
        """
        rows = self._cell(cell)
        policy = ORACLE if policy == "TRUTH" else policy
        if policy == "OPT":
            return number(rows["FCFS"]["optimum_slowdown"])
        return number(rows[_one_of(policy, rows)]["slowdown"])

    def on_demand(self, *cell: str) -> str:
        """Return OPT / IET of a cell with saves on demand."""
        return number(self._cell(cell)["FCFS-PRDCT-DMD"]["optimum_slowdown"])

    def ratio(self, policy: str, *cell: str) -> str:
        """Return turnaround / OPT of a policy in a cell."""
        rows = self._cell(cell)
        row = rows[_one_of(policy, rows)]
        return interval(row["ratio_low"], row["ratio_high"])

    def closed(self, policy: str, checkpoints: str) -> str:
        """Return what share of FCFS-TR's gap to the optimum a policy closes, over all cells with a shared store."""
        mine = self._cells[(self._cells["store"] == "shared") & (self._cells["machines"] != "zones")]
        mine = mine[mine["checkpoints"].astype(str) == _one_of(checkpoints, ("0", "1", "9"))]
        return _closed(_gap(mine, _one_of(policy, mine["policy"].unique())), _gap(mine, "FCFS-TR"))

    def optimal(self, policy: str, checkpoints: str) -> str:
        """Return what share of a policy's runs with a shared store are optimal, on the paper's machines."""
        mine = self._cells[(self._cells["store"] == "shared") & (self._cells["machines"] != "zones")]
        mine = mine[mine["checkpoints"].astype(str) == _one_of(checkpoints, ("0", "1", "9"))]
        mine = mine[mine["policy"] == _one_of(policy, mine["policy"].unique())]
        return share(mine["optimal"].sum() / mine["starts"].sum())

    def gain(self, what: str, policy: str, when: str) -> str:
        """Return by how much a policy's turnaround falls in the mean of the paper's cells.

        ``shared``: with shared stores instead of private ones; ``checkpoints``: with nine instead of one, stores
        shared; for that ``OPT`` is a policy too.
        """
        _one_of(what, ("shared", "checkpoints"))
        column = "optimum_slowdown" if policy == "OPT" else "slowdown"
        mine = self._cells[self._cells["when"] == _one_of(when, self._cells["when"].unique())]
        mine = mine[mine["policy"] == _one_of("FCFS" if policy == "OPT" else policy, mine["policy"].unique())]
        axis, better, worse = "store", "shared", "private"
        if what == "checkpoints":
            mine = mine[mine["store"] == "shared"].astype({"checkpoints": str})
            axis, better, worse = "checkpoints", "9", "1"
        wide = mine.pivot_table(
            index=[name for name in CONFIGURATION if name != axis], columns=axis, values=column
        ).dropna()
        return f"{float((1 - wide[better] / wide[worse]).mean()):.1%}"

    def waits(self, end: str, when: str) -> str:
        """Return the least or the greatest turnaround / IET of FCFS with private stores."""
        mine = self._cells[(self._cells["policy"] == "FCFS") & (self._cells["store"] == "private")]
        found = mine.loc[mine["when"] == _one_of(when, mine["when"].unique()), "slowdown"]
        return number(float(found.min() if _one_of(end, ("least", "most")) == "least" else found.max()))

    def verified_on(self) -> str:
        """Return on how many random instances the theorems were confirmed; plain digits, as a command takes them."""
        return str(_verified()["instances"])

    def measured_on(self) -> str:
        """Return the machine that speed was measured on."""
        return str(read_rows("bags_speed")["machine"].iloc[0])

    def speed_of(self, key: str, statistic: str) -> str:
        """Return the median or worst time of a row of the speed table."""
        rows = {row["key"]: row for row in records(read_rows("bags_speed"))}
        return _ms(rows[_one_of(key, rows)][_one_of(statistic, ("median", "worst"))])


def _verified() -> dict[str, int]:
    rows = read_rows("bags_verified")
    return dict(zip(rows["claim"].tolist(), rows["times"].tolist(), strict=True))


def _one_of(word: str, words: Iterable[Any]) -> str:
    known = list(words)
    if word not in known:
        raise InputError(f"{word!r}, expected one of {', '.join(map(str, known))}")
    return word


def _both(row: dict[str, Any]) -> str:
    """Return turnaround / IET, and in brackets turnaround / OPT; with what did not finish."""
    told = f"{number(row['slowdown'])} ({interval(row['ratio_low'], row['ratio_high'])})"
    return f"{told}, {count(row['unfinished'])} unfinished" if row["unfinished"] else told


def _gap(cells: pd.DataFrame, policy: str) -> float:
    """Return how far above the optimum a policy is in the mean of some cells."""
    return float((cells.loc[cells["policy"] == policy, "ratio_high"] - 1).mean())


def _closed(mine: float, theirs: float) -> str:
    return NOTHING if theirs <= 0 else f"{1 - mine / theirs:.0%}"


def _left_table(headings: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (headings, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(headings), *lines[1:]]) + "\n"


def _ms(value: float) -> str:
    """Return milliseconds as a time.

    Examples
    --------
    >>> _ms(0.1234), _ms(45.67), _ms(12345.0)
    ('0.12 ms', '45.7 ms', '12.3 s')
    """
    return f"{number(value)} ms" if value < 1000 else f"{number(value / 1000)} s"
