"""Writers of the page on look-ahead policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from docs.studies.coupled.lookahead import POINT
from docs.studies.coupled.optima import known_optima
from docs.studies.marked_pages import DataFile, Picture
from docs.studies.rows import read_rows_with_gaps
from docs.studies.text_table import text_table
from hindsched.bench.report import canvas, ratio_plots
from hindsched.bench.report.formatting import NOTHING, count, interval, number, share
from hindsched.bench.results.bootstrap import percentiles, resampled_means, resampled_medians
from hindsched.bench.results.ratio_statistics import SHARES, by_policy, distribution, ends, in_median_order
from hindsched.bench.results.ratios import with_ratios
from hindsched.bench.results.records import records
from hindsched.instances.errors import InputError
from hindsched.online.coupled import OURS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LookaheadPage"]

#: The paper's heuristics in the tables.
BESIDE = ("IE", "Y-IE", "Y-IAY", "E-IE")
_STATISTICS = ("quartile_1", "median", "quartile_3", "mean")
#: Places of the leaderboard that the page shows.
_PLACES = 8
#: Targets on the whole experiment: the largest median, and the least share within 100 % of the optimum.
MEDIAN, WITHIN100 = 1.55, 0.78
_HOLDS, _FAILS, _OPEN = "met", "not met", "open"


class LookaheadPage:
    """Writers of the tables, numbers and figures on look-ahead policies.

    Parameters
    ----------
    printed
        The paper's heuristics on the same instances, under the reading ``printed``.
    """

    def __init__(self, printed: Callable[[], pd.DataFrame]) -> None:
        self._printed = printed

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        return {
            "lookahead": self.table,
            "lookahead_by": self.by,
            "lookahead_targets": self.targets,
            "lookahead_ratio": self.ratio,
            "lookahead_instances": self.instances,
            "lookahead_faster": self.faster,
            "lookahead_lost": self.lost,
            "lookahead_lost_optimum": self.lost_optimum,
            "lookahead_cost": self.cost,
            "leaderboard": self.leaderboard,
        }

    def files(self) -> dict[str, Picture | DataFile]:
        """Return the picture and the data file next to the pages, by name."""
        return {
            "lookahead.svg": Picture(self._shown, lambda path: _draw(self._shown(), path)),
            "lookahead_points.csv": DataFile(self.points),
        }

    def _shown(self) -> pd.DataFrame:
        """Return the distributions of all policies, by increasing median."""
        return in_median_order(distribution(self._ratios))

    @cached_property
    def _ratios(self) -> pd.DataFrame:
        """Return the ratios of look-ahead policies and of some heuristics on the instances of the former."""
        import pandas as pd

        mine = self._mine
        printed = self._printed()
        printed = printed[printed["policy"].isin(BESIDE)].astype(dict.fromkeys(POINT, "Int64"))
        theirs = printed.merge(mine[POINT], on=POINT)
        template = theirs[theirs["policy"] == BESIDE[-1]].merge(mine, on=POINT)
        ours = [template.assign(policy=policy, value=template[policy].astype("Float64")) for policy in self._policies]
        frames = [theirs, *(frame.drop(columns=list(self._policies)) for frame in ours)]
        return with_ratios(pd.concat(frames, ignore_index=True))

    @cached_property
    def _policies(self) -> tuple[str, ...]:
        """Return the look-ahead policies in the rows."""
        return tuple(policy for policy in OURS if policy in self._mine.columns)

    @cached_property
    def _mine(self) -> pd.DataFrame:
        """Return the makespans of look-ahead policies."""
        return read_rows_with_gaps("lookahead_runs")

    @cached_property
    def _possible(self) -> pd.DataFrame:
        """Return the instances that are not proven infeasible."""
        known = known_optima()
        return known[known["status"] != "infeasible"]

    @cached_property
    def _by_policy(self) -> pd.DataFrame:
        """Return the makespan of each policy, infinite where unfinished; one row per instance."""
        values = self._ratios.assign(value=self._ratios["value"].astype(float).fillna(float("inf")))
        return values.pivot_table(index="fingerprint", columns="policy", values="value")

    @cached_property
    def _distribution(self) -> dict[str, dict[str, Any]]:
        rows = {row["policy"]: row for row in records(distribution(self._ratios))}
        return {policy: rows[policy] for policy in (*BESIDE, *self._policies)}

    def table(self) -> str:
        """Return ratios of look-ahead policies and of the paper's best heuristics."""
        rows = []
        for policy, row in self._distribution.items():
            cells = [interval(*ends(row, name)) for name in _STATISTICS]
            cells += [share(row[name]) for name in SHARES] + [count(row["unfinished"])]
            rows.append([f"`{policy}`", *cells])
        names = ["1st quartile", "median", "3rd quartile", "mean", "within 10%", "30%", "100%", "unfinished"]
        return text_table(["policy", *names], rows)

    def by(self, axis: str) -> str:
        """Return medians of the ratio at each value of a parameter."""
        if axis not in POINT:
            raise InputError(f"{axis!r}, expected one of {', '.join(POINT)}")
        table = distribution(self._ratios, [axis])
        cells = {(row["policy"], row[axis]): interval(*ends(row, "median")) for row in records(table)}
        values = sorted({value for _, value in cells})
        rows = [
            [f"`{policy}`", *(cells.get((policy, value), NOTHING) for value in values)] for policy in self._distribution
        ]
        return text_table(["policy", *(f"{axis} = {values[0]}", *map(str, values[1:]))], rows)

    def points(self) -> pd.DataFrame:
        """Return the distributions with their intervals, by m and n_com, and by wmin."""
        import pandas as pd

        return pd.concat([pd.DataFrame(self._spread(axes)) for axes in (["m", "n_com"], ["wmin"])], ignore_index=True)

    def _spread(self, axes: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Return the distributions at each point with intervals of medians and shares."""
        wanted = self._ratios[self._ratios["policy"].isin([BESIDE[-1], *self._policies])]
        both = distribution(wanted, axes).merge(_intervals(wanted, axes), on=[*axes, "policy"])
        return list(records(both))

    def targets(self) -> str:
        """Return for each look-ahead policy whether it meets the targets.

        On a part of the experiment the 95 % interval must be on one side of the target.
        """
        is_whole = len(self._mine) == len(self._possible)
        rows = []
        for row in self._spread():
            policy = row["policy"]
            if policy == BESIDE[-1]:
                continue
            left = self._lost(policy, BESIDE[-1])
            low, high = ends(row, "median") if is_whole else (row["median_ci_low"], row["median_ci_high"])
            least, most = row["within100_ci_low"], row["within100_ci_high"]
            if is_whole:
                least = most = row["within100"]
            rows.append([
                f"`{policy}`",
                f"{_with_ci(row, 'median')}: {_verdict(low, high, MEDIAN)}",
                f"{_with_ci(row, 'within100')}: {_verdict(-most, -least, -WITHIN100)}",
                f"{count(left)}: {_FAILS if left else _HOLDS if is_whole else 'met so far'}",
            ])  # fmt: skip
        aims = [f"median <= {MEDIAN}", f"within 100% on >= {share(WITHIN100)}"]
        return text_table(["policy", *aims, f"unfinished where `{BESIDE[-1]}` finishes: 0"], rows)

    def ratio(self, policy: str, statistic: str) -> str:
        """Return a statistic of a policy's ratio."""
        if policy not in self._distribution:
            raise InputError(f"{policy!r}, expected one of {', '.join(self._distribution)}")
        row = self._distribution[policy]
        if statistic in SHARES:
            return share(row[statistic])
        if statistic == "unfinished":
            return count(row["unfinished"])
        if statistic not in _STATISTICS:
            raise InputError(f"{statistic!r}, expected one of {', '.join((*_STATISTICS, *SHARES, 'unfinished'))}")
        return interval(*ends(row, statistic))

    def instances(self) -> str:
        """Return the number of instances with runs of look-ahead policies."""
        return count(len(self._mine))

    def faster(self, policy: str, other: str) -> str:
        """Return the share of instances where a policy is strictly faster than another."""
        wide = self._of(policy, other)
        return share(float((wide[policy] < wide[other]).mean()))

    def lost(self, policy: str, other: str) -> str:
        """Return the number of instances that another policy finishes and this one does not."""
        return count(self._lost(policy, other))

    def lost_optimum(self, policy: str) -> str:
        """Return the least optimum among the instances that a policy does not finish."""
        mine = self._ratios[(self._ratios["policy"] == policy) & self._ratios["value"].isna()]
        return count(int(mine["optimum"].min())) if len(mine) else NOTHING

    def _lost(self, policy: str, other: str) -> int:
        wide = self._of(policy, other)
        return int((~np.isfinite(wide[policy]) & np.isfinite(wide[other])).sum())

    def _of(self, *policies: str) -> pd.DataFrame:
        """Return the makespans, for policies that were run."""
        wide = self._by_policy
        for name in policies:
            if name not in wide:
                raise InputError(f"{name!r}, expected one of {', '.join(map(str, wide.columns))}")
        return wide

    def cost(self) -> str:
        """Return the processor time of runs and pilot runs."""
        rows = []
        for row in records(read_rows_with_gaps("lookahead_speed")):
            per_slot, per_run = 1e6 * row["run_s"] / row["slots"], row["pilot_s"] / row["runs"]
            rows.append(
                [f"`{row['policy']}`", count(row["runs"]), count(row["slots"]), number(per_slot), number(per_run)]
            )
        return text_table(["policy", "runs", "slots", "µs a slot", "pilot seconds a run"], rows)

    def leaderboard(self) -> str:
        """Return the first places of the leaderboard of the known policies."""
        from hindsched.bench.coupled.leaderboard import board

        rows = []
        for row in board({})[:_PLACES]:
            shown = [_finite(row[name]) for name in _STATISTICS]
            shares = [share(row[name]) for name in ("within30", "within100")]
            rows.append([str(row["rank"]), f"`{row['policy']}`", *shown, *shares, count(row["unfinished"])])
        names = ["1st quartile", "median", "3rd quartile", "mean", "within 30%", "100%", "unfinished"]
        return text_table(["rank", "policy", *names], rows)


def _with_ci(row: dict[str, Any], name: str) -> str:
    """Return a statistic with its 95 % interval."""
    low, high = row[f"{name}_ci_low"], row[f"{name}_ci_high"]
    shown, ended = (interval(*ends(row, name)), interval) if name == "median" else (share(row[name]), _shares)
    return shown if np.isnan(low) or np.isnan(high) else f"{shown} [{ended(low, high)}]"


def _shares(low: float, high: float) -> str:
    return f"{share(low)}–{share(high)}"  # noqa: RUF001


def _verdict(low: float, high: float, most: float) -> str:
    """Return whether all values of an interval are at most ``most``."""
    return _HOLDS if high <= most else _FAILS if low > most else _OPEN


def _finite(value: float | None) -> str:
    return NOTHING if value is None or value == float("inf") else number(value)


def _draw(table: pd.DataFrame, path: Path) -> None:
    figure, (axes,) = canvas.new_figure(width=7.0, heights=(0.75 + 0.21 * len(table),))
    ratio_plots.draw_ranges(axes, table, xlabel="makespan / hindsight optimum")
    canvas.save(figure, path)


def _intervals(ratios: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return the 95 % bootstrap intervals of each policy's median and shares.

    Parameters
    ----------
    ratios, by
        As for `distribution`.

    Returns
    -------
    pandas.DataFrame
        One row per point and policy: ``NAME_ci_low`` and ``NAME_ci_high`` for the median and each of `SHARES`. Where a
        ratio is known by its ends only, the interval covers both. NaN where there is only one scenario.
    """
    import pandas as pd

    rows = []
    for row, own, cluster, weights in by_policy(ratios, by):
        low, high = own["low"].to_numpy(), own["high"].to_numpy()
        if weights.shape[1] > 1:
            least = resampled_medians(low, cluster, weights)
            most = least if (low == high).all() else resampled_medians(high, cluster, weights)
            row |= {"median_ci_low": percentiles(least)[0], "median_ci_high": percentiles(most)[1]}
            for name, most_ratio in SHARES.items():
                found = percentiles(resampled_means((high <= most_ratio).astype(float), cluster, weights))
                row |= {f"{name}_ci_low": found[0], f"{name}_ci_high": found[1]}
        rows.append(row)
    columns = [f"{name}_ci_{end}" for name in ("median", *SHARES) for end in ("low", "high")]
    return pd.DataFrame(rows, columns=[*by, "policy", *columns])
