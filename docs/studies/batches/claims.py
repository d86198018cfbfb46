"""Judge the paper's claims by the runs (docs/batches/model.md section 8)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from docs.studies.batches.theorem import Tally
from docs.studies.claims import Claim, Verdict, holds_if, holds_in
from docs.studies.rows import ROWS
from hindsched.bench.batches.experiment_rows import DECILES
from hindsched.bench.results.records import records_or_none
from hindsched.online.batches.periods import poisson_tail, requests_for

__all__ = ["claims_of_results", "judge", "read_table", "read_tally"]

Rows = Sequence[Mapping[str, Any]]


def read_table(name: str, folder: Path = ROWS) -> list[dict[str, Any]]:
    """Return the rows of ``batches_NAME.csv`` in a folder, with lists of deciles, and None for missing values."""
    import pandas as pd

    rows = records_or_none(pd.read_csv(folder / f"batches_{name}.csv"))
    for row in rows:
        for column in DECILES:
            if isinstance(row.get(column), str):
                row[column] = [float(number) for number in row[column].split()]
        for column in ("copies_lambda", "deadline_s", "c"):
            if row.get(column) is not None:
                row[column] = int(row[column])
    return rows


def read_tally() -> Tally:
    """Return the counts for Theorem 1 that are kept with the studies."""
    return Tally(**{name: int(value) for name, value in read_table("theorem")[0].items()})


def claims_of_results(folder: Path) -> list[Claim]:
    """Return the claims judged by ``batches_runs.csv``, which ``hindsched reproduce --family batches`` writes.

    Hypothesis 1 and Theorem 1 are judged by the rows that are kept with the studies.
    """
    return judge(read_table("runs", folder), read_table("arrivals"), read_tally())


def judge(rows: Rows, arrivals: Rows, theorem: Tally | None) -> list[Claim]:
    """Return the paper's claims with their verdicts, without those for which there are no runs.

    Parameters
    ----------
    rows
        Runs of the experiment (`hindsched.bench.batches.experiment`).
    arrivals
        As returned by `docs.studies.batches.arrivals.arrivals`.
    theorem
        As returned by `docs.studies.batches.theorem.verify`.
    """
    return [
        *_arithmetic(),
        *_theorem(theorem),
        *_hypothesis(arrivals),
        *_fed(rows),
        *_shifting(rows),
        *_satisfied(rows),
        *_predictors(rows),
        *_copies(rows),
        *_options(rows),
        *_undecidable(),
    ]


def _select(rows: Rows, **wanted: Any) -> list[Mapping[str, Any]]:
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def _mean(rows: Rows, name: str) -> float:
    values = [row[name] for row in rows if row.get(name) is not None]
    return float(np.mean(values)) if values else math.nan


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.1f} %"


def _algorithm_3(rows: Rows, **more: Any) -> list[Mapping[str, Any]]:
    """Return the runs of Algorithm 3 with the options that the paper most likely used."""
    return _select(rows, part="batches", **({"first": "spread", "copies_lambda": 2} | more))


def _by_ratio(rows: Rows) -> dict[str, list[Mapping[str, Any]]]:
    """Return rows by the mean computing time as a fraction of D - S."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(f"D/{row['deadline_s'] // row['c']}", []).append(row)
    return dict(sorted(found.items()))


def _arithmetic() -> list[Claim]:
    """Return the claims that need no trace."""
    lambdas = [requests_for(tasks, 0.99) for tasks in (1024, 2048, 4096)]
    missed = 1 - poisson_tail(lambdas[0] / 0.9, 1024)
    gap = 14_400 / 4024
    connections = 1000 * 300 / 14_400
    end = datetime(2007, 4, 1) + timedelta(days=275, hours=256 * 4)
    lost = 1 - math.exp(-15 / 2190)
    days = 16_293 * 365.25 / 112_268
    shortest, longest = 0.4 * 2 * 30.4, 0.4 * 3 * 30.4
    least = (
        f"the least with a chance >= K are {lambdas}; with the factor 0.9, N = 1024 is missed with chance {missed:.1e}"
    )
    return [
        Claim(source, claim, evidence, holds_if(holds))
        for source, claim, evidence, holds in (
            (
                "Section 4.2",
                "1100, 2155, 4247 requests for 1024, 2048, 4096",
                str(lambdas),
                lambdas == [1100, 2155, 4247],
            ),
            ("Equation 1", "lambda is the least with a chance <= K", least, poisson_tail(1, 1024) > 0.99),
            ("Section 3.3", "4024 workers, T = 4 h: a gap of 3.58 s", f"{gap:.2f} s", round(gap, 2) == 3.58),
            (
                "Section 3.3",
                "4.2 connections for P = 1000, T = 4 h, L = 5 min",
                f"{connections:.1f}",
                round(connections, 1) == 4.2,
            ),
            (
                "Section 5",
                "256 batches of 4 h from 1 January end within the trace, 12 February 2008",
                f"{end:%d %B %Y, %H:%M}",
                end <= datetime(2008, 2, 13),
            ),
            ("Section 3.1", "less than 1 % of tasks below 15 h are lost", _share(lost), lost < 0.01),
            (
                "Section 3.1",
                "16,293 years of 112,268 workers who stay 2 to 3 months, available 40 % of it",
                f"{days:.0f} days per worker, but {shortest:.0f} to {longest:.0f}",
                shortest <= days <= longest,
            ),
        )
    ]


def _theorem(tally: Tally | None) -> list[Claim]:
    if tally is None:
        return []
    evidence = (
        f"wrong in {tally.printed_wrong} of {tally.cases} cases; the repaired condition in {tally.repaired_wrong}"
    )
    claim = "Algorithm 1 meets every deadline that can be met, on always available equal workers"
    return [Claim("Theorem 1", claim, evidence, holds_if(not tally.printed_wrong))]


def _hypothesis(arrivals: Rows) -> list[Claim]:
    short = [row for row in arrivals if row["period_h"] <= 12]
    fourth = next((row for row in short if row["period_h"] == 4), None)
    if fourth is None:
        return []
    passed, shaped = (
        [row["period_h"] for row in short if row[f"{test}_rejected_at_5_percent"] <= 0.1]
        for test in ("ks", "ks_fitted")
    )
    tests = "at most a tenth of 100 tests of 100 gaps reject it at 5 % for"
    rate = f"{tests} {_hours(passed)}; 5th percentile of p at T = 4 h: {fourth['ks_p_5th_percentile']:.3f} "
    rate += "(0.05 for a Poisson stream)"
    shape = f"{tests} {_hours(shaped)}; 5th percentile of p at T = 4 h: {fourth['ks_fitted_p_5th_percentile']:.3f}"
    counts = ", ".join(f"{row['period_h']} h: {row['dispersion_3600s']:.2f}" for row in arrivals)
    swing = ", ".join(f"{row['period_h']} h: {_share(row['daily_swing'])}" for row in arrivals)
    gap = f"T = 4 h: {fourth['mean_gap_s']:.2f} s, T / P_active is {fourth['even_gap_s']:.2f} s"
    return [
        Claim(
            "Hypothesis 1",
            "contacts are a Poisson stream of rate P_active / T for T <= 12 h, by gaps (5th percentile of p 0.22)",
            rate,
            holds_in([row["period_h"] in passed for row in short]),
        ),
        Claim(
            "Hypothesis 1",
            "and with any rate",
            shape,
            holds_in([row["period_h"] in shaped for row in short]),
        ),
        Claim(
            "Hypothesis 1",
            "and by counts",
            f"variance over mean, by hour: {counts}",
            holds_in([0.8 <= row["dispersion_3600s"] <= 1.25 for row in short]),
        ),
        Claim(
            "Section 3.3",
            "the mean gap is longer than T / P_active (3.76 s for 3.58 s)",
            gap,
            holds_if(fourth["mean_gap_s"] > fourth["even_gap_s"]),
        ),
        Claim(
            "Section 3.3",
            "a daily cycle of 10 %",
            f"swing of the counts by hour of the day (5 to 15 % counts as near): {swing}",
            holds_in([0.05 <= row["daily_swing"] <= 0.15 for row in arrivals]),
        ),
        *_jump(arrivals),
    ]


def _hours(periods: Sequence[int]) -> str:
    return f"T = {', '.join(map(str, periods))} h" if periods else "no T"


def _jump(arrivals: Rows) -> list[Claim]:
    """Judge whether counts vary at least 1.5 times as much at a period of a day as at the period before."""
    order = sorted(arrivals, key=lambda row: row["period_h"])
    for before, day in pairwise(order):
        if day["period_h"] == 24:
            evidence = f"variance over mean by hour {day['dispersion_3600s']:.2f} at T = 24 h, after "
            evidence += f"{before['dispersion_3600s']:.2f} at {before['period_h']} h"
            jumps = day["dispersion_3600s"] >= 1.5 * before["dispersion_3600s"]
            return [Claim("Figure 5", "a jump where the period is a day", evidence, holds_if(jumps))]
    return []


def _fed(rows: Rows) -> list[Claim]:
    found = []
    for policy in ("A2", "A2-shift"):
        shares = {}
        for first in ("spread", "start"):
            mine = _select(rows, part="arrivals", policy=policy, first=first)
            if mine:
                shares[first] = (_mean(mine, "fed"), min(row["fed"] for row in mine))
        if not shares:
            continue
        evidence = "; ".join(f"first = {first}: {_share(a)}, at least {_share(b)}" for first, (a, b) in shares.items())
        verdict = holds_in([mean > 0.7 for mean, _ in shares.values()])
        found.append(Claim("Figures 6, 7", f"{policy}: over 70 % of batches get N requests", evidence, verdict))
    return found


def _shifting(rows: Rows) -> list[Claim]:
    both = [_select(rows, part="arrivals", policy=policy, first="spread") for policy in ("A2", "A2-shift")]
    if not all(both):
        return []
    tails = [float(np.mean([row["requests"][1] for row in mine])) for mine in both]
    ranges = [
        f"{min(row['shortest_period'] for row in mine):,} to {max(row['longest_period'] for row in mine):,} s"
        for mine in both
    ]
    evidence = f"first decile of requests over N: {tails[0]:.2f} without, {tails[1]:.2f} with; "
    evidence += f"periods {ranges[0]} without, {ranges[1]} with: the controller is unstable"
    claim = "shifting has a worse tail of batches with too few requests"
    return [Claim("Section 5.1", claim, evidence, holds_if(tails[1] < tails[0]))]


def _satisfied(rows: Rows) -> list[Claim]:
    found = []
    for name, mine in _by_ratio(_algorithm_3(rows, policy="A3-history")).items():
        share, best = _mean(mine, "satisfied_batches"), _mean(mine, "stream_batches")
        if math.isnan(share):
            continue
        evidence = f"{_share(share)}; the hindsight optimum on the same contacts {_share(best)}"
        claim, holds = f"over 90 % of batches satisfied at {name} (history)", share > 0.9
        if name == "D/2":
            claim, holds = "fewer at D/2", share < 0.9
        found.append(Claim("Figure 8", claim, evidence, holds_if(holds)))
    return found


def _predictors(rows: Rows) -> list[Claim]:
    found = []
    for name, mine in _by_ratio(_algorithm_3(rows)).items():
        order = ("history", "speed", "copies")
        shares = [_mean(_select(mine, policy=f"A3-{policy}"), "satisfied_batches") for policy in order]
        if any(map(math.isnan, shares)):
            continue
        evidence = ", ".join(f"{policy} {_share(share)}" for policy, share in zip(order, shares, strict=True))
        tasks = [_mean(_select(mine, policy=f"A3-{policy}"), "satisfied_tasks") for policy in order]
        evidence += "; of tasks " + ", ".join(_share(share) for share in tasks)
        holds = shares[0] > shares[1] > shares[2]
        found.append(Claim("Figures 8, 9", f"history > speed > copies at {name}", evidence, holds_if(holds)))
    return found


def _copies(rows: Rows) -> list[Claim]:
    found = []
    for copies_lambda in (2, 1):
        mine = _algorithm_3(rows, copies_lambda=copies_lambda)
        policies = list(dict.fromkeys(row["policy"] for row in mine))
        means = {policy: _mean(_select(mine, policy=policy), "copies_per_task") for policy in policies}
        counts = {policy: mean for policy, mean in means.items() if not math.isnan(mean)}
        if not counts:
            continue
        listed = ", ".join(f"{policy} {count:.2f}" for policy, count in counts.items())
        verdict = holds_in([1.7 <= count <= 2.3 for count in counts.values()])
        claim = f"two copies a task on average (requests for {copies_lambda})"
        evidence = f"per satisfied task (1.7 to 2.3 counts as near): {listed}"
        found.append(Claim("Section 5.2", claim, evidence, verdict))
    return found


def _options(rows: Rows) -> list[Claim]:
    """Judge the effect of the two unstated options, if both values were run."""
    found: list[Claim] = []
    for name, one in _by_ratio(_algorithm_3(rows, copies_lambda=1)).items():
        share, other = _mean(one, "satisfied_batches"), _mean(_counterparts(rows, one), "satisfied_batches")
        evidence = f"{_share(share)} of batches with them, {_share(other)} with requests for two copies"
        claim = f"lambda(N) requests are enough for Algorithm 3 at {name}"
        found.append(Claim("Section 4.2", claim, evidence, holds_if(share > 0.9)))
    begun = _algorithm_3(rows, first="start")
    if begun:
        start, spread = _mean(begun, "satisfied_batches"), _mean(_counterparts(rows, begun), "satisfied_batches")
        evidence = f"{_share(start)} of batches if all call at once, {_share(spread)} if first calls are spread"
        found.append(Claim("Figure 8", "the first calls of workers are not described", evidence, Verdict.UNDECIDED))
    return found


def _counterparts(rows: Rows, others: Rows) -> list[Mapping[str, Any]]:
    """Return the runs of Algorithm 3 with the most likely options in the settings of other runs."""
    names = ("day", "deadline_s", "c", "tasks", "policy")
    wanted = {tuple(row[name] for name in names) for row in others}
    return [row for row in _algorithm_3(rows) if tuple(row[name] for name in names) in wanted]


def _undecidable() -> list[Claim]:
    errors = "loops end before the last batch; N + 1 tasks are sent; the chance of failure is set for one task only; "
    errors += "N = 1 divides by 0; Algorithm 3 never leaves a batch with a task unsent at its deadline"
    return [
        Claim("Figures 4 to 9", "the bars", "the trace is not available; volunteers are drawn", Verdict.UNDECIDED),
        Claim("Section 5", "the distribution of C_j, and the first P", "not in the paper", Verdict.UNDECIDED),
        Claim("Algorithms 1 to 3", "as printed", errors, Verdict.FAILS),
    ]
