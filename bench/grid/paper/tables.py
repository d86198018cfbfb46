"""Tables I to III from the runs: means over seeds with their confidence intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any

__all__ = ["Rows", "interval", "mean_wait_s", "overlay_pairs", "pick", "seeds_to_tell", "tables"]

Rows = Sequence[Mapping[str, Any]]


def interval(values: Iterable[float]) -> tuple[float, float]:
    """Return the mean and half the width of its 95 % confidence interval (Student's t); 0 from a single value.

    Examples
    --------
    >>> mean, half = interval([1.0, 2.0, 3.0])
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


def pick(rows: Rows, **wanted: Any) -> list[Mapping[str, Any]]:
    """Return the rows with these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def mean_wait_s(row: Mapping[str, Any]) -> float:
    """Return the mean wait of the jobs that run, in seconds."""
    ran = row["jobs"] - row["failed"]
    return float(row["total_wait"] * row["slot_s"] / ran) if ran else float("nan")


def overlay_pairs(rows: Rows, mix: str, load: float) -> list[tuple[float, float]]:
    """Return mean waits in seconds over the dynamic and the static overlay, of all seeds with which both were run."""
    known: dict[int, dict[str, float]] = {}
    for part in ("paper", "overlay"):
        for row in pick(rows, part=part, policy="dgs", mix=mix, load=load, degree=20, messaging="push"):
            known.setdefault(row["seed"], {})[row["overlay"]] = mean_wait_s(row)
    return [(each["cyclon"], each["static"]) for each in known.values() if len(each) == 2]


def seeds_to_tell(differences: Sequence[float]) -> float:
    """Return about how many seeds a difference of this size and deviation takes to be told from none.

    That is at 95 % of confidence with a power of 80 %, by the normal distribution.
    """
    mean, _ = interval(differences)
    deviation = sqrt(sum((value - mean) ** 2 for value in differences) / max(1, len(differences) - 1))
    return ((1.96 + 0.84) * deviation / mean) ** 2 if mean else float("inf")


def tables(rows: Rows) -> dict[str, list[dict[str, Any]]]:
    """Return Tables I, II and III, and the baselines beside dgs, by mix and load."""
    paper = pick(rows, part="paper")
    found: dict[str, list[dict[str, Any]]] = {"I": [], "II": [], "III": [], "baselines": []}
    for mix, load in dict.fromkeys((row["mix"], row["load"]) for row in paper):
        mine = pick(paper, mix=mix, load=load)
        where = {"mix": mix, "load": load}
        for method in ("push", "pull", "poll"):
            runs = pick(
                mine, policy="dgs", degree=20, overlay="static", messaging="poll" if method == "poll" else "push"
            )
            found["I"].append(
                {**where, "method": method, **_of("messages", [row[method] for row in runs]), **_failures(runs)}
            )
        for degree in dict.fromkeys(row["degree"] for row in pick(mine, policy="dgs")):
            runs = pick(mine, policy="dgs", degree=degree, overlay="static", messaging="push")
            line = {**where, "degree": degree, **_failures(runs), **_of("wait_s", map(mean_wait_s, runs))}
            found["II"].append(
                line | _of("push", [row["push"] for row in runs]) | _of("pull", [row["pull"] for row in runs])
            )
        static = pick(mine, policy="dgs", degree=20, overlay="static", messaging="push")
        pairs = overlay_pairs(rows, mix, load)
        found["III"].append(
            {
                **where,
                "seeds": len(pairs),
                **_of("dynamic_s", [a for a, _ in pairs]),
                **_of("static_s", [b for _, b in pairs]),
                **_of("difference_s", [a - b for a, b in pairs]),
            }
        )
        for policy in dict.fromkeys(row["policy"] for row in mine):
            runs = static if policy == "dgs" else pick(mine, policy=policy)
            found["baselines"].append(
                {**where, "policy": policy, **_of("wait_s", map(mean_wait_s, runs)), **_failures(runs)}
            )
    return found


def _of(name: str, values: Iterable[float]) -> dict[str, float]:
    mean, half = interval(values)
    return {name: mean, f"{name}_ci": half}


def _failures(runs: Rows) -> dict[str, float]:
    return _of("failed_percent", [100 * row["failed"] / row["jobs"] for row in runs])
