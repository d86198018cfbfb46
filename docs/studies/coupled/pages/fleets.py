"""Writers of the page on large fleets: ratios and ranks of policies against the number of workers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from docs.studies.marked_pages import DataFile, Picture
from docs.studies.rows import ROWS
from docs.studies.text_table import text_table
from hindsched.bench.report.formatting import NOTHING, between, count, interval, number
from hindsched.bench.results.bootstrap import Weights, clusters, percentiles, resample, resampled_medians
from hindsched.bench.results.policy_order import policies_of
from hindsched.bench.results.quantile import quantile
from hindsched.bench.results.ratio_statistics import FEWEST
from hindsched.bench.results.ratios import with_ratios
from hindsched.bench.results.read import read_results
from hindsched.instances.errors import InputError
from hindsched.online.coupled import OURS, POLICIES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["FleetsPage", "rank"]

#: Machines of the rows, by the first word of a setting.
_MACHINES = {"drawn": "paper", "LANL": "LANL"}
_SHOWN = ("IE", "IAY", "IY", "E-IE", "E-IAY", "Y-IE", "P-IE", "hot")


class _Median(NamedTuple):
    """A median and its 95 % interval; both ends where optima are not proven."""

    low: float
    high: float
    ci_low: float
    ci_high: float


class FleetsPage:
    """Writers of the tables, numbers and the picture on large fleets.

    Fewer than ten instances give no interval. ``machines`` is ``drawn`` or ``LANL``, ``p`` a number of workers in the
    rows, and ``policy`` a policy that ran there.
    """

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        return {
            "fleets_ratios": self.ratios,
            "fleets_ranks": self.ranks,
            "fleets_ratio": self.ratio,
            "fleets_rank": self.rank,
            "fleets_versus": self.versus,
            "fleets_growth": self.growth,
            "fleets_faster": self.faster,
            "fleets_unfinished": self.unfinished,
            "fleets_optima": self.optima,
        }

    def files(self) -> dict[str, Picture | DataFile]:
        """Return the picture and the data file next to the pages, by name."""
        return {
            "fleets.svg": Picture(_medians, lambda path: _draw(_medians(), path)),
            "fleets.csv": DataFile(_medians),
        }

    # ---- tables

    def ratios(self, machines: str) -> str:
        """Return the median ratio of every policy on each fleet, with its interval and the unfinished runs."""
        fleets = _fleets(machines)
        rows = []
        for policy in (*POLICIES, *OURS):
            cells = [self._ratio_cell(machines, p, policy) for p in fleets]
            if any(cell != NOTHING for cell in cells):
                rows.append([f"`{policy}`", *cells])
        return text_table(["policy", *(f"p = {count(p)}" for p in fleets)], rows)

    def _ratio_cell(self, machines: str, p: int, policy: str) -> str:
        runs = _runs(machines, p)
        mine = runs[runs["policy"] == policy]
        if len(mine) == 0:
            return NOTHING
        unfinished = int(mine["value"].isna().sum())
        return self.ratio(machines, str(p), policy) + (f", {unfinished} unfinished" if unfinished else "")

    def ranks(self, machines: str) -> str:
        """Return the rank of every heuristic on each fleet, with its interval."""
        fleets = _fleets(machines)
        rows = [[f"`{policy}`", *(self.rank(machines, str(p), policy) for p in fleets)] for policy in POLICIES]
        return text_table(["heuristic", *(f"p = {count(p)}" for p in fleets)], rows)

    def optima(self, machines: str) -> str:
        """Return for each fleet how many optima are proven, and how far apart the bounds of the others are."""
        rows = []
        for p in _fleets(machines):
            one = _runs(machines, p).drop_duplicates("fingerprint")
            is_open = (one["optimum_status"] != "optimal").to_numpy()
            best = (one["value"] / one["low"]).to_numpy(dtype=float)
            gaps = (best / one["optimum_bound"].to_numpy(dtype=float) - 1)[is_open]
            said = [f"{100 * of(gaps):.0f}%" if len(gaps) else NOTHING for of in (np.median, np.max)]
            rows.append([count(p), count(len(one)), count((~is_open).sum()), *said])
        return text_table(["p", "instances", "proven", "median gap of the others", "largest"], rows)

    # ---- numbers

    def ratio(self, machines: str, p: str, policy: str) -> str:
        """Return a median ratio with its 95 % interval."""
        found = _median(machines, int(p), policy)
        ends = f" [{interval(found.ci_low, found.ci_high)}]" if _has_intervals(machines, int(p)) else ""
        return interval(found.low, found.high) + ends

    def rank(self, machines: str, p: str, policy: str) -> str:
        """Return the rank of a heuristic by its median ratio among the 17, with its 95 % interval."""
        found, resampled = _ranks(machines, int(p))
        place = _place(policy, POLICIES)
        low, high = percentiles(resampled[:, place])
        ends = f" [{_span(floor(low), ceil(high))}]" if _has_intervals(machines, int(p)) else ""
        return f"{found[place]:g}{ends}"

    def versus(self, machines: str, p: str, policy: str, other: str) -> str:
        """Return the median quotient of the makespans of two policies on the same instances, with its interval.

        If only one policy finishes, the quotient is 0 or infinite; if none does, 1.
        """
        mine, cluster, weights = _makespans(machines, int(p), policy)
        theirs = _makespans(machines, int(p), other)[0]
        both = np.isinf(mine) & np.isinf(theirs)
        with np.errstate(invalid="ignore"):
            quotient = np.where(both, 1.0, mine / theirs)
        low, high = percentiles(resampled_medians(quotient, cluster, weights))
        ends = f" [{interval(low, high)}]" if _has_intervals(machines, int(p)) else ""
        return number(quantile(quotient, 0.5)) + ends

    def growth(self, p: str, more: str, policy: str) -> str:
        """Return the median quotient of the ratios on more and on p drawn workers, with its interval.

        A scenario has the same first p workers on both fleets, so its two ratios are a pair.
        """
        few, many = (_of("drawn", int(each), policy) for each in (p, more))
        if len(few[0]) != len(many[0]):
            raise InputError(f"{len(many[0])} instances on {more} workers, expected {len(few[0])} as on {p}")
        ends = []
        for mine, theirs in (("low", "high"), ("high", "low")):
            quotient = many[0][mine].to_numpy() / few[0][theirs].to_numpy()
            ends.append((quantile(quotient, 0.5), *percentiles(resampled_medians(quotient, *few[1:]))))
        return f"{interval(ends[0][0], ends[1][0])} [{interval(ends[0][1], ends[1][2])}]"

    def faster(self, machines: str, p: str, policy: str, other: str) -> str:
        """Return on how many instances a policy is strictly faster than another."""
        mine, theirs = (_makespans(machines, int(p), name)[0] for name in (policy, other))
        return f"{(mine < theirs).sum()} of {len(mine)}"

    def unfinished(self, machines: str, p: str, policy: str) -> str:
        """Return on how many instances a policy does not finish."""
        mine = _makespans(machines, int(p), policy)[0]
        return f"{np.isinf(mine).sum()} of {len(mine)}"


def rank(medians: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the rank of each number of a row, from 1; equal numbers share the mean of their ranks.

    Examples
    --------
    >>> rank(np.array([[2.0, 1.0, 2.0, np.inf]])).tolist()
    [[2.5, 1.0, 2.5, 4.0]]
    """
    less = (medians[..., None, :] < medians[..., :, None]).sum(axis=-1)
    same = (medians[..., None, :] == medians[..., :, None]).sum(axis=-1)
    ranks: npt.NDArray[np.float64] = 1 + less + (same - 1) / 2
    return ranks


