"""Judge the paper's claims by the runs, and compare them with the optimum (docs/bags/model.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from docs.studies.claims import Claim, Verdict, holds_if
from hindsched.bench.bags.configuration_means import CONFIGURATION, ORACLE
from hindsched.instances.bags import Store, ideal_time
from hindsched.instances.bags.generate import (
    REFERENCE_SPEED,
    SLOT_S,
    SPEEDS,
    TRACE_SLOTS,
    classroom,
    paper,
    segment_ticks,
)
from hindsched.instances.states import UP
from hindsched.online.bags import PAPER_POLICIES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLE_2", "claims_of_results", "ideal_minutes", "judge"]

#: Least relative gain that counts as one.
_LEAST_GAIN = 0.05
_PREDICTING, _REPLICATING = "FCFS-PRDCT-DMD", "FCFS-TR"
#: Speed ratio of type D that reproduces the paper's Table 2; 42.320 / 25.008 is 1.69226.
_RATIO_D = 1.69218
#: Length of the paper's trace in days, and its number of samples, one every two minutes.
_DAYS, _SAMPLES = 39, 27_000
#: The paper's Table 2: IET in minutes by machines, tasks and reference seconds.
TABLE_2 = {
    ("M01", 25, 1800): 17.73,
    ("M01", 25, 7200): 70.91,
    ("M01", 75, 1800): 53.19,
    ("M01", 75, 7200): 212.74,
    ("M04", 25, 1800): 35.46,
    ("M04", 25, 7200): 141.83,
    ("M04", 75, 1800): 70.91,
    ("M04", 75, 7200): 283.66,
}
_NOT_RUN = ("no runs", Verdict.UNDECIDED)


def claims_of_results(folder: Path) -> list[Claim]:
    """Return the claims judged by ``cells.csv``, which ``hindsched reproduce --family bags`` writes into a folder."""
    import pandas as pd

    return judge(pd.read_csv(folder / "cells.csv"))


def judge(means: pd.DataFrame) -> list[Claim]:
    """Return the paper's claims and some questions with their verdicts, numbered from 1.

    Parameters
    ----------
    means
        As returned by `hindsched.bench.bags.configuration_means.configuration_means`.
    """
    mine = means[means["machines"].isin(["M01", "M04"])]
    return [Claim(str(number), claim, *judged(mine)) for number, (claim, judged) in enumerate(_CLAIMS.items(), start=1)]


def ideal_minutes(machines: str, tasks: int, reference_s: int) -> float:
    """Return IET in minutes."""
    return ideal_time(paper(machines, tasks=tasks, reference_s=reference_s, slots=1)) / 60_000


def _wide(means: pd.DataFrame, column: str, **wanted: object) -> pd.DataFrame:
    """Return slowdowns with a column for each value of ``column``, without incomplete rows.

    A caller that compares some policies names them: policies that do not run with private stores leave no complete row
    there.
    """
    for name, value in wanted.items():
        means = means[means[name].isin(value)] if isinstance(value, tuple) else means[means[name] == value]
    index = [name for name in (*CONFIGURATION, "policy") if name != column]
    return means.pivot_table(index=index, columns=column, values="slowdown").dropna()


def _speeds(means: pd.DataFrame) -> tuple[str, Verdict]:
    ratios = [round(speed / REFERENCE_SPEED, 3) for speed in SPEEDS.values()]
    mean = sum(SPEEDS.values()) / len(SPEEDS)
    long = segment_ticks("A", reference_s=3600, segments=1) / 1000
    evidence = f"{ratios}, mean index {mean / 1000:.3f} and ratio {mean / REFERENCE_SPEED:.3f}; {long:.0f} s"
    return evidence, holds_if(ratios == [0.518, 0.861, 1.511, 1.692] and abs(long - 6950) < 2)


def _table_2(means: pd.DataFrame) -> tuple[str, Verdict]:
    worst, exact = 0.0, 0
    for (machines, tasks, reference_s), minutes in TABLE_2.items():
        instance = paper(machines, tasks=tasks, reference_s=reference_s, slots=1)
        worst = max(worst, abs(ideal_time(instance) / 60_000 - minutes))
        fastest = min(instance.ticks)
        theirs = [round(1000 * reference_s / _RATIO_D) if ticks == fastest else ticks for ticks in instance.ticks]
        exact += round(ideal_time(instance.replace(ticks=theirs)) / 60_000, 2) == minutes
    evidence = f"all eight within {worst:.3f} minutes; {exact} equal to the last digit with ratio {_RATIO_D} for type D"
    return evidence, holds_if(worst < 0.0165)


def _availability(means: pd.DataFrame) -> tuple[str, Verdict]:
    share = float((classroom(0) == UP).mean())
    return f"54.9 % expected in the substitute trace, {share:.1%} with seed 0; the original is lost", Verdict.UNDECIDED


def _samples(means: pd.DataFrame) -> tuple[str, Verdict]:
    most = _DAYS * 24 * 3600 // SLOT_S
    evidence = f"{_DAYS} days have {most:,} samples, so {_SAMPLES / most:.0%} of them; the substitute trace has all"
    return evidence, holds_if(_LEAST_GAIN > 1 - _SAMPLES / most >= 0 and most == TRACE_SLOTS)


def _sharing(means: pd.DataFrame) -> tuple[str, Verdict]:
    wide = _wide(means, "store", when="weekday", policy=PAPER_POLICIES)
    if wide.empty:
        return _NOT_RUN
    share = float((wide["shared"] <= wide["private"] * 1.0005).mean())
    return f"on weekdays in {share:.0%} of {len(wide)} means", holds_if(share >= 0.9)


def _weekends(means: pd.DataFrame) -> tuple[str, Verdict]:
    wide = _wide(means, "store", when="weekend", machines="M01", policy=PAPER_POLICIES)
    if wide.empty:
        return _NOT_RUN
    gains = 1 - wide["shared"] / wide["private"]
    by_policy = {policy: float(mine.mean()) for policy, mine in gains.groupby(level="policy", sort=False)}
    listed = ", ".join(f"{policy} {by_policy[policy]:.1%}" for policy in PAPER_POLICIES if policy in by_policy)
    evidence = f"mean gain {listed}"
    others = max(gain for policy, gain in by_policy.items() if policy != "FCFS")
    if by_policy.get("FCFS", 0.0) >= _LEAST_GAIN > others:
        evidence += "; only FCFS gains, which waits for absent machines with private stores"
    return evidence, holds_if(max(by_policy.values()) < _LEAST_GAIN)


def _checkpoints(means: pd.DataFrame) -> tuple[str, Verdict]:
    wide = _wide(means, "checkpoints", store="shared", policy=PAPER_POLICIES)
    if wide.empty or not {1, 9} <= set(wide.columns):
        return _NOT_RUN
    gain = float((1 - wide[9] / wide[1]).mean())
    first = means[(means["policy"] == "FCFS") & (means["store"] == "shared")]
    index = ["machines", "when", "tasks", "reference_s"]
    best = first.pivot_table(index=index, columns="checkpoints", values="optimum_slowdown").dropna()
    possible = float((1 - best[9] / best[1]).mean())
    evidence = f"with a shared store the four policies gain {gain:.1%} on average; the optimum gains {possible:.1%}"
    return evidence, holds_if(gain < _LEAST_GAIN)


def _best_of_the_four(means: pd.DataFrame, policy: str, within: float = 1.001, **wanted: object) -> tuple[float, int]:
    """Return in which share of how many configurations a policy is within a factor of the best of the paper's four."""
    wide = _wide(means, "policy", policy=PAPER_POLICIES, **wanted)
    if wide.empty or policy not in wide:
        return float("nan"), 0
    return float((wide[policy] <= wide.min(axis=1) * within).mean()), len(wide)


