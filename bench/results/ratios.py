"""Competitive ratios of single runs: to the hindsight optimum, and to the best policy.

If the optimum is proven, a ratio is a number. Otherwise it is an interval: the optimum is at least the solver's bound B
and at most the best known value V, of the solver or of any policy, so a run of value M has a ratio in [M / V, M / B].
(When maximising, the fractions are inverted.) An unfinished run is worse than its limit L: its ratio is in
[L / V, infinity).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hindsched.bench.family import family_named
from hindsched.bench.results.policy_order import policies_of
from hindsched.bench.results.records import records

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["contradictions", "profile", "with_ratios"]


def with_ratios(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on instances that some schedule is known to finish, with their ratios.

    Parameters
    ----------
    runs
        As in `bench.results.columns.Results`. The best known value is over all runs on an instance, except runs with
        their own optimum.

    Returns
    -------
    pandas.DataFrame
        With the columns ``low`` and ``high`` added: the ends of the ratio. ``high`` is infinite for an unfinished run,
        and so is ``low`` if its limit is unknown.
    """
    value, limit, bound, optimum = (
        runs[name].to_numpy(dtype=np.float64) for name in ("value", "limit", "optimum_bound", "optimum")
    )
    more_is_better = (runs["sense"] == "max").to_numpy()
    sign = np.where(more_is_better, -1.0, 1.0)
    own = runs["has_own_optimum"].to_numpy(dtype=bool)  # such a run solved a different problem
    comparable = (runs["value"] * sign).where(~own)
    known = comparable.groupby(runs["fingerprint"]).transform("min").to_numpy(dtype=np.float64) * sign
    known = np.where(own, value, known)
    best = np.where(more_is_better, np.fmax(known, optimum), np.fmin(known, optimum))
    is_finished = ~np.isnan(value)
    reached = np.where(is_finished, value, limit)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(more_is_better, best / reached, reached / best)
        high = np.where(more_is_better, bound / value, value / bound)
    low = np.where(is_finished, low, np.maximum(low, 1.0))  # a limit below the optimum is no information
    low = np.where(np.isnan(reached), np.inf, np.where((reached == 0) & (best == 0), 1.0, low))
    high = np.where(is_finished & (bound == 0) & (value == 0), 1.0, high)
    high = np.where(is_finished & ~np.isnan(high), high, np.inf)
    is_finishable = ~np.isnan(best) & (runs["optimum_status"] != "infeasible").to_numpy(dtype=bool, na_value=True)
    compared: pd.DataFrame = runs.assign(low=low, high=high).loc[is_finishable]
    return compared


def contradictions(runs: pd.DataFrame) -> list[str]:
    """Return contradictions: runs better than a proven bound, and schedules that the checker rejected."""
    more_is_better = runs["sense"] == "max"
    is_better = (runs["value"] < runs["optimum_bound"]).where(~more_is_better, runs["value"] > runs["optimum_bound"])
    is_impossible = runs["value"].notna() & (runs["optimum_status"] == "infeasible")
    found = []
    for row in records(runs[is_better | is_impossible]):
        bound = "no schedule finishes"
        if row["optimum_status"] != "infeasible":
            bound = f"the optimum is {'<=' if row['sense'] == 'max' else '>='} {row['optimum_bound']:g}"
        heading = family_named(row["family"]).with_objective(row.get("objective")).heading
        what = f"{row['policy']} on {row['instance']}: {heading} {row['value']:g}"
        solver = row["solver"] if isinstance(row["solver"], str) else "it"
        proved = f"{solver} proved" if solver != "it" else "it is proven"
        found.append(f"{what}, although {proved} that {bound}")
    for row in records(runs[runs["check"].notna() & (runs["check"] != "valid")]):
        found.append(f"{row['policy']} on {row['instance']}: the checker says {row['check']}")
    instances = runs.drop_duplicates("fingerprint")
    for row in records(instances[instances["optimum_check"].notna() & (instances["optimum_check"] != "valid")]):
        found.append(f"optimum of {row['instance']}: the checker says {row['optimum_check']}")
    return found


def profile(runs: pd.DataFrame) -> pd.DataFrame:
    """Return Dolan and Moré's performance ratio: each run's value over the best policy's on the same instance.

    An instance counts if every policy ran on it and some policy finished. The ratio is infinite for a run that did
    not finish, or did not do all the work of its instance.
    """
    import pandas as pd

    if len(runs):
        completed_all = family_named(str(runs["family"].iloc[0])).completed_all(runs)
        runs = runs.assign(value=runs["value"].where(completed_all))
    table = runs.pivot_table(index="fingerprint", columns="policy", values="value", dropna=False, sort=False)
    is_whole = runs.groupby("fingerprint")["policy"].nunique().reindex(table.index) == table.shape[1]
    table = table[is_whole & table.notna().any(axis=1)]
    if len(runs) and runs["sense"].iloc[0] == "max":
        shares = table.rdiv(table.max(axis=1), axis=0).fillna(np.inf)
    else:
        shares = table.div(table.min(axis=1), axis=0).fillna(np.inf)
    return pd.DataFrame({policy: shares[policy] for policy in policies_of(runs) if policy in shares})
