"""Write the tables, numbers and figures of the pages on bags from their rows."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.studies.bags.baselines_page import BaselinesPage
from docs.studies.bags.claims_page import ClaimsPage
from docs.studies.claims_tables import one_of
from docs.studies.marked_pages import DataFile, Picture, Writer
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.bags.configuration_means import CONFIGURATION, ORACLE, draw_bars
from hindsched.bench.bags.verify import CLAIMS
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import NOTHING, count, interval, number, share
from hindsched.bench.results.records import records
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Published"]

#: Bar charts of the page: machines and part of the week.
_BARS = (("M04", "weekday"), ("zones", "daily"))
_CHECKPOINTS = ("0", "1", "9")


class Published:
    """Writers of the marked parts of the pages on bags.

    Writers take the words of a mark, and raise `InputError` for unknown words. A configuration is given by machines,
    store, part of the week, tasks, reference seconds and checkpoints.

    Examples
    --------
    >>> sorted(Published().writers())[:3]
    ['baselines', 'both_optima', 'by_predictor']
    """

    folder = "results/bags"

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        tables = (self.gaps, self.verified, self.speed, self.speed_large)
        counts = (self.runs, self.optima, self.optimal, self.verified_on)
        means = (self.slowdown, self.on_demand, self.ratio, self.closed, self.gain, self.waits)
        mine = {writer.__name__: writer for writer in (*tables, *counts, *means, self.speed_of, self.measured_on)}
        return mine | self._claims_page.writers() | self._baselines.writers()

    def pictures(self) -> dict[str, Picture | DataFile]:
        """Return the figures and data files next to the pages, by name."""
        bars: dict[str, Picture | DataFile] = {
            f"bars-{cell[0]}.svg": Picture(partial(self._of, *cell), partial(self._draw, *cell)) for cell in _BARS
        }
        speed = {"speed.svg": Picture(lambda: read_rows("bags_speed"), _draw_speed)}
        return bars | speed | self._claims_page.files() | self._baselines.files()

    # ---- rows

    @cached_property
    def _baselines(self) -> BaselinesPage:
        return BaselinesPage()

    @cached_property
    def _means(self) -> pd.DataFrame:
        return read_rows("bags_cells")

    @cached_property
    def _claims_page(self) -> ClaimsPage:
        return ClaimsPage()

    def _of(self, machines: str, when: str) -> pd.DataFrame:
        return self._means[(self._means["machines"] == machines) & (self._means["when"] == when)]

    def _draw(self, machines: str, when: str, path: Path) -> None:
        canvas.save(draw_bars(self._means, machines, when), path)

    def _configuration(self, words: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        """Return the rows of a configuration by policy."""
        if len(words) != len(CONFIGURATION):
            raise InputError(f"{' '.join(words)!r}, expected a configuration: {' '.join(CONFIGURATION)}")
        found = self._means
        for name, word in zip(CONFIGURATION, words, strict=True):
            texts = found[name].astype(str)
            found = found[texts == one_of(word, texts.unique().tolist())]
        return {row["policy"]: row for row in records(found)}

    def _shared(self, policy: str, checkpoints: str) -> pd.DataFrame:
        """Return the means of a policy with a shared store on the paper's machines."""
        mine = self._means[(self._means["store"] == "shared") & (self._means["machines"] != "zones")]
        mine = mine[mine["checkpoints"].astype(str) == one_of(checkpoints, _CHECKPOINTS)]
        return mine[mine["policy"] == one_of(policy, mine["policy"].unique().tolist())]

    # ---- tables

    def gaps(self) -> str:
        """Return the mean excess over the optimum with a shared store, and the share of FCFS-TR's that ours close."""
        names = ("FCFS", "FCFS-TR", "LEVEL", "PACE")
        rows = []
        shared = self._means[self._means["store"] == "shared"]
        for configuration, group in shared.groupby(["machines", "when", "checkpoints"], sort=True):
            gap = {name: _gap(group[group["policy"] == name]) for name in names}
            gaps = [f"{gap[name]:.1%}" for name in names]
            closed = [_closed(gap[name], gap["FCFS-TR"]) for name in ("LEVEL", "PACE")]
            rows.append([*map(str, configuration), *gaps, *closed])
        return text_table(["machines", "", "checkpoints", *names, "LEVEL closes", "PACE closes"], rows)

    def verified(self) -> str:
        """Return how often each theorem was confirmed by machine."""
        times = _verified()
        return text_table(["theorem", "times"], [[text, count(times[name])] for name, text in CLAIMS.items()])

    def speed(self) -> str:
        """Return the times on the paper's bags."""
        rows = []
        for row in records(read_rows("bags_speed")):
            if not row["key"].startswith("large-"):
                proven = count(row["proven"]) if row["proven"] >= 0 else NOTHING  # only an optimum can be proven
                times = [_milliseconds(row[name]) for name in ("median", "worst")]
                rows.append([row["what"], row["size"], count(row["times"]), proven, *times])
        return text_table(["", "size", "times", "proven", "median", "worst"], rows)

    def speed_large(self) -> str:
        """Return the times on 1,000 machines and 10,000 tasks."""
        rows = [row for row in records(read_rows("bags_speed")) if row["key"].startswith("large-")]
        return text_table(["", "time"], [[row["what"], _milliseconds(row["median"])] for row in rows])

    # ---- numbers

    def runs(self, kind: str = "all") -> str:
        """Return the number of runs: all, or unfinished."""
        column = "starts" if one_of(kind, ("all", "unfinished")) == "all" else "unfinished"
        return count(self._means[column].sum())

    def optima(self, kind: str = "all") -> str:
        """Return the number of optima without saves on demand: all, or unproven."""
        mine = self._means[self._means["policy"] == "FCFS"]
        if one_of(kind, ("all", "unproven")) == "all":
            return count(mine["starts"].sum())
        return count((mine["starts"] - mine["proven"]).sum())

    def slowdown(self, policy: str, *configuration: str) -> str:
        """Return turnaround / IET of a policy in a configuration.

        ``OPT`` is the optimum without saves on demand, ``ORACLE`` the predicting policy with an oracle.
        """
        rows = self._configuration(configuration)
        policy = ORACLE if policy == "ORACLE" else policy
        if policy == "OPT":
            return number(rows["FCFS"]["optimum_slowdown"])
        return number(rows[one_of(policy, rows)]["slowdown"])

    def on_demand(self, *configuration: str) -> str:
        """Return OPT / IET of a configuration with saves on demand."""
        return number(self._configuration(configuration)["FCFS-PRDCT-DMD"]["optimum_slowdown"])

    def ratio(self, policy: str, *configuration: str) -> str:
        """Return turnaround / OPT of a policy in a configuration."""
        rows = self._configuration(configuration)
        row = rows[one_of(policy, rows)]
        return interval(row["ratio_low"], row["ratio_high"])

    def closed(self, policy: str, checkpoints: str) -> str:
        """Return the share of FCFS-TR's gap to the optimum that a policy closes with a shared store."""
        return _closed(_gap(self._shared(policy, checkpoints)), _gap(self._shared("FCFS-TR", checkpoints)))

    def optimal(self, policy: str, checkpoints: str) -> str:
        """Return the share of optimal runs of a policy with a shared store, on the paper's machines."""
        mine = self._shared(policy, checkpoints)
        return share(mine["optimal"].sum() / mine["starts"].sum())

    def gain(self, what: str, policy: str, when: str) -> str:
        """Return the mean decrease of the turnaround over the paper's configurations.

        ``shared``: with shared stores instead of private ones. ``checkpoints``: with nine instead of one and shared
        stores, where ``OPT`` is a policy too.
        """
        one_of(what, ("shared", "checkpoints"))
        column = "optimum_slowdown" if policy == "OPT" else "slowdown"
        mine = self._means[self._means["when"] == one_of(when, self._means["when"].unique().tolist())]
        name = one_of("FCFS" if policy == "OPT" else policy, mine["policy"].unique().tolist())
        mine = mine[mine["policy"] == name]
        axis, better, worse = "store", "shared", "private"
        if what == "checkpoints":
            mine = mine[mine["store"] == "shared"].astype({"checkpoints": str})
            axis, better, worse = "checkpoints", "9", "1"
        index = [name for name in CONFIGURATION if name != axis]
        wide = mine.pivot_table(index=index, columns=axis, values=column).dropna()
        return f"{float((1 - wide[better] / wide[worse]).mean()):.1%}"

    def waits(self, end: str, when: str) -> str:
        """Return the least or the greatest turnaround / IET of FCFS with private stores."""
        mine = self._means[(self._means["policy"] == "FCFS") & (self._means["store"] == "private")]
        found = mine.loc[mine["when"] == one_of(when, mine["when"].unique().tolist()), "slowdown"]
        return number(float(found.min() if one_of(end, ("least", "most")) == "least" else found.max()))

    def verified_on(self) -> str:
        """Return the number of random instances of the theorems, in the digits of a command's option."""
        return str(_verified()["instances"])

    def measured_on(self) -> str:
        """Return the machine of the speed measurements."""
        return str(read_rows("bags_speed")["machine"].iloc[0])

    def speed_of(self, key: str, statistic: str) -> str:
        """Return the median or worst time of a row of the speed table."""
        rows = {row["key"]: row for row in records(read_rows("bags_speed"))}
        return _milliseconds(rows[one_of(key, rows)][one_of(statistic, ("median", "worst"))])


