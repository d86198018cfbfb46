"""Competitive ratios: of each run, and how they are distributed over the runs of a policy.

This module alone turns rows into ratios, medians, quartiles, shares and intervals; every table, page, picture and file
reads it.

Where the optimum is proven a ratio is a number. Otherwise it is an interval: the optimum is at least the solver's bound
B, and at most the best value known, V, of the solver's schedule or of any policy; so a run of value M has its ratio in
[M / V, M / B]. (Where more is better, turn each fraction round.) A run that did not finish reached its limit L: its
value is worse than L and its ratio lies in [L / V, infinity). Such runs stay among the others, and a median that falls
on them is only known to be more than something: it is told by its two ends, never as a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hindsched.bench.family import family_named
from hindsched.bench.results.bootstrap import clusters, percentiles, resample, resampled_means, resampled_medians
from hindsched.bench.results.policy_order import policies_of
from hindsched.bench.results.quantile import quantile

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COLUMNS",
    "SHARES",
    "STATISTICS",
    "distribution",
    "ends",
    "groups",
    "in_median_order",
    "intervals",
    "medians",
]

#: Shares of runs whose ratio is at most so much, by the name of their column.
SHARES = {"within10": 1.1, "within30": 1.3, "within100": 2.0}
_QUANTILES = {"quartile_1": 0.25, "median": 0.5, "quartile_3": 0.75}
#: Statistics that may be known by their ends only: ``NAME_low`` and ``NAME_high``, and ``NAME`` where they are equal.
STATISTICS = (*_QUANTILES, "mean")

COLUMNS = (
    *("policy", "runs", "unfinished"),
    *(f"{name}{end}" for name in STATISTICS for end in ("", "_low", "_high")),
    *("ci_low", "ci_high", "optimal", "optimal_high", *SHARES),
)


def groups(runs: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield each point of some parameters with its runs, unbounded (missing) values last; all runs for none."""
    if not by:
        yield {}, runs
        return
    pointed = runs[runs[_first_axis(runs)].notna()]
    for point, group in pointed.groupby(list(by), dropna=False, sort=True):
        yield dict(zip(by, point, strict=True)), group


def _first_axis(runs: pd.DataFrame) -> str:
    """Return the parameter that every drawn instance of the runs' family has."""
    return family_named(str(runs["family"].iloc[0])).panels[0]


