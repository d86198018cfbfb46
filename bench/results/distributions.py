"""How competitive ratios are distributed, run by run and heuristic by heuristic.

A ratio is an interval, as in `bench.results.ratios`, and so is that of a run that did not finish: it reached
its limit of L slots, so its makespan is more than L and its ratio lies in [L / V, infinity), where V is the best
makespan known. Such runs stay among the others, and a median that falls on them is only known to be more than
something.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bench.coupled.versus import in_order
from bench.results.frames import OPTIONS
from bench.results.ratios import records
from bench.results.stats import percentiles, quantile, resample, resampled_means, resampled_medians
from instances.errors import SelfCheckError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COLUMNS",
    "clusters",
    "contradictions",
    "distribution",
    "groups",
    "in_median_order",
    "medians",
    "profile",
    "summary",
    "with_ratios",
]

_SHARES = {"within10": 1.1, "within30": 1.3, "within100": 2.0}
_QUANTILES = {"quartile_1": 0.25, "median": 0.5, "quartile_3": 0.75}

#: Columns of the table and their headings.
COLUMNS = {
    "policy": "heuristic",
    "runs": "runs",
    "unfinished": "unfinished",
    "quartile_1": "1st quartile",
    "median": "median",
    "quartile_3": "3rd quartile",
    "mean": "mean",
    "ci_low": "95% from",
    "ci_high": "to",
    "optimal": "optimal",
    "within10": "within 10%",
    "within30": "within 30%",
    "within100": "within 100%",
    "quartile_1_high": "1st quartile at most",
    "median_high": "median at most",
    "quartile_3_high": "3rd quartile at most",
    "mean_high": "mean at most",
}


def with_ratios(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on instances that some schedule is known to finish, with their ratios.

    Parameters
    ----------
    runs
        As in `bench.results.frames.Results`. Every run of an instance counts for the best makespan known.

    Returns
    -------
    pandas.DataFrame
        With the columns ``low`` and ``high`` added: the ratio lies between them, and is known where they are equal. An
        unfinished run has ``high`` infinite, and ``low`` too where its slot limit is not told.
    """
    values = {name: runs[name].to_numpy(dtype=np.float64) for name in ("makespan", "slot_limit", "optimum_bound")}
    known = runs.groupby("fingerprint")["makespan"].transform("min").to_numpy(dtype=np.float64)
    best = np.fmin(known, runs["optimum"].to_numpy(dtype=np.float64))
    is_finished = ~np.isnan(values["makespan"])
    reached = np.where(is_finished, values["makespan"], values["slot_limit"])
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(np.isnan(reached), np.inf, reached / best)
        high = np.where(
            is_finished & (values["optimum_bound"] > 0), values["makespan"] / values["optimum_bound"], np.inf
        )
    is_finishable = ~np.isnan(best) & (runs["optimum_status"] != "infeasible").to_numpy(dtype=bool, na_value=True)
    compared: pd.DataFrame = runs.assign(low=low, high=high).loc[is_finishable]
    return compared


def contradictions(runs: pd.DataFrame) -> list[str]:
    """Return what cannot be: runs better than what was proven to be best, and refused schedules."""
    is_better = runs["makespan"] < runs["optimum_bound"]
    is_impossible = runs["makespan"].notna() & (runs["optimum_status"] == "infeasible")
    found = []
    for row in records(runs[is_better | is_impossible]):
        bound = "no schedule finishes"
        if row["optimum_status"] != "infeasible":
            bound = f"the optimum is >= {row['optimum_bound']:g}"
        found.append(
            f"{row['policy']} on {row['instance']}: makespan {row['makespan']:g}, although it is proven that {bound}"
        )
    for row in records(runs[runs["check"].notna() & (runs["check"] != "valid")]):
        found.append(f"{row['policy']} on {row['instance']}: the checker says {row['check']}")
    instances = runs.drop_duplicates("fingerprint")
    for row in records(instances[instances["optimum_check"].notna() & (instances["optimum_check"] != "valid")]):
        found.append(f"optimum of {row['instance']}: the checker says {row['optimum_check']}")
    return found


def clusters(runs: pd.DataFrame) -> npt.NDArray[np.intp]:
    """Return the number of each run's scenario, what a bootstrap draws: its trials have the workers in common."""
    point = ["setting", "m", "n_com", "wmin", "instance_seed", "scenario"]
    alone = runs["fingerprint"].where(runs["scenario"].isna(), "")
    return np.asarray(runs.assign(alone=alone).groupby([*point, "alone"], dropna=False).ngroup(), dtype=np.intp)