def _span(low: int, high: int) -> str:
    return between(str(low), str(high))


def _place(policy: str, policies: tuple[str, ...]) -> int:
    if policy not in policies:
        raise InputError(f"{policy!r}, expected one of {', '.join(policies)}")
    return policies.index(policy)


@cache
def _all_runs() -> pd.DataFrame:
    """Return the runs with their ratios, and the columns ``machines`` and ``p``."""
    runs = with_ratios(read_results(ROWS / "fleets.csv").runs)
    parts = runs["setting"].str.extract(r"^(?P<machines>\w+) p=(?P<p>\d+)")
    return runs.assign(machines=parts["machines"], p=parts["p"].astype(int))


@cache
def _runs(machines: str, p: int) -> pd.DataFrame:
    if machines not in _MACHINES:
        raise InputError(f"{machines!r}, expected one of {', '.join(_MACHINES)}")
    runs = _all_runs()
    return runs[(runs["machines"] == _MACHINES[machines]) & (runs["p"] == p)].sort_values(["policy", "fingerprint"])


def _fleets(machines: str) -> list[int]:
    runs = _all_runs()
    return sorted(set(runs.loc[runs["machines"] == _MACHINES[machines], "p"]))


def _has_intervals(machines: str, p: int) -> bool:
    return bool(_runs(machines, p)["fingerprint"].nunique() >= FEWEST)