def _share_of(share: float, number: int) -> str:
    return f"in {share:.0%} of {number} configurations"


def _replication(means: pd.DataFrame) -> tuple[str, Verdict]:
    share, number = _best_of_the_four(means, _REPLICATING, machines="M01", when="weekday")
    return f"least mean of the four {_share_of(share, number)}", holds_if(share >= 0.75)


def _prediction(**wanted: object) -> Callable[[pd.DataFrame], tuple[str, Verdict]]:
    """Return a comparison of prediction with replication, with the predictor by hours and with an oracle."""

    def judged(means: pd.DataFrame) -> tuple[str, Verdict]:
        wide = _wide(means, "policy", when="weekday", policy=(_PREDICTING, _REPLICATING, ORACLE), **wanted)
        if wide.empty:
            return _NOT_RUN
        gain = float((1 - wide[_PREDICTING] / wide[_REPLICATING]).mean())
        evidence = f"gain over FCFS-TR in the mean of {len(wide)} configurations: predictor by hours {gain:+.1%}"
        if bool((wide[_PREDICTING] == wide[_REPLICATING]).all()):
            evidence += " (equal in all)"
        if ORACLE in wide:
            evidence += f", oracle {float((1 - wide[ORACLE] / wide[_REPLICATING]).mean()):+.1%}"
        return f"{evidence}; the paper does not describe its predictor", Verdict.UNDECIDED

    return judged


