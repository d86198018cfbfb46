"""Sentences of a report: findings, and how the runs were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from hindsched.bench.family import Family, family_named
from hindsched.bench.report.tables import count, interval, number, share
from hindsched.bench.results.frames import PROVENANCE, Results, records
from hindsched.bench.results.ratios import ends, in_median_order
from hindsched.offline.results import Sense

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["facts", "findings", "joined", "plural", "tiles"]


#: What a run does whose ratio is at most so much, or at least.
_MEDIANS = {
    Sense.MIN: ("take at most {} times the hindsight optimum", "take {} times the hindsight optimum or more"),
    Sense.MAX: (
        "reach the hindsight optimum divided by {}, or more",
        "reach the hindsight optimum divided by {} at most",
    ),
}


def plural(value: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> plural(1, "run"), plural(2000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def joined(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    Examples
    --------
    >>> joined(["IE"]), joined(["IE", "IP", "IY"])
    ('IE', 'IE, IP and IY')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def findings(
    runs: pd.DataFrame,
    overall: pd.DataFrame,
    medians: pd.DataFrame | None,
    family: Family,
) -> list[str]:
    """Return the plain findings of one combination of options, the most telling first.

    Parameters
    ----------
    runs
        All of them.
    overall
        Their distribution (see `hindsched.bench.results.ratios.distribution`); empty without any ratio.
    medians
        See `hindsched.bench.results.ratios.medians`; None without any ratio.
    family
        Whose runs they are.
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
            "campaign is not complete, and policies are not all measured on the same instances."
        )
    return found


def _why_no_ratio(runs: pd.DataFrame) -> str:
    status = runs["optimum_status"]
    if status.notna().any() and (status == "infeasible").all():
        return "No schedule finishes any of these instances, so there is nothing to compare with."
    if not status.notna().any():
        return "No optimum is known, so there are no ratios to the optimum: policies are compared with each other only."
    return "Neither an optimum nor a finished run is known, so there are no ratios."


def _of_ratios(overall: pd.DataFrame, medians: pd.DataFrame, sense: Sense) -> list[str]:
    most, least = _MEDIANS[sense]
    order = in_median_order(overall)
    rows = records(order.merge(medians, on="policy", suffixes=("_mean", ""), how="left"))
    best = rows[0]
    who = f"Best by median ratio: {best['policy']}. Half of its" if len(rows) > 1 else f"{best['policy']}: half of the"
    if isfinite(best["median_high"]):
        told = (
            f" (95% interval {number(best['ci_low'])} to {number(best['ci_high'])})"
            if isfinite(best["ci_high"])
            else ""
        )
        middle = interval(*ends(best, "median"))
        found = [f"{who} runs {most.format(middle)}{told}."]
    elif isfinite(best["median_low"]):
        found = [f"{who} runs {least.format(number(best['median_low']))}; no upper end is known."]
    else:
        found = ["No policy finishes more than half of its runs, so no median is known."]
    close = [row["policy"] for row in rows[1:] if not row["behind_low"] > 0]
    if close:
        found.append(f"Not told apart from it by these runs: {joined(close)}.")
    elif len(rows) > 1:
        second = rows[1]
        told = f"{number(second['behind_low'])} to {number(second['behind_high'])}"
        found.append(
            f"Next is {second['policy']}, whose median is {interval(*ends(second, 'median'))}; "
            f"the 95% interval of the difference is {told}."
        )
    if len(rows) > 2:
        last = rows[-1]
        found.append(f"Farthest from the optimum: {last['policy']}, median {interval(*ends(last, 'median'))}.")
    total = overall["runs"].sum()
    optimal = (overall["optimal"] * overall["runs"]).sum() / total
    near = (overall["within30"] * overall["runs"]).sum() / total
    text = f"{share(optimal)} of all runs are proven optimal, {share(near)} are within 30% of the optimum"
    if len(rows) > 1:
        text += f"; for {best['policy']} it is {share(best['optimal'])} and {share(best['within30'])}"
    found.append(f"{text}.")
    return found


