"""What the paper claims, one by one, beside what the runs say (docs/batches/model.md section 8)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np

from hindsched.bench.batches.paper.theorem import Tally
from hindsched.online.batches.periods import poisson_tail, requests_for

__all__ = ["Finding", "findings"]

_HOLDS, _NOT, _PARTLY, _OPEN = "holds", "does not hold here", "holds in part", "cannot be told"
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim of the paper and what became of it.

    Parameters
    ----------
    source, claim
        Where it stands in the paper, and what it says.
    ours
        What this code says.
    verdict
        ``holds``, ``holds in part``, ``does not hold here`` or ``cannot be told``.
    """

    source: str
    claim: str
    ours: str
    verdict: str


def findings(rows: Rows, arrivals: Rows, theorem: Tally | None) -> list[Finding]:
    """Go through the paper's claims; those that nothing was run for are left out."""
    return [
        *_arithmetic(),
        *_theorem(theorem),
        *_hypothesis(arrivals),
        *_fed(rows),
        *_shifting(rows),
        *_satisfied(rows),
        *_predictors(rows),
        *_copies(rows),
        *_readings(rows),
        *_not_held(),
    ]


def _pick(rows: Rows, **wanted: Any) -> list[Mapping[str, Any]]:
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def _mean(rows: Rows, name: str) -> float:
    values = [row[name] for row in rows if row.get(name) is not None]
    return float(np.mean(values)) if values else math.nan


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.1f} %"


def _third(rows: Rows, **more: Any) -> list[Mapping[str, Any]]:
    return _pick(rows, part="batches", **({"first": "spread", "copies_lambda": 2} | more))


