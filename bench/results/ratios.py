"""Competitive ratios: a policy's makespan over the hindsight optimum of the same states.

Where the optimum is proven the ratio is a number. Otherwise it is an interval: the optimum is at least the solver's
bound B, and at most the best makespan known, V, of the solver's schedule or of any policy; so a policy's makespan M
has its ratio in [M / V, M / B].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from bench.results.stats import bootstrap_mean
from instances.errors import SelfCheckError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "Ratio", "ratios", "records", "table"]

#: Columns of the table and their headings.
COLUMNS = {
    "setting": "setting",
    "policy": "policy",
    "solved": "solved",
    "unfinished": "unfinished",
    "mean": "mean ratio",
    "mean_high": "at most",
    "ci_low": "95% from",
    "ci_high": "to",
    "median": "median",
    "median_high": "at most",
    "optimal": "optimal",
    "optimal_high": "at most",
}


@dataclass(frozen=True, slots=True)
class Ratio:
    """One run against the optimum of its instance.

    Parameters
    ----------
    setting, instance, policy
        Which run.
    makespan
        The run's; None if it did not finish.
    low, high
        The ratio lies between them, and is known when they are equal; None if the run did not finish.
    """

    setting: str
    instance: str
    policy: str
    makespan: int | None
    low: float | None
    high: float | None


def ratios(optima: Iterable[Mapping[str, Any]], runs: Iterable[Mapping[str, Any]]) -> list[Ratio]:
    """Compare every run with the optimum of its instance.

    Runs on instances that no schedule can finish are left out: there is nothing to compare with.

    Raises
    ------
    SelfCheckError
        When a run beats what was proven: a ratio below 1 is a defect, never a result.
    """
    by_instance = {row["instance"]: row for row in optima}
    runs = list(runs)
    best: dict[str, int] = {}
    for row in runs:
        makespan = row["makespan"]
        if makespan is None:
            continue
        name = row["instance"]
        best[name] = min(makespan, best.get(name, makespan))
        optimum = by_instance[name]
        bound = optimum["bound"]
        if optimum["status"] == "infeasible" or (bound is not None and makespan < bound):
            proven = "no schedule finishes" if optimum["status"] == "infeasible" else f"the optimum is >= {bound}"
            raise SelfCheckError(
                f"{row['policy']} on {name}: makespan {makespan}, although {optimum['solver']} proved that {proven}"
            )
    found = []
    for row in runs:
        name, makespan = row["instance"], row["makespan"]
        optimum = by_instance[name]
        if optimum["status"] == "infeasible":
            continue
        low = high = None
        if makespan is not None:
            known = [value for value in (optimum["value"], best[name]) if value is not None]
            low = makespan / min(known)
            high = makespan / optimum["bound"] if optimum["bound"] else None
        found.append(Ratio(row["setting"], name, row["policy"], makespan, low, high))
    return found


def table(found: Sequence[Ratio], policies: Sequence[str]) -> pd.DataFrame:
    """Return one row per setting and policy: what is printed and what is written are the same frame.

    ``solved`` and ``unfinished`` count runs; ``mean`` and ``median`` are over solved runs, with the upper ends of
    the intervals beside them; ``ci_low`` and ``ci_high`` enclose the mean with 95% confidence (bootstrap; the outer
    ends where ratios are intervals); ``optimal`` is the share of *all* runs that are proven optimal,
    ``optimal_high`` the share that may be.
    """
    import pandas as pd

    settings = list(dict.fromkeys(ratio.setting for ratio in found))
    rows = []
    for setting in settings:
        for policy in policies:
            mine = [ratio for ratio in found if (ratio.setting, ratio.policy) == (setting, policy)]
            rows.append({"setting": setting, "policy": policy, **_summary(mine)})
    frame = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
    return frame.where(frame.notna(), None)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values, by column."""
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


def _summary(mine: Sequence[Ratio]) -> dict[str, float | int | None]:
    lows = [ratio.low for ratio in mine if ratio.low is not None]
    highs = [ratio.high for ratio in mine if ratio.high is not None]
    ends = highs if len(highs) == len(lows) else []  # one ratio without an upper end leaves the mean without one
    ci_low, ci_high = bootstrap_mean(lows), bootstrap_mean(ends)
    return {
        "solved": len(lows),
        "unfinished": len(mine) - len(lows),
        "mean": fmean(lows) if lows else None,
        "mean_high": fmean(ends) if ends else None,
        "ci_low": None if ci_low is None else ci_low[0],
        "ci_high": None if ci_high is None else ci_high[1],
        "median": median(lows) if lows else None,
        "median_high": median(ends) if ends else None,
        "optimal": sum(high == 1.0 for high in highs) / len(mine) if mine else None,
        "optimal_high": sum(low == 1.0 for low in lows) / len(mine) if mine else None,
    }
