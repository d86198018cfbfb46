"""The metrics of the paper's Tables I and II with 95 % intervals: a bootstrap over scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from docs.studies.claims import PrintedNumber
from hindsched.bench.coupled.paper import SLOTS
from hindsched.bench.coupled.paper_tables import METRICS, printed_tables
from hindsched.bench.coupled.versus import versus
from hindsched.bench.results.bootstrap import Weights, percentiles, resample
from hindsched.bench.results.records import records
from hindsched.online.coupled import POLICIES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Makespans", "aggregated", "is_within", "least_outlier", "printed_numbers", "stdv_over_trials"]

Numbers = npt.NDArray[np.float64]

_SCENARIO = ["m", "n_com", "wmin", "scenario"]


class Makespans:
    """The makespans of all heuristics on the instances of one table, and resamples of its scenarios.

    Parameters
    ----------
    runs
        One row per run of one reading and one m; ``makespan`` is missing where the run failed.
    """

    def __init__(self, runs: pd.DataFrame) -> None:
        self.runs = runs
        values = runs.assign(makespan=runs["makespan"].astype(float))
        wide = values.pivot_table(index=[*_SCENARIO, "trial"], columns="policy", values="makespan", dropna=False)
        #: One row per instance, one column per heuristic; infinite where the run failed.
        self.wide = wide.fillna(np.inf)

    @cached_property
    def metrics(self) -> dict[str, dict[str, float]]:
        """The metrics of `versus`, by heuristic."""
        return {row["policy"]: row for row in records(versus(self.runs))}

    @cached_property
    def intervals(self) -> dict[str, dict[str, tuple[float, float]]]:
        """The 95 % interval of each metric, by heuristic."""
        return {policy: {name: percentiles(self._resampled(policy, name)) for name in METRICS} for policy in POLICIES}

    def difference(self, policy: str, other: str, metric: str = "diff") -> tuple[float, float, float]:
        """Return how much a metric of a heuristic exceeds that of another one, and its interval."""
        found = self.metrics[policy][metric] - self.metrics[other][metric]
        low, high = percentiles(self._resampled(policy, metric) - self._resampled(other, metric))
        return found, low, high

    def largest(self, policy: str) -> float:
        """Return the largest %diff of a scenario."""
        return float(np.nanmax(self._of_scenarios[policy]["diff"]))

    def diff_by_wmin(self, policy: str) -> list[tuple[float, float, float]]:
        """Return the %diff of a heuristic at each wmin, in increasing order, and its interval."""
        runs = self.runs[self.runs["policy"].isin(["IE", policy])]
        found = []
        for _, group in runs.groupby("wmin", sort=True):
            mine = Makespans(group)
            found.append((mine.metrics[policy]["diff"], *percentiles(mine._resampled(policy, "diff"))))
        return found

    def _resampled(self, policy: str, metric: str) -> Numbers:
        """Return a metric in each resample of the scenarios."""
        of = self._of_scenarios[policy]
        weights = self._weights
        if metric == "fails":
            return weights @ of["fails"]
        if metric in ("wins", "wins30"):
            share: Numbers = 100 * (weights @ of[metric]) / (weights @ of["counted"])
            return share
        diff, known = np.nan_to_num(of["diff"]), np.isfinite(of["diff"]).astype(float)
        number = weights @ known
        mean: Numbers = (weights @ diff) / number
        if metric == "diff":
            return mean
        spread: Numbers = np.sqrt(np.maximum(0.0, weights @ diff**2 - number * mean**2) / (number - 1))
        return spread

    @cached_property
    def _weights(self) -> Weights:
        return resample(len(self.wide.groupby(_SCENARIO, sort=True)))

    @cached_property
    def _of_scenarios(self) -> dict[str, dict[str, Numbers]]:
        """Return the sums of each scenario that the metrics consist of, by heuristic."""
        scenario = np.asarray(self.wide.groupby(_SCENARIO, sort=True).ngroup(), dtype=np.intp)
        base = self.wide["IE"].to_numpy()
        found = {}
        for policy in (name for name in POLICIES if name in self.wide):
            mine = self.wide[policy].to_numpy()
            finished, both = np.isfinite(mine), np.isfinite(mine) & np.isfinite(base)
            with np.errstate(invalid="ignore"):
                means = [_sums(np.where(both, values, 0.0), scenario) for values in (mine, base)]
                diff = 100 * (means[0] - means[1]) / np.minimum(*means)
            found[policy] = {
                "fails": _sums(~finished, scenario),
                "counted": _sums(finished | np.isfinite(base), scenario),
                "wins": _sums(finished & (mine <= base), scenario),
                "wins30": _sums(finished & (10 * mine <= 13 * base), scenario),
                "diff": diff,
            }
        return found


def _sums(values: npt.NDArray[np.generic], groups: npt.NDArray[np.intp]) -> Numbers:
    return np.bincount(groups, weights=values.astype(float)).astype(np.float64)


def printed_numbers(tables: Mapping[str, Makespans]) -> list[PrintedNumber]:
    """Return every number of the printed tables beside the number here, with its interval.

    A number that no resample changes, such as no failures at all, has no interval.

    Parameters
    ----------
    tables
        Runs of table I and of table II.
    """
    found = []
    for row in records(printed_tables()):
        mine, policy = tables[row["table"]], row["policy"]
        for name in METRICS:
            if policy == "IE" and name != "fails":
                continue  # by definition
            here, ends = mine.metrics[policy][name], mine.intervals[policy][name]
            low, high = (None, None) if ends[0] == ends[1] else ends
            found.append(
                PrintedNumber(row["table"], policy, name, row[name], here, low, high, runs=len(mine.wide)),
            )
    return found


def is_within(number: PrintedNumber, times: float = 1.0) -> bool:
    """Return whether a printed number equals the number here or lies in its interval, ``times`` as wide.

    The printed number has a sampling error too. If both have the same, the interval of their difference is sqrt(2)
    times as wide as that of one.

    Examples
    --------
    >>> printed = PrintedNumber("I", "IP", "diff", printed=26.0, here=20.0, low=15.0, high=25.0)
    >>> is_within(printed), is_within(printed, 2**0.5)
    (False, True)
    """
    if number.printed is None or number.here is None:
        return False
    if number.low is None or number.high is None:
        return number.printed == number.here
    low, high = (number.here + times * (end - number.here) for end in (number.low, number.high))
    return low <= number.printed <= high


def aggregated(mine: Makespans) -> float:
    """Return by how much other means change a %diff at most, RANDOM left out.

    The other means are over all trials that a heuristic finishes, also where the reference fails, and over all trials
    with the slot limit in place of a failure.
    """
    most = 0.0
    for missing in (np.nan, SLOTS):
        means = mine.wide.replace(np.inf, missing).groupby(_SCENARIO).mean()
        base = means["IE"]
        for policy in POLICIES:
            if policy != "RANDOM":
                diff = 100 * ((means[policy] - base) / np.minimum(means[policy], base)).mean()
                most = max(most, abs(diff - mine.metrics[policy]["diff"]))
    return most


def stdv_over_trials(mine: Makespans, policy: str) -> float:
    """Return the sample standard deviation of the relative difference to IE over trials, in percent."""
    wide = mine.wide[np.isfinite(mine.wide[policy]) & np.isfinite(mine.wide["IE"])]
    own, base = wide[policy], wide["IE"]
    return float((100 * (own - base) / np.minimum(own, base)).std())


def least_outlier(mean: float, stdv: float) -> float:
    """Return a bound that the largest %diff of a scenario reaches, given mean and stdv, if none is below -100 %.

    The variance is at most (largest - mean) (mean - least), by Bhatia and Davis.

    Examples
    --------
    >>> least_outlier(50.0, 150.0)  # for instance -100 and 200 in equal shares
    200.0
    """
    return mean + stdv**2 / (mean + 100)
