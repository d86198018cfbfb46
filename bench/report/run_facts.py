"""The key numbers of a report and how its runs were made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hindsched.bench.family import family_named
from hindsched.bench.report.formatting import count, plural
from hindsched.bench.results.columns import PROVENANCE, Results

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["key_numbers", "run_facts"]


def key_numbers(results: Results) -> list[tuple[str, str, str]]:
    """Return the key numbers as triples of name, number and remark."""
    runs = results.runs
    problems = runs.drop_duplicates("fingerprint")
    instances = problems.drop_duplicates(["family", "setting", "instance"])  # with several objectives there are fewer
    status = problems["optimum_status"].value_counts()
    missing = int(runs["value"].isna().sum())
    finished = len(runs) - missing
    proven = int(status.get("optimal", 0))
    notes = []
    if status.get("infeasible", 0):
        notes.append(f"{count(status['infeasible'])} proven infeasible")
    open_ = int(status.get("feasible", 0) + status.get("unknown", 0))
    if open_:
        notes.append(f"{count(open_)} open")
    unsolved = len(problems) - int(status.sum())
    if unsolved:
        notes.append(f"{count(unsolved)} not solved")
    return [
        ("Policies", count(runs["policy"].nunique()), ""),
        ("Instances", count(len(instances)), plural(int(instances["setting"].nunique()), "setting")),
        ("Runs", count(len(runs)), ""),
        ("Finished runs", count(finished), f"{count(missing)} unfinished" if missing else "all"),
        ("Optima proven", count(proven), ", ".join(notes) or ("all" if proven == len(problems) else "")),
    ]


def run_facts(results: Results, name: str, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return how the runs were made, as pairs of a name and its values.

    Parameters
    ----------
    results, name
        The results, and the name of their folder or file.
    names
        The name of each policy on the page.
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
        counts = frame[column].astype(object).fillna("unknown").value_counts().sort_index()
        if set(counts.index) - {"unknown"}:
            found.append((what, ", ".join(f"{count(number_)} {verdict}" for verdict, number_ in counts.items())))
    if "checked_slots" in runs and runs["checked_slots"].notna().any():
        known = runs[runs["checked_slots"].notna() & runs["slots"].notna()]
        text = f"{count(known['checked_slots'].sum())} of {count(known['slots'].sum())}"
        whole = int((known["checked_slots"] >= known["slots"]).sum())
        found.append(("slots replayed by the checker", f"{text}; {plural(whole, 'run')} completely"))
    failed = runs["failure"].dropna()
    if len(failed):
        found.append(("failed runs", f"{count(len(failed))}, counted as unfinished; the first: {failed.iloc[0]}"))
    found.append(("rows left out", _left_out(results)))
    return found


def _left_out(results: Results) -> str:
    text = f"{count(results.left_out)} replaced by newer rows, or of unknown kind" if results.left_out else "none"
    return f"{text}; the last one was cut off by an interruption" if results.torn else text


def _values(runs: pd.DataFrame, optima: pd.DataFrame, column: str) -> str:
    """Return the values of a column, with the number of rows of each if there are several."""
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
