"""Write the tables, numbers and figures of the pages on bags from their rows."""

from __future__ import annotations

from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from docs.studies.bags.baselines_page import BaselinesPage
from docs.studies.bags.claims_page import ClaimsPage
from docs.studies.bags.evidence import READINGS, as_percent, change, more_checkpoints, run_of, setting_of
from docs.studies.bags.traces import BAG_COLUMNS, WHEN, optimum_column
from docs.studies.claims_tables import one_of
from docs.studies.estimates import Estimate, estimate
from docs.studies.marked_pages import DataFile, Picture, Writer
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.bags.configuration_means import draw_bars
from hindsched.bench.bags.verify import CLAIMS
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import NOTHING, count, number
from hindsched.bench.results.bootstrap import percentiles, resample
from hindsched.bench.results.records import records
from hindsched.instances.bags import Store
from hindsched.online.bags import PAPER_POLICIES, Absence

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Published"]

#: Bar charts of the page: machines and part of the week.
_BARS = (("M04", "weekday"), ("zones", "daily"))
_CHECKPOINTS = ("0", "1", "9")
_POLICIES = (*PAPER_POLICIES, "oracle", "LEVEL", "PACE")
_BEST = optimum_column(Store.SHARED, on_demand=False)


class Published:
    """Writers of the marked parts of the pages on bags.

    Writers take the words of a mark, and raise `InputError` for unknown words. Gaps, gains and slowdowns on the paper's
    machines are means over the independent traces of the study ``bags-traces``. The zones and the bars are those of the
    campaign ``reproduce``.

    Examples
    --------
    >>> sorted(Published().writers())[:3]
    ['baselines', 'both_optima', 'by_predictor']
    """

    folder = "results/bags"

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        tables = (self.gaps, self.verified, self.speed, self.speed_large)
        numbers = (self.runs, self.optima, self.verified_on, self.slowdown, self.closed, self.gain)
        mine = {writer.__name__: writer for writer in (*tables, *numbers, self.speed_of, self.measured_on)}
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

    def _drawn(self, when: str, **bag: object) -> pd.DataFrame:
        """Return the rows of a part of the week on independent machines."""
        return self._claims_page.evidence.of(one_of(when, WHEN), trace="independent", **bag)

    # ---- tables

    def gaps(self) -> str:
        """Return the mean excess over the optimum with a shared store, and the share of FCFS-TR's that PACE closes."""
        names = ("FCFS", "FCFS-TR", "LEVEL", "PACE")
        rows = []
        for machines, when, k in product(("M01", "M04"), WHEN, _CHECKPOINTS):
            mine = self._drawn(when, machines=machines, checkpoints=int(k))
            gaps = [as_percent(change(mine, _shared(name), _BEST)) for name in names]
            rows.append([machines, when, k, *gaps, _closed(mine, "PACE")])
        zones = self._means[(self._means["store"] == "shared") & (self._means["machines"] == "zones")]
        for number_of, group in zones.groupby("checkpoints", sort=True):
            means = [_gap(group[group["policy"] == name]) for name in names]
            rows.append(["zones", "daily", str(number_of), *(f"{100 * each:+.1f} %" for each in means)])
            rows[-1].append(f"{100 - 100 * means[3] / means[1]:.0f} %")
        return text_table(["machines", "", "checkpoints", *names, "PACE closes"], rows)

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

    def slowdown(self, policy: str, machines: str, when: str, tasks: str, reference_s: str, checkpoints: str) -> str:
        """Return turnaround / IET of a policy with a shared store on a bag.

        ``OPT`` is the optimum, ``DEMAND`` that with saves on demand, ``oracle`` the predicting policy with an oracle.
        """
        rows = self._drawn(when)
        for name, word in zip(BAG_COLUMNS, (machines, tasks, reference_s, checkpoints), strict=True):
            texts = rows[name].astype(str)
            rows = rows[texts == one_of(word, texts.unique().tolist())]
        optima = {"OPT": _BEST, "DEMAND": optimum_column(Store.SHARED, on_demand=True)}
        return estimate(rows[optima.get(policy) or _shared(policy)].tolist()).text()

    def closed(self, policy: str, when: str, checkpoints: str) -> str:
        """Return the share of FCFS-TR's gap to the optimum that a policy closes with a shared store."""
        return _closed(self._drawn(when, checkpoints=int(one_of(checkpoints, _CHECKPOINTS))), policy)

    def gain(self, what: str, policy: str, when: str, reading: str = "at_once") -> str:
        """Return the mean decrease of the turnaround, in percent with an interval.

        ``shared``: with shared stores instead of private ones under a reading of absences, given with underscores.
        ``checkpoints``: with nine instead of one and shared stores, where ``OPT`` is a policy too.
        """
        rows = self._drawn(when)
        if one_of(what, ("shared", "checkpoints")) == "checkpoints":
            return _decrease(more_checkpoints(rows, 1, 9, [_BEST if policy == "OPT" else _shared(policy)]))
        name = one_of(reading.replace("_", " "), READINGS)
        runs = (run_of(one_of(policy, PAPER_POLICIES), store, name) for store in (Store.SHARED, Store.PRIVATE))
        return _decrease(change(rows, *runs))

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
    """Draw medians and worst times on the paper's bags as dots on a logarithmic axis."""
    rows = [row for row in records(read_rows("bags_speed")) if not row["key"].startswith("large-")][::-1]
    figure, (axes,) = canvas.new_figure(1, heights=(4.6,))
    places = range(len(rows))
    medians, worst = ([row[name] for row in rows] for name in ("median", "worst"))
    axes.hlines(places, medians, worst, color="#bbbbbb", linewidth=2, zorder=1)
    axes.scatter(medians, places, color=canvas.COLOURS[0], s=22, label="median")
    axes.scatter(worst, places, color=canvas.COLOURS[1], s=22, label="worst")
    names = [row["what"] if row["size"] == "the paper's" else f"{row['what']}, {row['size']}" for row in rows]
    axes.set_yticks(places, names, fontsize=7)
    axes.set_xscale("log")
    ticks = [time for time in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if min(medians) / 2 <= time <= 2 * max(worst)]
    axes.set_xticks(ticks, [f"{time:g}" for time in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", color="#eeeeee")
    axes.set_axisbelow(True)
    axes.set_xlabel("processor time, ms", fontsize=9)
    axes.legend(fontsize=8, frameon=False, loc="upper right")
    canvas.save(figure, path)


def _verified() -> dict[str, int]:
    rows = read_rows("bags_verified")
    return dict(zip(rows["claim"].tolist(), rows["times"].tolist(), strict=True))


def _gap(means: pd.DataFrame) -> float:
    """Return the mean excess over the optimum."""
    return float((means["ratio_high"] - 1).mean())


def _shared(policy: str) -> str:
    """Return the column of a policy with shared stores whose master notices absences."""
    return setting_of(one_of(policy, _POLICIES), Store.SHARED, Absence.NOTICED)


def _closed(rows: pd.DataFrame, policy: str) -> str:
    """Return how much less the mean gap of a policy is than FCFS-TR's, with a bootstrap interval over traces.

    A dash where FCFS-TR has no gap.
    """
    gaps = rows[[_shared(policy), _shared("FCFS-TR")]].div(rows[_BEST], axis=0) - 1
    mine, theirs = gaps.groupby(rows["seed"]).mean().to_numpy().T
    if theirs.mean() <= 0.0005:  # 0.0 %
        return NOTHING
    weights = resample(len(mine))
    low, high = percentiles(1 - (weights @ mine) / (weights @ theirs))
    return f"{100 - 100 * mine.mean() / theirs.mean():.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def _decrease(found: Estimate) -> str:
    """Return a decrease in percent with its interval.

    Examples
    --------
    >>> _decrease(Estimate(-0.1, -0.12, -0.08, 20))
    '10.0 % (8.0 to 12.0)'
    """
    return f"{-100 * found.mean:z.1f} % ({-100 * found.high:z.1f} to {-100 * found.low:z.1f})"


def _milliseconds(value: float) -> str:
    """Return milliseconds as a time.

    Examples
    --------
    >>> _milliseconds(0.1234), _milliseconds(45.67), _milliseconds(12345.0)
    ('0.12 ms', '45.7 ms', '12.3 s')
    """
    return f"{number(value)} ms" if value < 1000 else f"{number(value / 1000)} s"