def _fair(means: pd.DataFrame) -> tuple[str, Verdict]:
    bag = {"machines": "M04", "when": "weekday", "tasks": 75, "reference_s": 1800}
    share, number = _best_of_the_four(means, "FCFS", 1.1, **bag)
    evidence = f"within 10 % of the best of the four {_share_of(share, number)}"
    for store in Store:
        evidence += f"; {store}, {_share_of(*_best_of_the_four(means, 'FCFS', 1.1, store=store, **bag))}"
    return evidence, holds_if(share >= 0.5)


def _losers(means: pd.DataFrame) -> tuple[str, Verdict]:
    wide = _wide(means, "policy", when="weekday", policy=PAPER_POLICIES)
    if wide.empty:
        return _NOT_RUN
    losses, holds = [], True
    for policy in PAPER_POLICIES[1:]:
        for row in wide.reset_index().to_dict("records"):
            excess = row[policy] / row["FCFS"] - 1
            if excess > 0.005:
                bag = f"{row['tasks']} / {row['reference_s']} / {row['checkpoints']}"
                losses.append(f"{policy} by {excess:.1%} on {row['machines']}, {row['store']}, {bag}")
                holds &= policy == _PREDICTING and (row["tasks"], row["reference_s"]) == (25, 1800)
    return f"losses above 0.5 % in {len(wide)} configurations: {'; '.join(losses) or 'none'}", holds_if(holds)


def _timeouts(means: pd.DataFrame) -> tuple[str, Verdict]:
    wide = _wide(means, "policy", store="shared", policy=("FCFS", "FCFS-AT"))
    same = bool((wide["FCFS"] == wide["FCFS-AT"]).all()) if not wide.empty else True
    return f"{'equal' if same else 'NOT equal'} in all {len(wide)} configurations, by a theorem", Verdict.FAILS


def _conclusion(means: pd.DataFrame) -> tuple[str, Verdict]:
    gains = []
    for when in ("weekday", "weekend"):
        wide = _wide(means, "store", when=when, policy=PAPER_POLICIES)
        for policy in PAPER_POLICIES if not wide.empty else ():
            mine = wide[wide.index.get_level_values("policy") == policy]
            gains.append((when, policy, float((1 - mine["shared"] / mine["private"]).mean())))
    if not gains:
        return _NOT_RUN
    listed = ", ".join(f"{policy} {when} {gain:.0%}" for when, policy, gain in gains)
    return f"mean gain: {listed}", holds_if(all(gain > 0.1 for _, _, gain in gains))


def _unpublished(means: pd.DataFrame) -> tuple[str, Verdict]:
    return "trace, predictor (SMO), starts and the tolerance by day are not published", Verdict.UNDECIDED


def _replicas(means: pd.DataFrame) -> tuple[str, Verdict]:
    return (
        "not stated whether the original counts; here it does (option `max_copies`)",
        Verdict.UNDECIDED,
    )


