"""Statistics of competitive ratios over the runs of a policy: medians, quartiles, means, shares and intervals.

Every table, page, picture and file takes its statistics from this module. Unfinished runs stay in the sample, with an
infinite upper end (see `hindsched.bench.results.ratios`). A median that falls on such a run is known only by its lower
end, and is reported by its two ends instead of a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hindsched.bench.family import family_named
from hindsched.bench.results.bootstrap import (
    Weights,
    clusters,
    percentiles,
    resampled_means,
    resampled_medians,
    weights_of,
)
from hindsched.bench.results.policy_order import policies_of
from hindsched.bench.results.quantile import quantile
from hindsched.bench.shared_types import Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COLUMNS",
    "FEWEST",
    "SHARES",
    "STATISTICS",
    "by_policy",
    "distribution",
    "ends",
    "groups",
    "in_median_order",
    "medians",
]

#: Fewest independent instances, or scenarios where trials share machines, that give an interval or rank policies.
FEWEST = 10
#: Largest ratio of the runs that a share counts, by the name of its column.
SHARES = {"within10": 1.1, "within30": 1.3, "within100": 2.0}
_QUANTILES = {"quartile_1": 0.25, "median": 0.5, "quartile_3": 0.75}
#: Statistics with the columns ``NAME_low`` and ``NAME_high``, and ``NAME`` where both are equal.
STATISTICS = (*_QUANTILES, "mean")

COLUMNS = (
    *("policy", "runs", "unfinished"),
    *(f"{name}{end}" for name in STATISTICS for end in ("", "_low", "_high")),
    *("ci_low", "ci_high", "optimal", "optimal_high", *SHARES),
)


def groups(runs: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[Row, pd.DataFrame]]:
    """Yield each point of the parameters ``by`` with its runs, unbounded (missing) values last."""
    if not by:
        yield {}, runs
        return
    pointed = runs[runs[_first_axis(runs)].notna()]
    for point, group in pointed.groupby(list(by), dropna=False, sort=True):
        yield dict(zip(by, point, strict=True)), group


def _first_axis(runs: pd.DataFrame) -> str:
    """Return a parameter that every generated instance of the runs' family has."""
    return family_named(str(runs["family"].iloc[0])).panels[0]


