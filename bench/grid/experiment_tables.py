"""Compute the paper's Tables I to III, and further ones, from the runs: means over seeds with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any

from hindsched.bench.shared_types import Row

__all__ = [
    "Rows",
    "confidence_interval",
    "log_table",
    "mean_wait_s",
    "overlay_pairs",
    "per_day",
    "scheduler",
    "select",
    "tables",
]

Rows = Sequence[Row]


def confidence_interval(values: Iterable[float]) -> tuple[float, float]:
    """Return the mean and half the width of its 95 % confidence interval (Student's t), 0 for a single value.

    Examples
    --------
    >>> mean, half = confidence_interval([1.0, 2.0, 3.0])
    >>> round(mean, 3), round(half, 3)
    (2.0, 2.484)
    """
    from scipy.stats import t

    known = list(values)
    mean = sum(known) / len(known)
    if len(known) < 2:
        return mean, 0.0
    deviation = sqrt(sum((value - mean) ** 2 for value in known) / (len(known) - 1))
    return mean, float(t.ppf(0.975, len(known) - 1)) * deviation / sqrt(len(known))


def select(rows: Rows, **wanted: Any) -> list[Row]:
    """Return the rows with these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def mean_wait_s(row: Row) -> float:
    """Return the mean wait in seconds of the jobs that run."""
    ran = row["jobs"] - row["failed"]
    return float(row["total_wait"] * row["slot_s"] / ran) if ran else float("nan")


def per_day(row: Row, name: str) -> float:
    """Return a counter of messages per day of submissions."""
    return float(row[name] * 86_400 / (row["submitted_slots"] * row["slot_s"]))


def scheduler(row: Row) -> str:
    """Return the name of the scheduler of a run, with the rule of a queue."""
    return f"queue({row['rule']})" if row["policy"] == "queue" else str(row["policy"])


def overlay_pairs(rows: Rows, mix: str, load: float) -> list[tuple[float, float]]:
    """Return pairs of mean waits in seconds, dynamic and static overlay, for the seeds that ran with both."""
    known: dict[int, dict[str, float]] = {}
    for part in ("paper", "overlay"):
        for row in select(rows, part=part, policy="dgs", mix=mix, load=load, degree=20, messaging="push"):
            known.setdefault(row["seed"], {})[row["overlay"]] = mean_wait_s(row)
    return [(each["cyclon"], each["static"]) for each in known.values() if len(each) == 2]


def tables(rows: Rows) -> dict[str, list[Row]]:
    """Return Tables I, II and III, and dgs compared with centralised baselines, by mix and load."""
    paper = select(rows, part="paper")
    found: dict[str, list[Row]] = {"I": [], "II": [], "III": [], "baselines": []}
    for mix, load in dict.fromkeys((row["mix"], row["load"]) for row in paper):
        mine = select(paper, mix=mix, load=load)
        where = {"mix": mix, "load": load}
        found["I"] += [where | line for line in _methods(mine)]
        found["II"] += [where | line for line in _degrees(mine)]
        found["III"].append(where | _overlays(overlay_pairs(rows, mix, load)))
        found["baselines"] += [where | line for line in _baselines(mine)]
    return found


def _methods(rows: Rows) -> list[Row]:
    lines = []
    for method in ("push", "pull", "poll"):
        messaging = "poll" if method == "poll" else "push"  # a run counts both push and pull
        runs = select(rows, policy="dgs", degree=20, overlay="static", messaging=messaging)
        counts = _mean("messages", [row[method] for row in runs])
        counts |= _mean("per_day", [per_day(row, method) for row in runs])
        lines.append({"method": method, **counts, **_failures(runs)})
    return lines


def _degrees(rows: Rows) -> list[Row]:
    lines = []
    for degree in dict.fromkeys(row["degree"] for row in select(rows, policy="dgs")):
        runs = select(rows, policy="dgs", degree=degree, overlay="static", messaging="push")
        line = {"degree": degree, **_failures(runs), **_mean("wait_s", map(mean_wait_s, runs))}
        for name in ("push", "pull"):
            line |= _mean(name, [row[name] for row in runs])
            line |= _mean(f"{name}_per_day", [per_day(row, name) for row in runs])
        lines.append(line)
    return lines


def _overlays(pairs: Sequence[tuple[float, float]]) -> Row:
    return {
        "seeds": len(pairs),
        **_mean("dynamic_s", [a for a, _ in pairs]),
        **_mean("static_s", [b for _, b in pairs]),
        **_mean("difference_s", [a - b for a, b in pairs]),
    }


def _baselines(rows: Rows) -> list[Row]:
    lines = []
    for name in dict.fromkeys(map(scheduler, rows)):
        usual = {"degree": 20, "overlay": "static", "messaging": "push"} if name == "dgs" else {}
        runs = [row for row in select(rows, **usual) if scheduler(row) == name]
        lines.append({"policy": name, **_mean("wait_s", map(mean_wait_s, runs)), **_failures(runs)})
    return lines


def log_table(rows: Rows) -> list[Row]:
    """Return mean waits and failures on the real log, by compression of its gaps and by scheduler."""
    found = []
    runs = select(rows, part="log")
    keys = ("compress", "policy", "overlay", "messaging")
    settings: dict[tuple[Any, ...], list[Row]] = {}
    for row in runs:
        key = (row.get("compress"), scheduler(row), row.get("overlay"), row.get("messaging"))
        settings.setdefault(key, []).append(row)
    for key, mine in settings.items():
        mean, half = confidence_interval(map(mean_wait_s, mine))
        failed = confidence_interval([100 * row["failed"] / row["jobs"] for row in mine])[0]
        line = dict(zip(keys, key, strict=True)) | {"jobs": mine[0]["jobs"], "wait_s": mean}
        found.append(line | {"wait_s_ci": half, "failed_percent": failed})
    return found


def _mean(name: str, values: Iterable[float]) -> dict[str, float]:
    mean, half = confidence_interval(values)
    return {name: mean, f"{name}_ci": half}


def _failures(runs: Rows) -> dict[str, float]:
    return _mean("failed_percent", [100 * row["failed"] / row["jobs"] for row in runs])