def tiles(results: Results) -> list[tuple[str, str, str]]:
    """Return the key numbers: what, how many, a remark."""
    runs = results.runs
    instances = runs.drop_duplicates("fingerprint")
    status = instances["optimum_status"].value_counts()
    missing = int(runs["value"].isna().sum())
    finished = len(runs) - missing
    proven = int(status.get("optimal", 0))
    notes = []
    if status.get("infeasible", 0):
        notes.append(f"{count(status['infeasible'])} proven that none finishes")
    open_ = int(status.get("feasible", 0) + status.get("unknown", 0))
    if open_:
        notes.append(f"{count(open_)} open")
    unsolved = len(instances) - int(status.sum())
    if unsolved:
        notes.append(f"{count(unsolved)} not solved")
    return [
        ("Policies", count(runs["policy"].nunique()), ""),
        ("Instances", count(len(instances)), plural(int(instances["setting"].nunique()), "setting")),
        ("Runs", count(len(runs)), ""),
        ("Finished runs", count(finished), f"{count(missing)} unfinished" if missing else "all"),
        ("Optima proven", count(proven), ", ".join(notes) or ("all" if proven == len(instances) else "")),
    ]


def facts(results: Results, name: str, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return how the runs were made: what, and the values that occur.

    Parameters
    ----------
    results, name
        What they were read from.
    names
        The name on the page of each policy.
    """
    runs, optima = results.runs, results.optima
    found = [("Results", name)]
    longer = [f"{short} is {policy}" for policy, short in names.items() if short != policy]
    if longer:
        found.append(("policies", "; ".join(longer)))
    words = {"python": "Python", "numpy": "NumPy", "ortools": "OR-Tools", "version": "hindsched", "code": "code digest"}
    families = [family_named(str(name)) for name in runs["family"].unique()]
    options = list(dict.fromkeys(name for family in families for name in family.run_options))
    for column in (*PROVENANCE, *options, "engine"):
        values = _values(runs, runs if column in options else optima, column)
        if values:
            found.append((words.get(column, column), values))
    found += _numbers(runs, "limit", "limit of a run")
    if "instance_seed" in runs:
        found += _numbers(runs, "instance_seed", "seed of the instances")
    axes = [axis for family in families for axis in family.axes if axis not in (*family.scenario[-2:], "trial")]
    points = [f"{axis}: {_listed(runs[axis])}" for axis in dict.fromkeys(axes) if runs[axis].notna().any()]
    if points:
        found.append(("points", "; ".join(points)))
    solver = _values(optima, optima, "solver")
    if solver:
        found.append(("solver of the optima", solver))
    found += _numbers(optima, "time_limit_s", "time limit of a solve (s)")
    for frame, column, what in (
        (runs, "runtime_s", "time of all runs"),
        (optima, "optimum_runtime_s", "time of all solves"),
    ):
        if frame[column].notna().any():
            found.append((what, _duration(float(frame[column].sum()))))
    for frame, column, what in ((runs, "check", "checks of runs"), (optima, "optimum_check", "checks of optima")):
        counts = frame[column].astype(object).fillna("not told").value_counts().sort_index()
        if set(counts.index) - {"not told"}:
            found.append((what, ", ".join(f"{count(number_)} {verdict}" for verdict, number_ in counts.items())))
    if "checked_slots" in runs and runs["checked_slots"].notna().any():
        known = runs[runs["checked_slots"].notna() & runs["slots"].notna()]
        text = f"{count(known['checked_slots'].sum())} of {count(known['slots'].sum())}"
        whole = int((known["checked_slots"] >= known["slots"]).sum())
        found.append(("slots replayed by the checker", f"{text}; {plural(whole, 'run')} as a whole"))
    found.append(("rows left out", _left_out(results)))
    return found


def _left_out(results: Results) -> str:
    text = f"{count(results.left_out)} older or of another kind" if results.left_out else "none"
    return f"{text}; the last one was cut off by an interruption" if results.torn else text


def _values(runs: pd.DataFrame, optima: pd.DataFrame, column: str) -> str:
    """Return the values of a column with how many rows have each, if there are several."""
    import pandas as pd

    frames = [frame[column] for frame in ((runs,) if runs is optima else (runs, optima)) if column in frame]
    counts = pd.concat([frame.dropna().astype(str) for frame in frames]).value_counts().sort_index()
    if len(counts) == 1:
        return str(counts.index[0])
    return ", ".join(f"{value} ({plural(int(times), 'row')})" for value, times in counts.items())


def _numbers(frame: pd.DataFrame, column: str, what: str) -> list[tuple[str, str]]:
    return [(what, _listed(frame[column]))] if frame[column].notna().any() else []


def _listed(column: pd.Series[float]) -> str:
    values = sorted(set(column.dropna().tolist()))
    if len(values) > 12:
        return f"{count(len(values))} values from {values[0]:,.12g} to {values[-1]:,.12g}"
    return ", ".join(f"{value:,.12g}" for value in values)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    if seconds < 7200:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"