def _of(machines: str, p: int, policy: str) -> tuple[pd.DataFrame, npt.NDArray[np.intp], Weights]:
    """Return the runs of a policy, the cluster of each, and the weights of clusters in each resample."""
    runs = _runs(machines, p)
    mine = runs[runs["policy"] == policy]
    if len(mine) == 0:
        raise InputError(f"{machines} {p} {policy}, expected one of {', '.join(policies_of(runs))}")
    cluster = clusters(mine)
    return mine, cluster, resample(int(cluster.max()) + 1)


def _makespans(machines: str, p: int, policy: str) -> tuple[npt.NDArray[np.float64], Any, Any]:
    """Return the makespans of a policy by instance, infinite where it does not finish, with clusters and weights."""
    mine, cluster, weights = _of(machines, p, policy)
    return mine["value"].fillna(np.inf).to_numpy(dtype=np.float64), cluster, weights


@cache
def _median(machines: str, p: int, policy: str) -> _Median:
    mine, cluster, weights = _of(machines, p, policy)
    low, high = mine["low"].to_numpy(), mine["high"].to_numpy()
    least, most = (percentiles(resampled_medians(each, cluster, weights)) for each in (low, high))
    return _Median(quantile(low, 0.5), quantile(high, 0.5), least[0], most[1])


@cache
def _ranks(machines: str, p: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the ranks of the heuristics, and the ranks in each resample, a row each.

    They rank by the median of the makespan over the best known one, infinite where a run does not finish.
    """
    found, resampled = [], []
    for policy in POLICIES:
        mine, cluster, weights = _of(machines, p, policy)
        shares = mine["low"].where(mine["value"].notna(), np.inf).to_numpy()
        found.append(quantile(shares, 0.5))
        resampled.append(resampled_medians(shares, cluster, weights))
    return rank(np.array(found)), rank(np.array(resampled).T)


@cache
def _medians() -> pd.DataFrame:
    """Return the median of every policy on each fleet, with its ends, its interval, and counts of runs."""
    import pandas as pd

    rows = []
    for machines in _MACHINES:
        for p in _fleets(machines):
            runs = _runs(machines, p)
            for policy in policies_of(runs):
                mine = runs[runs["policy"] == policy]
                counts = {"runs": len(mine), "unfinished": int(mine["value"].isna().sum())}
                rows.append({"machines": machines, "p": p, "policy": policy, **counts})
                rows[-1] |= _median(machines, p, policy)._asdict()
    return pd.DataFrame(rows)


def _draw(medians: pd.DataFrame, path: Path) -> None:
    from hindsched.bench.report import canvas

    shown = [name for name in _MACHINES if len(_fleets(name)) > 1]
    figure, (panels,) = canvas.new_grid(1, len(shown))
    for axes, machines in zip(panels, shown, strict=True):
        _draw_fleets(axes, medians[medians["machines"] == machines], canvas.COLOURS)
        axes.set_title("drawn chains" if machines == "drawn" else machines, loc="left", fontsize=10)
    panels[0].set_ylabel("makespan / optimum, median")
    panels[0].legend(fontsize=7, frameon=False, ncols=2)
    canvas.save(figure, path)


def _draw_fleets(axes: Axes, medians: pd.DataFrame, colours: tuple[str, ...]) -> None:
    """Draw medians against the number of workers; a bar joins the ends where optima are not proven.

    Medians without an interval, of few instances, are hollow.
    """
    from matplotlib.ticker import FixedLocator, NullLocator

    for i, (policy, colour) in enumerate(zip(_SHOWN, colours, strict=True)):
        mine = medians[(medians["policy"] == policy) & np.isfinite(medians["high"])]
        x = mine["p"].to_numpy() * 1.06 ** (i - len(_SHOWN) / 2)
        middle = np.sqrt(mine["low"].to_numpy() * mine["high"].to_numpy())
        axes.vlines(x, mine["low"], mine["high"], color=colour, linewidth=2.5)
        axes.plot(x, middle, "-", color=colour, linewidth=1, label=policy)
        is_few = (mine["runs"] < FEWEST).to_numpy()
        for marks, inside in ((~is_few, colour), (is_few, "white")):
            axes.plot(x[marks], middle[marks], "o", color=colour, markerfacecolor=inside, markersize=4, zorder=3)
    ticks = (1, 1.5, 2, 3, 4, 6, 8, 12)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(0.95, 12)
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_yticklabels([f"{tick:g}" for tick in ticks])
    axes.set_xlabel("workers p")
    axes.grid(alpha=0.3)