def _by_ratio(rows: Rows) -> dict[str, list[Mapping[str, Any]]]:
    """Return rows by the mean computing time as a part of D - S."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(f"D/{row['deadline_s'] // row['c']}", []).append(row)
    return dict(sorted(found.items()))


def _arithmetic() -> list[Finding]:
    """Compute again what needs no trace."""
    lambdas = [requests_for(tasks, 0.99) for tasks in (1024, 2048, 4096)]
    missed = 1 - poisson_tail(lambdas[0] / 0.9, 1024)
    gap = 14_400 / 4024
    connections = 1000 * 300 / 14_400
    end = datetime(2007, 4, 1) + timedelta(days=275, hours=256 * 4)
    lost = 1 - math.exp(-15 / 2190)
    days = 16_293 * 365.25 / 112_268
    lives = (0.4 * 2 * 30.4, 0.4 * 3 * 30.4)
    told = f"the least with >= K are {lambdas}; K never binds: with the factor 0.9 N = 1024 is missed at {missed:.1e}"
    return [
        _compared(
            "Section 4.2", "1100, 2155, 4247 requests for 1024, 2048, 4096", lambdas, lambdas == [1100, 2155, 4247]
        ),
        _compared("Equation 1", "lambda is the least with a chance <= K", told, poisson_tail(1, 1024) > 0.99),
        _compared("Section 3.3", "4024 workers, T = 4 h: a gap of 3.58 s", f"{gap:.2f} s", round(gap, 2) == 3.58),
        _compared(
            "Section 3.3",
            "4.2 connections for P = 1000, T = 4 h, L = 5 min",
            f"{connections:.1f}",
            round(connections, 1) == 4.2,
        ),
        _compared(
            "Section 5",
            "256 batches of 4 h from 1 January on end in the trace, 12 February 2008",
            f"{end:%d %B %Y, %H:%M}",
            end <= datetime(2008, 2, 13),
        ),
        _compared("Section 3.1", "less than 1 % of tasks below 15 h are lost", _share(lost), lost < 0.01),
        _compared(
            "Section 3.1",
            "16,293 years of 112,268 workers who live 2 to 3 months, available 40 % of it",
            f"{days:.0f} days a worker, but {lives[0]:.0f} to {lives[1]:.0f}",
            lives[0] <= days <= lives[1],
        ),
    ]


def _compared(source: str, claim: str, ours: object, holds: bool) -> Finding:
    return Finding(source, claim, str(ours), _HOLDS if holds else _NOT)


def _verdict(cases: Sequence[bool]) -> str:
    """Return the verdict on a claim that holds in some cases."""
    return _HOLDS if all(cases) else _PARTLY if any(cases) else _NOT


def _theorem(tally: Tally | None) -> list[Finding]:
    if tally is None:
        return []
    told = f"wrong in {tally.printed_wrong} of {tally.cases} cases; the repaired condition in {tally.repaired_wrong}"
    claim = "Algorithm 1 meets every deadline that can be met, on always available equal workers"
    return [Finding("Theorem 1", claim, told, _NOT if tally.printed_wrong else _HOLDS)]


def _hypothesis(arrivals: Rows) -> list[Finding]:
    short = [row for row in arrivals if row["period_h"] <= 12]
    fourth = next((row for row in short if row["period_h"] == 4), None)
    if fourth is None:
        return []
    passed, shaped = (
        [row["period_h"] for row in short if row[f"{test}_rejected_at_5_percent"] <= 0.1]
        for test in ("ks", "ks_fitted")
    )
    tests = "at most a tenth of 100 tests of 100 gaps refuse it at 5 % for"
    told = f"{tests} {_hours(passed)}; 5th percentile of p at T = 4 h: {fourth['ks_p_5th_percentile']:.3f} "
    told += "(0.05 for a Poisson stream)"
    shape = f"{tests} {_hours(shaped)}; 5th percentile of p at T = 4 h: {fourth['ks_fitted_p_5th_percentile']:.3f}"
    counts = ", ".join(f"{row['period_h']} h: {row['dispersion_3600s']:.2f}" for row in arrivals)
    swing = ", ".join(f"{row['period_h']} h: {_share(row['daily_swing'])}" for row in arrivals)
    is_poisson = [0.8 <= row["dispersion_3600s"] <= 1.25 for row in short]
    is_near = [0.05 <= row["daily_swing"] <= 0.15 for row in arrivals]
    claim = "contacts are a Poisson stream of rate P_active / T for T <= 12 h, by gaps (5th percentile of p 0.22)"
    gap = f"T = 4 h: {fourth['mean_gap_s']:.2f} s where equal shares of the period would be "
    gap += f"{fourth['even_gap_s']:.2f} s"
    found = [
        Finding("Hypothesis 1", claim, told, _verdict([row["period_h"] in passed for row in short])),
        Finding(
            "Hypothesis 1",
            "and of whatever rate they have",
            shape,
            _verdict([row["period_h"] in shaped for row in short]),
        ),
        Finding("Hypothesis 1", "and by counts", f"variance over mean, by hour: {counts}", _verdict(is_poisson)),
        _compared(
            "Section 3.3",
            "the mean gap is longer than T / P_active (3.76 s for 3.58 s)",
            gap,
            fourth["mean_gap_s"] > fourth["even_gap_s"],
        ),
        Finding(
            "Section 3.3",
            "a daily cycle of 10 %",
            f"swing of the counts by hour of the day (5 to 15 % is near): {swing}",
            _verdict(is_near),
        ),
    ]
    return [*found, *_jump(arrivals)]


def _hours(periods: Sequence[int]) -> str:
    return f"T = {', '.join(map(str, periods))} h" if periods else "no T"


def _jump(arrivals: Rows) -> list[Finding]:
    """Tell whether counts vary more, by half at least, at a period of a day than at the period before."""
    order = sorted(arrivals, key=lambda row: row["period_h"])
    for before, day in pairwise(order):
        if day["period_h"] == 24:
            told = f"variance over mean by hour {day['dispersion_3600s']:.2f} at T = 24 h, after "
            told += f"{before['dispersion_3600s']:.2f} at {before['period_h']} h"
            jumps = day["dispersion_3600s"] >= 1.5 * before["dispersion_3600s"]
            return [_compared("Figure 5", "a jump where the period is a day", told, jumps)]
    return []


def _fed(rows: Rows) -> list[Finding]:
    found = []
    for policy in ("A2", "A2-shift"):
        shares = {}
        for first in ("spread", "start"):
            mine = _pick(rows, part="arrivals", policy=policy, first=first)
            if mine:
                shares[first] = (_mean(mine, "fed"), min(row["fed"] for row in mine))
        if not shares:
            continue
        told = "; ".join(f"first = {first}: {_share(a)}, at least {_share(b)}" for first, (a, b) in shares.items())
        verdict = _verdict([mean > 0.7 for mean, _ in shares.values()])
        found.append(Finding("Figures 6, 7", f"{policy}: over 70 % of batches get N requests", told, verdict))
    return found


def _shifting(rows: Rows) -> list[Finding]:
    both = [_pick(rows, part="arrivals", policy=policy, first="spread") for policy in ("A2", "A2-shift")]
    if not all(both):
        return []
    tails = [float(np.mean([row["requests"][1] for row in mine])) for mine in both]
    ranges = [
        f"{min(row['shortest_period'] for row in mine):,} to {max(row['longest_period'] for row in mine):,} s"
        for mine in both
    ]
    told = (
        f"first decile of requests over N: {tails[0]:.2f} without, {tails[1]:.2f} with; periods {ranges[0]} without, "
    )
    told += f"{ranges[1]} with: the controller is unstable"
    verdict = _HOLDS if tails[1] < tails[0] else _NOT
    return [Finding("Section 5.1", "shifting's tail of unfed batches is worse", told, verdict)]


def _satisfied(rows: Rows) -> list[Finding]:
    found = []
    for name, mine in _by_ratio(_third(rows, policy="A3-history")).items():
        share, best = _mean(mine, "satisfied_batches"), _mean(mine, "stream_batches")
        if math.isnan(share):
            continue
        told = f"{_share(share)}; in hindsight on the same contacts {_share(best)}"
        claim, holds = f"over 90 % of batches satisfied at {name} (history)", share > 0.9
        if name == "D/2":
            claim, holds = "fewer at D/2", share < 0.9
        found.append(Finding("Figure 8", claim, told, _HOLDS if holds else _NOT))
    return found


def _predictors(rows: Rows) -> list[Finding]:
    found = []
    for name, mine in _by_ratio(_third(rows)).items():
        order = ("history", "speed", "copies")
        shares = [_mean(_pick(mine, policy=f"A3-{policy}"), "satisfied_batches") for policy in order]
        if any(map(math.isnan, shares)):
            continue
        told = ", ".join(f"{policy} {_share(share)}" for policy, share in zip(order, shares, strict=True))
        tasks = [_mean(_pick(mine, policy=f"A3-{policy}"), "satisfied_tasks") for policy in order]
        told += "; of tasks " + ", ".join(_share(share) for share in tasks)
        holds = shares[0] > shares[1] > shares[2]
        found.append(Finding("Figures 8, 9", f"history > speed > copies at {name}", told, _HOLDS if holds else _NOT))
    return found


def _copies(rows: Rows) -> list[Finding]:
    found = []
    for copies_lambda in (2, 1):
        mine = _third(rows, copies_lambda=copies_lambda)
        policies = list(dict.fromkeys(row["policy"] for row in mine))
        means = {policy: _mean(_pick(mine, policy=policy), "copies_per_task") for policy in policies}
        counts = {policy: mean for policy, mean in means.items() if not math.isnan(mean)}
        if not counts:
            continue
        told = ", ".join(f"{policy} {count:.2f}" for policy, count in counts.items())
        verdict = _verdict([1.7 <= count <= 2.3 for count in counts.values()])
        claim = f"two copies a task on average (requests for {copies_lambda})"
        found.append(Finding("Section 5.2", claim, f"per satisfied task (1.7 to 2.3 is near): {told}", verdict))
    return found


def _readings(rows: Rows) -> list[Finding]:
    """Tell what the two readings decide, where both were run."""
    found: list[Finding] = []
    for name, one in _by_ratio(_third(rows, copies_lambda=1)).items():
        share, other = _mean(one, "satisfied_batches"), _mean(_like(rows, one), "satisfied_batches")
        told = f"{_share(share)} of batches with them, {_share(other)} with requests for two copies"
        claim = f"lambda(N) requests are enough for Algorithm 3 at {name}"
        found.append(Finding("Section 4.2", claim, told, _HOLDS if share > 0.9 else _NOT))
    begun = _third(rows, first="start")
    if begun:
        start, spread = _mean(begun, "satisfied_batches"), _mean(_like(rows, begun), "satisfied_batches")
        told = f"{_share(start)} of batches if all call at once, {_share(spread)} if first calls are spread"
        found.append(Finding("Figure 8", "how workers begin is not said", told, _OPEN))
    return found


def _like(rows: Rows, others: Rows) -> list[Mapping[str, Any]]:
    """Return the runs of Algorithm 3 in the readings that the paper can have meant, in the settings of others."""
    names = ("day", "deadline_s", "c", "tasks", "policy")
    wanted = {tuple(row[name] for name in names) for row in others}
    return [row for row in _third(rows) if tuple(row[name] for name in names) in wanted]


def _not_held() -> list[Finding]:
    wrong = "loops end before the last batch; N + 1 tasks are sent; the chance of failure is set for one task only; "
    wrong += "N = 1 divides by 0; Algorithm 3 never leaves a batch with a task unsent at its deadline"
    return [
        Finding("Figures 4 to 9", "the bars", "the trace is not held; volunteers are drawn instead", _OPEN),
        Finding("Section 5", "the distribution of C_j, and the first P", "not in the paper", _OPEN),
        Finding("Algorithms 1 to 3", "as printed", wrong, _NOT),
    ]