def distribution(ratios: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return how the ratios of each policy are distributed.

    Parameters
    ----------
    ratios
        As returned by `with_ratios`, of one family, population and combination of options.
    by
        Parameters of the experiment (of coupled: ``m``, ``n_com``, ``wmin``) to group runs by; other runs are then
        left out.

    Returns
    -------
    pandas.DataFrame
        One row per point and policy:

        - ``runs``, and ``unfinished`` among them;
        - ``quartile_1``, ``median``, ``quartile_3`` over *all* runs and ``mean`` over *finished* runs: each by its ends
          ``_low`` and ``_high`` (infinite where it falls on unfinished runs), and as a number where both are equal;
        - ``ci_low``, ``ci_high``: the 95 % bootstrap interval of the mean, over scenarios or else over instances; NaN
          where there are fewer than `FEWEST`;
        - ``optimal``, ``within10``, ``within30``, ``within100``: shares of all runs that are proven optimal, and proven
          to be at most 1.1, 1.3 and 2 times the optimum; ``optimal_high``: the share that may be optimal;
        - the means over finished runs of the family's `hindsched.bench.family.Family.averages`.

        A statistic of an empty sample is NaN.
    """
    import pandas as pd

    averages = family_named(str(ratios["family"].iloc[0])).averages if len(ratios) else ()
    needed = ("family", "policy", "cluster", "parent", "value", "low", "high", *by, *averages)
    panels = family_named(str(ratios["family"].iloc[0])).panels[:1] if len(ratios) else ()
    ratios = ratios[[name for name in dict.fromkeys((*needed, *panels)) if name in ratios]]  # a group is a copy
    rows = []
    for head, own, cluster, weights in by_policy(ratios, by):
        low, high = own["low"].to_numpy(), own["high"].to_numpy()
        row = {**head, **_statistics(low, high, own["value"].notna().to_numpy(), cluster, weights)}
        rows.append(row | {name: _mean(own[name].to_numpy()) for name in averages})
    return pd.DataFrame(rows, columns=[*by, *COLUMNS, *averages])


def by_policy(
    ratios: pd.DataFrame, by: Sequence[str]
) -> Iterator[tuple[Row, pd.DataFrame, npt.NDArray[np.intp], Weights]]:
    """Yield point and policy, its rows, the cluster of each row, and the weights of clusters in each resample."""
    for point, group in groups(ratios, by):
        cluster, weights = weights_of(group) if len(group) else (clusters(group), np.ones((1, 1)))
        for policy in policies_of(group):
            is_own = (group["policy"] == policy).to_numpy()
            yield {**point, "policy": policy}, group[is_own], cluster[is_own], weights


def _mean(values: npt.ArrayLike) -> float:
    """Return the mean of the known values; NaN if there are none."""
    numbers = np.asarray(values, dtype=np.float64)
    known = numbers[~np.isnan(numbers)]
    return float(known.mean()) if len(known) else np.nan


def medians(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return the 95 % intervals of each policy's median, and of its difference to the least median.

    Returns
    -------
    pandas.DataFrame
        One row per policy: ``ci_low`` and ``ci_high`` of the median, ``behind_low`` and ``behind_high`` of its
        difference to the least median, on the same resamples. If ``behind_low`` <= 0, these runs do not distinguish
        the policy from the best one. NaN with fewer than `FEWEST` scenarios or instances.
    """
    import pandas as pd

    policies = policies_of(ratios)
    cluster, weights = weights_of(ratios)
    middle: dict[str, tuple[float, float]] = {}
    lows, highs = {}, {}
    for policy in policies:
        own = (ratios["policy"] == policy).to_numpy()
        low, high = ratios["low"].to_numpy()[own], ratios["high"].to_numpy()[own]
        middle[policy] = quantile(high, 0.5), quantile(low, 0.5)
        lows[policy] = resampled_medians(low, cluster[own], weights)
        highs[policy] = resampled_medians(high, cluster[own], weights)
    best = min(policies, key=lambda policy: middle[policy])
    rows = []
    for policy in policies:
        row: Row = {"policy": policy}
        if weights.shape[1] >= FEWEST:
            row["ci_low"], row["ci_high"] = percentiles(lows[policy])[0], percentiles(highs[policy])[1]
            with np.errstate(invalid="ignore"):
                row["behind_low"] = percentiles(lows[policy] - highs[best])[0]
                row["behind_high"] = percentiles(highs[policy] - lows[best])[1]
        if policy == best:
            row["behind_low"] = row["behind_high"] = 0.0
        rows.append(row)
    return pd.DataFrame(rows, columns=["policy", "ci_low", "ci_high", "behind_low", "behind_high"])


def in_median_order(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `distribution` by increasing median; medians without an upper end come last."""
    by = ["median_high", "median_low", "mean_low"]
    return table.sort_values(by, kind="stable", na_position="last", ignore_index=True)


def ends(row: Row, name: str) -> tuple[float, float]:
    """Return the two ends of a statistic in a row; a missing upper end (None, NaN) is infinite."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    low = float("nan") if low is None else low
    return low, float("inf") if high is None or (isnan(high) and not isnan(low)) else high


def _statistics(
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    is_finished: npt.NDArray[np.bool_],
    cluster: npt.NDArray[np.intp],
    weights: Weights,
) -> Row:
    row: Row = {"runs": len(low), "unfinished": int((~is_finished).sum())}
    for name, share in _QUANTILES.items():
        row[f"{name}_low"], row[f"{name}_high"] = quantile(low, share), quantile(high, share)
    least, most = low[is_finished], high[is_finished]
    row["mean_low"] = least.mean() if len(least) else np.nan
    row["mean_high"] = most.mean() if len(most) else np.nan
    for name in STATISTICS:
        row[name] = row[f"{name}_low"] if row[f"{name}_low"] == row[f"{name}_high"] < np.inf else np.nan
    is_interval = len(np.unique(cluster[is_finished])) >= FEWEST
    row["ci_low"] = percentiles(resampled_means(least, cluster[is_finished], weights))[0] if is_interval else np.nan
    row["ci_high"] = percentiles(resampled_means(most, cluster[is_finished], weights))[1] if is_interval else np.nan
    row["optimal"], row["optimal_high"] = (high == 1.0).mean(), ((low == 1.0) & is_finished).mean()
    for name, most_ratio in SHARES.items():
        row[name] = (high <= most_ratio).mean()
    return row