def distribution(ratios: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return how the ratios of each policy are distributed.

    Parameters
    ----------
    ratios
        As returned by `with_ratios`, of one family, population and combination of options.
    by
        Parameters of the experiment (of coupled: ``m``, ``n_com``, ``wmin``) to tell runs apart by; runs of no point
        are then left out.

    Returns
    -------
    pandas.DataFrame
        One row per point and policy:

        - ``runs``, and ``unfinished`` among them;
        - ``quartile_1``, ``median``, ``quartile_3`` over *all* runs and ``mean`` over *finished* runs only: each by its
          ends ``_low`` and ``_high`` (infinite where it falls on unfinished runs, and it is then more than the other
          end), and as a number where they are equal; NaN where they are not;
        - ``ci_low``, ``ci_high``: the 95 % interval of the mean, a bootstrap over scenarios where there are scenarios,
          else over instances;
        - ``optimal``, ``within10``, ``within30``, ``within100``: the shares of all runs that are proven optimal, and
          proven to be at most 1.1, 1.3 and 2 times the optimum; ``optimal_high`` is the share that may be optimal.
        - the means over finished runs of the columns that the family names (`hindsched.bench.family.Family.averages`).

        Numbers of nothing are NaN.
    """
    import pandas as pd

    averages = family_named(str(ratios["family"].iloc[0])).averages if len(ratios) else ()
    rows = []
    for head, mine, cluster, weights in _by_policy(ratios, by):
        low, high = mine["low"].to_numpy(), mine["high"].to_numpy()
        row = {**head, **_statistics(low, high, mine["value"].notna().to_numpy(), cluster, weights)}
        rows.append(row | {name: _mean(mine[name].to_numpy()) for name in averages})
    return pd.DataFrame(rows, columns=[*by, *COLUMNS, *averages])


def _by_policy(ratios: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], pd.DataFrame, Any, Any]]:
    """Yield point and policy, its rows, the cluster of each, and the weights of clusters in each resample."""
    for point, group in groups(ratios, by):
        cluster = clusters(group)
        weights = resample(int(cluster.max(initial=-1)) + 1) if len(group) else np.ones((1, 1))
        for policy in policies_of(group):
            is_mine = (group["policy"] == policy).to_numpy()
            yield {**point, "policy": policy}, group[is_mine], cluster[is_mine], weights


def _mean(values: npt.NDArray[Any]) -> float:
    """Return the mean of what is told; NaN of nothing."""
    numbers = values.astype(np.float64)
    told = numbers[~np.isnan(numbers)]
    return float(told.mean()) if len(told) else np.nan


def medians(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return the 95 % interval of each policy's median, and of how much it is above the least median.

    Returns
    -------
    pandas.DataFrame
        One row per policy: ``ci_low`` and ``ci_high`` of the median, ``behind_low`` and ``behind_high`` of its
        difference to that of the policy with the least, on the same resamples. A policy with ``behind_low`` <= 0 is
        not told apart from the best by these runs.
    """
    import pandas as pd

    policies = policies_of(ratios)
    cluster = clusters(ratios)
    weights = resample(int(cluster.max()) + 1)
    middle: dict[str, tuple[float, float]] = {}
    lows, highs = {}, {}
    for policy in policies:
        mine = (ratios["policy"] == policy).to_numpy()
        low, high = ratios["low"].to_numpy()[mine], ratios["high"].to_numpy()[mine]
        middle[policy] = quantile(high, 0.5), quantile(low, 0.5)
        lows[policy] = resampled_medians(low, cluster[mine], weights)
        highs[policy] = resampled_medians(high, cluster[mine], weights)
    best = min(policies, key=lambda policy: middle[policy])
    rows = []
    for policy in policies:
        row: dict[str, Any] = {"policy": policy}
        if weights.shape[1] > 1:  # one scenario says nothing of others
            row["ci_low"], row["ci_high"] = percentiles(lows[policy])[0], percentiles(highs[policy])[1]
            with np.errstate(invalid="ignore"):
                row["behind_low"] = percentiles(lows[policy] - highs[best])[0]
                row["behind_high"] = percentiles(highs[policy] - lows[best])[1]
        if policy == best:
            row["behind_low"] = row["behind_high"] = 0.0
        rows.append(row)
    return pd.DataFrame(rows, columns=["policy", "ci_low", "ci_high", "behind_low", "behind_high"])


def intervals(ratios: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return the 95 % intervals of each policy's median and of its shares, by a bootstrap over scenarios.

    Parameters
    ----------
    ratios, by
        As for `distribution`.

    Returns
    -------
    pandas.DataFrame
        One row per point and policy: ``NAME_ci_low`` and ``NAME_ci_high`` for the median and each of `SHARES`. Where a
        ratio is known by its ends only, the interval is that of both together. NaN where there is one scenario only: it
        says nothing of others.
    """
    import pandas as pd

    rows = []
    for row, mine, cluster, weights in _by_policy(ratios, by):
        low, high = mine["low"].to_numpy(), mine["high"].to_numpy()
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


def in_median_order(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `distribution` by increasing median; what is only bounded from below comes last."""
    by = ["median_high", "median_low", "mean_low"]
    return table.sort_values(by, kind="stable", na_position="last", ignore_index=True)


def ends(row: dict[str, Any], name: str) -> tuple[float, float]:
    """Return the two ends of a statistic of a row; a missing upper end (None, NaN) is infinite."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    low = float("nan") if low is None else low
    return low, float("inf") if high is None or (isnan(high) and not isnan(low)) else high


def _statistics(
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    is_finished: npt.NDArray[np.bool_],
    cluster: npt.NDArray[np.intp],
    weights: npt.NDArray[np.float64],
) -> dict[str, Any]:
    row: dict[str, Any] = {"runs": len(low), "unfinished": int((~is_finished).sum())}
    for name, share in _QUANTILES.items():
        row[f"{name}_low"], row[f"{name}_high"] = quantile(low, share), quantile(high, share)
    least, most = low[is_finished], high[is_finished]
    row["mean_low"] = least.mean() if len(least) else np.nan
    row["mean_high"] = most.mean() if len(most) else np.nan
    for name in STATISTICS:
        row[name] = row[f"{name}_low"] if row[f"{name}_low"] == row[f"{name}_high"] < np.inf else np.nan
    is_interval = len(np.unique(cluster[is_finished])) > 1
    row["ci_low"] = percentiles(resampled_means(least, cluster[is_finished], weights))[0] if is_interval else np.nan
    row["ci_high"] = percentiles(resampled_means(most, cluster[is_finished], weights))[1] if is_interval else np.nan
    row["optimal"], row["optimal_high"] = (high == 1.0).mean(), ((low == 1.0) & is_finished).mean()
    for name, most_ratio in SHARES.items():
        row[name] = (high <= most_ratio).mean()
    return row