def _ideal(means: pd.DataFrame) -> tuple[str, Verdict]:
    one = paper("M01", tasks=75, checkpoints=9, slots=1)
    rounds = -(-one.tasks * one.segments // one.num_machines)  # equal machines, never more than n of them
    share = rounds * one.ticks[0] / ideal_time(one)
    return f"75 tasks with nine shared checkpoints on M01, always UP: the optimum is {share:.2f} IET", Verdict.FAILS


def _waiting(means: pd.DataFrame) -> tuple[str, Verdict]:
    mine = means[(means["policy"] == "FCFS") & (means["store"] == "private") & (means["when"] == "weekday")]
    if mine.empty:
        return _NOT_RUN
    return f"{mine['slowdown'].min():.1f} to {mine['slowdown'].max():.1f} times IET on weekdays", Verdict.MEASURED


def _potential(means: pd.DataFrame) -> tuple[str, Verdict]:
    mine = means[(means["machines"] == "M04") & (means["store"] == "shared") & (means["when"] == "weekday")]
    mine = mine[(mine["tasks"] == 25) & (mine["reference_s"] == 1800)].sort_values("checkpoints")
    replicating = mine[mine["policy"] == _REPLICATING]
    if replicating.empty:
        return _NOT_RUN
    parts = (", ".join(f"{value:.2f}" for value in replicating[column]) for column in ("optimum_slowdown", "slowdown"))
    return "optimum {} IET, FCFS-TR {} IET".format(*parts), Verdict.MEASURED


def _better(means: pd.DataFrame) -> tuple[str, Verdict]:
    parts = []
    for number in sorted(means["checkpoints"].unique()):
        mine = means[(means["store"] == "shared") & (means["checkpoints"] == number)]
        index = ["machines", "when", "tasks", "reference_s"]
        wide = mine.pivot_table(index=index, columns="policy", values="ratio_high").dropna()
        if wide.empty or "PACE" not in wide:
            continue
        gap = float((wide["FCFS-TR"] - 1).sum())
        listed = ", ".join(f"{name} {float((wide[name] - 1).mean()):.1%}" for name in ("FCFS-TR", "LEVEL", "PACE"))
        closed = 1 - float((wide["PACE"] - 1).sum()) / gap if gap else 0.0
        parts.append(f"{number}: {listed}, PACE closes {closed:.0%} of the gap of FCFS-TR")
    return (f"mean gap to the optimum by checkpoints: {'; '.join(parts)}", Verdict.MEASURED) if parts else _NOT_RUN


_CLAIMS: dict[str, Callable[[pd.DataFrame], tuple[str, Verdict]]] = {
    "speed ratios .518 .861 1.511 1.692, means 28.649 and 1.146; 3600 s become nearly 6950 s on type A": _speeds,
    "Table 2: the eight ideal times": _table_2,
    "17.42 of 32 machines are on: 54.44 %": _availability,
    "about 27,000 samples in 39 days, one every two minutes": _samples,
    "shared stores are hardly ever worse than private ones": _sharing,
    "at weekends, on equal machines, sharing does not pay": _weekends,
    "nine checkpoints are hardly better than one": _checkpoints,
    "FCFS-TR is best on M01": _replication,
    "FCFS-PRDCT-DMD is poor for tasks of 1800 s on M01": _prediction(machines="M01", reference_s=1800),
    "FCFS-PRDCT-DMD is best for tasks of 7200 s on M04": _prediction(machines="M04", reference_s=7200),
    "FCFS-PRDCT-DMD is near FCFS-TR for 25 tasks of 7200 s on M01": _prediction(
        machines="M01", tasks=25, reference_s=7200
    ),
    "FCFS does fairly for 75 tasks of 1800 s on M04": _fair,
    "no policy loses to FCFS but FCFS-PRDCT-DMD with 25 tasks of 1800 s": _losers,
    "FCFS-AT differs from FCFS with a shared store": _timeouts,
    "sharing helps every policy much (the conclusion; the section on weekends disagrees)": _conclusion,
    "heights of the bars in Figures 2 to 6": _unpublished,
    "at most 3 replicas": _replicas,
    "IET is the least possible turnaround": _ideal,
    "how slow is FCFS with private stores, where an absent machine is not noticed?": _waiting,
    "what could 0, 1, 9 checkpoints give? (25 tasks of 1800 s, M04, shared, weekdays)": _potential,
    "does a simple policy use shared checkpoints better? (LEVEL and PACE of this toolkit)": _better,
}