def groups(runs: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield each point of some parameters with its runs, n_com unbounded (missing) last; all runs for none."""
    if not by:
        yield {}, runs
        return
    for point, group in runs[runs["m"].notna()].groupby(list(by), dropna=False, sort=True):
        yield dict(zip(by, point, strict=True)), group


def distribution(ratios: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return how the ratios of each policy are distributed.

    Parameters
    ----------
    ratios
        As returned by `with_ratios`, of one combination of options.
    by
        Parameters of the experiment (``m``, ``n_com``, ``wmin``) to tell runs apart by; runs of no point are then left
        out.

    Returns
    -------
    pandas.DataFrame
        One row per point and policy:

        - ``runs``, and ``unfinished`` among them;
        - ``quartile_1``, ``median``, ``quartile_3`` over *all* runs, and beside them what they are at most
          (``_high``): infinite where they fall on unfinished runs, and they are then more than the number given;
        - ``mean`` and ``mean_high`` over *finished* runs only, and the 95 % interval ``ci_low``, ``ci_high`` of a
          bootstrap over scenarios;
        - ``optimal``, ``within10``, ``within30``, ``within100``: the shares of all runs that are proven optimal, and
          proven to be at most 1.1, 1.3 and 2 times the optimum.

        Numbers of nothing are NaN.
    """
    import pandas as pd

    rows = []
    for point, group in groups(ratios, by):
        cluster = clusters(group)
        weights = resample(int(cluster.max(initial=-1)) + 1) if len(group) else np.ones((1, 1))
        for policy in in_order(group["policy"].unique()):
            mine = (group["policy"] == policy).to_numpy()
            low, high = group["low"].to_numpy()[mine], group["high"].to_numpy()[mine]
            is_finished = group["makespan"].notna().to_numpy()[mine]
            rows.append({**point, "policy": policy, **_summary(low, high, is_finished, cluster[mine], weights)})
    return pd.DataFrame(rows, columns=[*by, *COLUMNS])


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

    policies = in_order(ratios["policy"].unique())
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


def in_median_order(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `distribution` by increasing median; what is only bounded from below comes last."""
    return table.sort_values(["median_high", "median", "mean"], kind="stable", na_position="last", ignore_index=True)


def profile(runs: pd.DataFrame) -> pd.DataFrame:
    """Return each run's makespan over the best policy's on the same instance: Dolan and More's performance ratio.

    Only instances that every policy was run on and some policy finished count, so that all are measured on the same
    ones. The ratio of a run that did not finish is infinite.
    """
    import pandas as pd

    table = runs.pivot_table(index="fingerprint", columns="policy", values="makespan", dropna=False, sort=False)
    is_whole = runs.groupby("fingerprint")["policy"].nunique().reindex(table.index) == table.shape[1]
    table = table[is_whole & table.notna().any(axis=1)]
    shares = table.div(table.min(axis=1), axis=0).fillna(np.inf)
    return pd.DataFrame({policy: shares[policy] for policy in in_order(shares.columns.to_numpy())})


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the distribution of ratios of each policy, for each combination of population and options apart.

    Parameters
    ----------
    runs
        As in `bench.results.frames.Results`.

    Returns
    -------
    pandas.DataFrame
        ``population``, ``estimator``, ``service``, ``ties``, and of `distribution` the medians, the means over finished
        runs and the shares.

    Raises
    ------
    SelfCheckError
        When a run is better than what was proven to be best.
    """
    import pandas as pd

    wrong = contradictions(runs)
    if wrong:
        raise SelfCheckError(wrong[0])
    parts = []
    by = ["population", *OPTIONS]
    for point, group in with_ratios(runs).groupby(by, dropna=False, sort=True):
        part = distribution(group)
        for name, value in zip(by, point, strict=True):
            part[name] = str(value)
        parts.append(part)
    left_out = ("quartile", "ci_")
    kept = [*by, *(name for name in COLUMNS if not name.endswith("_high") and not name.startswith(left_out))]
    return pd.concat(parts, ignore_index=True)[kept] if parts else pd.DataFrame(columns=kept)


def _summary(
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    is_finished: npt.NDArray[np.bool_],
    cluster: npt.NDArray[np.intp],
    weights: npt.NDArray[np.float64],
) -> dict[str, Any]:
    row: dict[str, Any] = {"runs": len(low), "unfinished": int((~is_finished).sum())}
    for name, share in _QUANTILES.items():
        row[name], row[f"{name}_high"] = quantile(low, share), quantile(high, share)
    least, most = low[is_finished], high[is_finished]
    row["mean"] = least.mean() if len(least) else np.nan
    row["mean_high"] = most.mean() if len(most) else np.nan
    is_interval = len(np.unique(cluster[is_finished])) > 1
    row["ci_low"] = percentiles(resampled_means(least, cluster[is_finished], weights))[0] if is_interval else np.nan
    row["ci_high"] = percentiles(resampled_means(most, cluster[is_finished], weights))[1] if is_interval else np.nan
    row["optimal"] = (high == 1.0).mean()
    for name, most_ratio in _SHARES.items():
        row[name] = (high <= most_ratio).mean()
    return row
