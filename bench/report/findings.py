"""The sentences in the summary of a report."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from hindsched.bench.family import AnyFamily
from hindsched.bench.report.formatting import count, interval, joined, number, plural, share
from hindsched.bench.results.ratio_statistics import ends, in_median_order
from hindsched.bench.results.records import records
from hindsched.offline.results import Sense

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["findings"]


#: How runs with at most, and with at least, a given ratio are described.
_MEDIANS = {
    Sense.MIN: ("take at most {} times the hindsight optimum", "take at least {} times the hindsight optimum"),
    Sense.MAX: (
        "reach at least the hindsight optimum divided by {}",
        "reach at most the hindsight optimum divided by {}",
    ),
}


def findings(
    runs: pd.DataFrame,
    overall: pd.DataFrame,
    medians: pd.DataFrame | None,
    family: AnyFamily,
) -> list[str]:
    """Return sentences on the runs of one combination of options, the most important first.

    Parameters
    ----------
    runs
        The runs.
    overall
        Their distribution (see `hindsched.bench.results.ratio_statistics.distribution`); empty without any ratio.
    medians
        See `hindsched.bench.results.ratio_statistics.medians`; None without any ratio.
    family
        The family of the runs.
    """
    found = []
    if len(overall) == 0 or medians is None:
        found.append(_why_no_ratio(runs))
    else:
        found += _of_ratios(overall, medians, family.sense)
    missing = int(runs["value"].isna().sum())
    if missing == len(runs):
        found.append("No run finished.")
    elif missing:
        impossible = int((runs["value"].isna() & (runs["optimum_status"] == "infeasible")).sum())
        text = f"{plural(missing, 'run')} of {count(len(runs))} did not finish ({share(missing / len(runs))})"
        text += f", {count(impossible)} of them on instances that no schedule finishes" if impossible else ""
        found.append(f"{text}.")
    else:
        found.append("Every run finished.")
    per_instance = runs.groupby("fingerprint")["policy"].nunique()
    absent = int(runs["policy"].nunique() * len(per_instance) - per_instance.sum())
    if absent:
        found.append(
            f"{plural(absent, 'run')} of policies on instances {'is' if absent == 1 else 'are'} missing: the "
            "campaign is incomplete, and not all policies ran on the same instances."
        )
    return found


def _why_no_ratio(runs: pd.DataFrame) -> str:
    status = runs["optimum_status"]
    if status.notna().any() and (status == "infeasible").all():
        return "No schedule finishes any of these instances, so there are no ratios."
    if not status.notna().any():
        return "No optimum is known, so policies are compared only with each other."
    return "Neither an optimum nor a finished run is known, so there are no ratios."


def _of_ratios(overall: pd.DataFrame, medians: pd.DataFrame, sense: Sense) -> list[str]:
    most, least = _MEDIANS[sense]
    order = in_median_order(overall)
    rows = records(order.merge(medians, on="policy", suffixes=("_mean", ""), how="left"))
    best = rows[0]
    who = f"Best by median ratio: {best['policy']}. Half of its" if len(rows) > 1 else f"{best['policy']}: half of the"
    if isfinite(best["median_high"]):
        confidence = (
            f" (95% interval {number(best['ci_low'])} to {number(best['ci_high'])})"
            if isfinite(best["ci_high"])
            else ""
        )
        middle = interval(*ends(best, "median"))
        found = [f"{who} runs {most.format(middle)}{confidence}."]
    elif isfinite(best["median_low"]):
        found = [f"{who} runs {least.format(number(best['median_low']))}; no upper end is known."]
    else:
        found = ["No policy finishes more than half of its runs, so no median is known."]
    close = [row["policy"] for row in rows[1:] if not row["behind_low"] > 0]
    if close:
        found.append(f"These runs do not distinguish it from {joined(close)}.")
    elif len(rows) > 1:
        second = rows[1]
        difference = f"{number(second['behind_low'])} to {number(second['behind_high'])}"
        found.append(
            f"Second is {second['policy']} with median {interval(*ends(second, 'median'))}; "
            f"the 95% interval of the difference is {difference}."
        )
    if len(rows) > 2:
        last = rows[-1]
        found.append(f"Farthest from the optimum: {last['policy']}, median {interval(*ends(last, 'median'))}.")
    total = overall["runs"].sum()
    optimal = (overall["optimal"] * overall["runs"]).sum() / total
    near = (overall["within30"] * overall["runs"]).sum() / total
    text = f"{share(optimal)} of all runs are proven optimal, {share(near)} are within 30% of the optimum"
    if len(rows) > 1:
        text += f"; of {best['policy']}'s runs, {share(best['optimal'])} and {share(best['within30'])}"
    found.append(f"{text}.")
    return found
