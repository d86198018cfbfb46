"""The sentences in the summary of a report."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING

from hindsched.bench.family import AnyFamily
from hindsched.bench.report.formatting import count, interval, joined, number, plural, share
from hindsched.bench.results.ratio_statistics import FEWEST, ends, in_median_order
from hindsched.bench.results.records import records
from hindsched.bench.shared_types import Row
from hindsched.offline.results import Sense

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["findings"]


#: Descriptions of runs with at most a given ratio, and of those with at least that ratio.
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
    """Return sentences on the runs of one combination of options, most important first.

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
    rows = records(in_median_order(overall).merge(medians, on="policy", suffixes=("_mean", ""), how="left"))
    best = rows[0]
    found = _ranking(rows, sense) if not isnan(best["ci_low"]) or len(rows) == 1 else _unranked(rows)
    total = overall["runs"].sum()
    optimal = (overall["optimal"] * overall["runs"]).sum() / total
    near = (overall["within30"] * overall["runs"]).sum() / total
    found.append(f"{share(optimal)} of all runs are proven optimal, {share(near)} are within 30% of the optimum.")
    return found


def _unranked(rows: Sequence[Row]) -> list[str]:
    """Return the range of medians over too few instances for an interval, without a first or a last policy."""
    texts = list(dict.fromkeys(map(_median, rows)))
    found = f"all have the median ratio {texts[0]}"
    if len(texts) > 1:
        found = f"their median ratios go from {texts[0]} to {texts[-1]}"
    return [f"Too few instances to rank policies (at least {FEWEST}, or {FEWEST} scenarios, are needed); {found}."]


def _ranking(rows: Sequence[Row], sense: Sense) -> list[str]:
    """Return the policies with the least median ratio, those that are not distinguished from them, and the last."""
    most, least = _MEDIANS[sense]
    best = rows[0]
    middle = ends(best, "median")
    leaders = [row for row in rows if _median(row) == _median(best)]
    others = rows[len(leaders) :]
    if len(rows) == 1:
        who = f"{best['policy']}: half of the"
    elif len(leaders) == 1:
        who = f"Best by median ratio: {best['policy']}. Half of its"
    else:
        who = f"Best by median ratio: {joined([row['policy'] for row in leaders])} tie. Half of their"
    confidence = ""
    if isfinite(best["ci_high"]) and len(leaders) == 1:
        confidence = f" (95% interval {number(best['ci_low'])} to {number(best['ci_high'])})"
    if isfinite(middle[1]):
        found = [f"{who} runs {most.format(interval(*middle))}{confidence}."]
    elif isfinite(middle[0]):
        found = [f"{who} runs {least.format(number(middle[0]))}; no upper end is known."]
    else:
        return ["No policy finishes more than half of its runs, so no median is known."]
    close = [row["policy"] for row in others if not row["behind_low"] > 0]
    it = "it" if len(leaders) == 1 else "them"
    if others and len(close) == len(others):
        return [*found, f"These runs distinguish no other policy from {it}."]
    if close:
        found.append(f"These runs do not distinguish {it} from {joined(close)}.")
    elif others:
        second = others[0]
        difference = f"{number(second['behind_low'])} to {number(second['behind_high'])}"
        found.append(
            f"Second is {second['policy']} with median {_median(second)}; "
            f"the 95% interval of the difference is {difference}."
        )
    last = [row["policy"] for row in others if _median(row) == _median(rows[-1])]
    if last and len(rows) > 2 and not set(last) & set(close):
        tie = " tie" if len(last) > 1 else ""
        found.append(f"Farthest from the optimum: {joined(last)}{tie}, median {_median(rows[-1])}.")
    return found


def _median(row: Row) -> str:
    return interval(*ends(row, "median"))