def _draw_speed(path: Path) -> None:
    """Draw median and worst times on the paper's bags as bars on a logarithmic axis."""
    rows = [row for row in records(read_rows("bags_speed")) if not row["key"].startswith("large-")][::-1]
    figure, (axes,) = canvas.new_figure(1, heights=(4.6,))
    places = range(len(rows))
    axes.barh(places, [row["worst"] for row in rows], color=canvas.COLOURS[1], height=0.7, label="worst")
    axes.barh(places, [row["median"] for row in rows], color=canvas.COLOURS[0], height=0.7, label="median")
    names = [row["what"] if row["size"] == "the paper's" else f"{row['what']}, {row['size']}" for row in rows]
    axes.set_yticks(places, names, fontsize=7)
    axes.set_xscale("log")
    axes.set_xlabel("processor time, ms")
    axes.legend(fontsize=8, frameon=False)
    canvas.save(figure, path)


def _verified() -> dict[str, int]:
    rows = read_rows("bags_verified")
    return dict(zip(rows["claim"].tolist(), rows["times"].tolist(), strict=True))


def _gap(means: pd.DataFrame) -> float:
    """Return the mean excess over the optimum."""
    return float((means["ratio_high"] - 1).mean())


def _closed(mine: float, theirs: float) -> str:
    return NOTHING if theirs <= 0 else f"{1 - mine / theirs:.0%}"


def _milliseconds(value: float) -> str:
    """Return milliseconds as a time.

    Examples
    --------
    >>> _milliseconds(0.1234), _milliseconds(45.67), _milliseconds(12345.0)
    ('0.12 ms', '45.7 ms', '12.3 s')
    """
    return f"{number(value)} ms" if value < 1000 else f"{number(value / 1000)} s"
