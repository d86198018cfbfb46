"""What the paper claims, one by one, beside what the runs say; and what the optimum adds (docs/bags/model.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsched.bench.bags.cells import ORACLE
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

__all__ = ["Finding", "findings"]

_HOLDS, _NOT, _OPEN, _MEASURED = "holds", "does not hold here", "cannot be told", "measured"
#: A gain below it is none to speak of.
_LITTLE = 0.05
_PRDCT, _TR = "FCFS-PRDCT-DMD", "FCFS-TR"
#: The speed ratio of type D that the paper's Table 2 seems to be made with; 42.320 / 25.008 is 1.69226.
_RATIO_D = 1.69218
#: Samples of the paper's trace, one each two minutes for 39 days, about.
_DAYS, _SAMPLES = 39, 27_000
#: The paper's Table 2: minutes of IET by machines, tasks, reference seconds.
_TABLE_2 = {
    ("M01", 25, 1800): 17.73,
    ("M01", 25, 7200): 70.91,
    ("M01", 75, 1800): 53.19,
    ("M01", 75, 7200): 212.74,
    ("M04", 25, 1800): 35.46,
    ("M04", 25, 7200): 141.83,
    ("M04", 75, 1800): 70.91,
    ("M04", 75, 7200): 283.66,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim and what became of it.

    Parameters
    ----------
    number
        In the list.
    claim
        What the paper says, or asks.
    ours
        What the runs, or a proof, say.
    verdict
        ``holds``, ``does not hold here`` or ``cannot be told``; ``measured`` for questions that are ours.
    """

    number: int
    claim: str
    ours: str
    verdict: str


def findings(cells: pd.DataFrame) -> list[Finding]:
    """Go through the paper's claims.

    Parameters
    ----------
    cells
        As returned by `hindsched.bench.bags.cells.cells`.
    """
    mine = cells[cells["machines"].isin(["M01", "M04"])]
    told = [claim(mine) for claim in _CLAIMS]
    return [Finding(number, *parts) for number, parts in enumerate(told, start=1)]


def _verdict(holds: bool) -> str:
    return _HOLDS if holds else _NOT


def _wide(cells: pd.DataFrame, column: str, **wanted: object) -> pd.DataFrame:
    """Return the slowdowns of some cells, a column for each value of ``column``, complete rows only.

    Who compares some policies names them: a policy that is not run with private stores would leave no complete row
    there.
    """
    for name, value in wanted.items():
        cells = cells[cells[name].isin(value)] if isinstance(value, tuple) else cells[cells[name] == value]
    index = ["machines", "store", "when", "tasks", "reference_s", "checkpoints", "policy"]
    wide = cells.pivot_table(index=[name for name in index if name != column], columns=column, values="slowdown")
    return wide.dropna()


def _speeds(cells: pd.DataFrame) -> tuple[str, str, str]:
    ratios = [round(speed / REFERENCE_SPEED, 3) for speed in SPEEDS.values()]
    mean = sum(SPEEDS.values()) / len(SPEEDS)
    long = segment_ticks("A", reference_s=3600, segments=1) / 1000
    ours = f"{ratios}, mean index {mean / 1000:.3f} and ratio {mean / REFERENCE_SPEED:.3f}; {long:.0f} s"
    claim = "speed ratios .518 .861 1.511 1.692, means 28.649 and 1.146; 3600 s become nearly 6950 s on type A"
    return claim, ours, _verdict(ratios == [0.518, 0.861, 1.511, 1.692] and abs(long - 6950) < 2)


def _table_2(cells: pd.DataFrame) -> tuple[str, str, str]:
    worst, exact = 0.0, 0
    for (machines, tasks, reference_s), minutes in _TABLE_2.items():
        instance = paper(machines, tasks=tasks, reference_s=reference_s, slots=1)
        worst = max(worst, abs(ideal_time(instance) / 60_000 - minutes))
        fastest = min(instance.ticks)
        theirs = [round(1000 * reference_s / _RATIO_D) if ticks == fastest else ticks for ticks in instance.ticks]
        exact += round(ideal_time(instance.replace(ticks=theirs)) / 60_000, 2) == minutes
    ours = f"within {worst:.3f} minutes of all eight; with {_RATIO_D} as the ratio of type D, {exact} to the last digit"
    return "Table 2: the eight ideal times", ours, _verdict(worst < 0.0165)


def _availability(cells: pd.DataFrame) -> tuple[str, str, str]:
    share = float((classroom(0) == UP).mean())
    return (
        "17.42 of 32 machines are on: 54.44 %",
        f"the substitute trace is made so: 54.9 % expected, {share:.1%} with seed 0; the paper's own trace is lost",
        _OPEN,
    )


def _samples(cells: pd.DataFrame) -> tuple[str, str, str]:
    most = _DAYS * 24 * 3600 // SLOT_S
    ours = (
        f"{_SAMPLES / most:.0%} of {most:,}, as many as {_DAYS} days have room for; the substitute trace has them all"
    )
    claim = f"about {_SAMPLES:,} samples in {_DAYS} days, one each two minutes"
    return claim, ours, _verdict(_LITTLE > 1 - _SAMPLES / most >= 0 and most == TRACE_SLOTS)


def _sharing(cells: pd.DataFrame) -> tuple[str, str, str]:
    wide = _wide(cells, "store", when="weekday", policy=PAPER_POLICIES)
    if wide.empty:
        return "shared stores are hardly ever worse than private ones", "not run", _OPEN
    share = float((wide["shared"] <= wide["private"] * 1.0005).mean())
    ours = f"on weekdays in {share:.0%} of {len(wide)} cells"
    return "shared stores are hardly ever worse than private ones", ours, _verdict(share >= 0.9)


def _weekends(cells: pd.DataFrame) -> tuple[str, str, str]:
    claim = "at weekends, on equal machines, sharing does not pay"
    wide = _wide(cells, "store", when="weekend", machines="M01", policy=PAPER_POLICIES)
    if wide.empty:
        return claim, "not run", _OPEN
    gains = 1 - wide["shared"] / wide["private"]
    means = {policy: float(mine.mean()) for policy, mine in gains.groupby(level="policy", sort=False)}
    told = ", ".join(f"{policy} {means[policy]:.1%}" for policy in PAPER_POLICIES if policy in means)
    ours = f"mean gain {told}"
    if means.get("FCFS", 0.0) >= _LITTLE > max(gain for policy, gain in means.items() if policy != "FCFS"):
        ours += ": FCFS alone gains, since with private stores it waits for a machine that is off, and at weekends long"
    return claim, ours, _verdict(max(means.values()) < _LITTLE)


def _checkpoints(cells: pd.DataFrame) -> tuple[str, str, str]:
    claim = "nine checkpoints are hardly better than one"
    wide = _wide(cells, "checkpoints", store="shared", policy=PAPER_POLICIES)
    if wide.empty or not {1, 9} <= set(wide.columns):
        return claim, "not run", _OPEN
    gain = float((1 - wide[9] / wide[1]).mean())
    first = cells[(cells["policy"] == "FCFS") & (cells["store"] == "shared")]
    best = first.pivot_table(
        index=["machines", "when", "tasks", "reference_s"], columns="checkpoints", values="optimum_slowdown"
    ).dropna()
    could = float((1 - best[9] / best[1]).mean())
    ours = (
        f"shared, the four schedulers gain {gain:.1%} on average; the optimum gains {could:.1%}: nine are left unused"
    )
    return claim, ours, _verdict(gain < 0.05)


def _best_of_the_four(cells: pd.DataFrame, policy: str, within: float = 1.001, **wanted: object) -> tuple[float, int]:
    wide = _wide(cells, "policy", policy=PAPER_POLICIES, **wanted)
    if wide.empty or policy not in wide:
        return float("nan"), 0
    return float((wide[policy] <= wide.min(axis=1) * within).mean()), len(wide)


def _told(share: float, number: int) -> str:
    return f"in {share:.0%} of {number} cells"


def _replication(cells: pd.DataFrame) -> tuple[str, str, str]:
    share, number = _best_of_the_four(cells, "FCFS-TR", machines="M01", when="weekday")
    return "FCFS-TR is best on M01", f"least mean of the four {_told(share, number)}", _verdict(share >= 0.75)


def _prediction(cells: pd.DataFrame, claim: str, **wanted: object) -> tuple[str, str, str]:
    """Tell how far prediction is from replication, with the predictor by hours and with the truth."""
    wide = _wide(cells, "policy", when="weekday", policy=(_PRDCT, _TR, ORACLE), **wanted)
    if wide.empty:
        return claim, "not run", _OPEN
    gain = float((1 - wide[_PRDCT] / wide[_TR]).mean())
    ours = f"with the predictor by hours {gain:+.1%} against FCFS-TR in the mean of {len(wide)} cells"
    if bool((wide[_PRDCT] == wide[_TR]).all()):
        ours += " (its warnings change the mean of none)"
    if ORACLE in wide:
        ours += f"; with the truth {float((1 - wide[ORACLE] / wide[_TR]).mean()):+.1%}"
    return claim, ours + ". The paper's predictor is not described", _OPEN


def _prediction_short(cells: pd.DataFrame) -> tuple[str, str, str]:
    claim = "FCFS-PRDCT-DMD is poor for tasks of 1800 s on M01"
    return _prediction(cells, claim, machines="M01", reference_s=1800)


def _prediction_long(cells: pd.DataFrame) -> tuple[str, str, str]:
    claim = "FCFS-PRDCT-DMD is best for tasks of 7200 s on M04"
    return _prediction(cells, claim, machines="M04", reference_s=7200)


def _prediction_near(cells: pd.DataFrame) -> tuple[str, str, str]:
    claim = "FCFS-PRDCT-DMD is near FCFS-TR for 25 tasks of 7200 s on M01"
    return _prediction(cells, claim, machines="M01", tasks=25, reference_s=7200)


def _fair(cells: pd.DataFrame) -> tuple[str, str, str]:
    bag = {"machines": "M04", "when": "weekday", "tasks": 75, "reference_s": 1800}
    share, number = _best_of_the_four(cells, "FCFS", 1.1, **bag)
    ours = f"within 10 % of the best of the four {_told(share, number)}"
    for store in Store:
        ours += f"; {store}, {_told(*_best_of_the_four(cells, 'FCFS', 1.1, store=store, **bag))}"
    return "FCFS does fairly for 75 tasks of 1800 s on M04", ours, _verdict(share >= 0.5)


def _losers(cells: pd.DataFrame) -> tuple[str, str, str]:
    claim = "no scheduler loses to FCFS but FCFS-PRDCT-DMD with 25 tasks of 1800 s"
    wide = _wide(cells, "policy", when="weekday", policy=PAPER_POLICIES)
    if wide.empty:
        return claim, "not run", _OPEN
    told, is_so = [], True
    for policy in PAPER_POLICIES[1:]:
        for row in wide.reset_index().to_dict("records"):
            excess = row[policy] / row["FCFS"] - 1
            if excess > 0.005:
                bag = f"{row['tasks']} / {row['reference_s']} / {row['checkpoints']}"
                told.append(f"{policy} by {excess:.1%} on {row['machines']}, {row['store']}, {bag}")
                is_so &= policy == _PRDCT and (row["tasks"], row["reference_s"]) == (25, 1800)
    ours = f"of {len(wide)} cells loses by more than 0.5 %: {'; '.join(told) or 'nobody'}"
    return claim, ours, _verdict(is_so)


def _timeouts(cells: pd.DataFrame) -> tuple[str, str, str]:
    wide = _wide(cells, "policy", store="shared", policy=("FCFS", "FCFS-AT"))
    same = bool((wide["FCFS"] == wide["FCFS-AT"]).all()) if not wide.empty else True
    ours = (
        f"{'equal' if same else 'NOT equal'} in all {len(wide)} cells: without RECLAIMED slots a copy that is not lost "
        "ends before its deadline, and with a shared store a lost one is removed at once"
    )
    return "FCFS-AT differs from FCFS with a shared store", ours, _NOT


def _conclusion(cells: pd.DataFrame) -> tuple[str, str, str]:
    claim = "sharing helps every policy much (the conclusion; the weekend section says otherwise)"
    parts = []
    for when in ("weekday", "weekend"):
        wide = _wide(cells, "store", when=when, policy=PAPER_POLICIES)
        for policy in PAPER_POLICIES if not wide.empty else ():
            mine = wide[wide.index.get_level_values("policy") == policy]
            parts.append((when, policy, float((1 - mine["shared"] / mine["private"]).mean())))
    if not parts:
        return claim, "not run", _OPEN
    ours = ", ".join(f"{policy} {when} {gain:.0%}" for when, policy, gain in parts)
    return claim, f"mean gain: {ours}", _verdict(all(gain > 0.1 for _, _, gain in parts))


def _unpublished(cells: pd.DataFrame) -> tuple[str, str, str]:
    return (
        "the heights of the bars in Figures 2 to 6",
        "trace, predictor (SMO), starts and the tolerance by day are not published: no bar can be reproduced",
        _OPEN,
    )


def _replicas(cells: pd.DataFrame) -> tuple[str, str, str]:
    return "replicas at most 3", "with or without the original is not said; here with it, an option", _OPEN


def _ideal(cells: pd.DataFrame) -> tuple[str, str, str]:
    one = paper("M01", tasks=75, checkpoints=9, slots=1)
    rounds = -(-one.tasks * one.segments // one.num_machines)  # equal machines, never more than n of them
    share = rounds * one.ticks[0] / ideal_time(one)
    ours = f"not with shared checkpoints: 75 tasks, nine checkpoints, M01 always UP: the optimum is {share:.2f} IET"
    return "IET is the least possible turnaround", ours, _NOT


def _patience(cells: pd.DataFrame) -> tuple[str, str, str]:
    claim = "how bad is FCFS with private stores, where nobody notices a machine that is off?"
    mine = cells[(cells["policy"] == "FCFS") & (cells["store"] == "private") & (cells["when"] == "weekday")]
    if mine.empty:
        return claim, "not run", _OPEN
    ours = f"{mine['slowdown'].min():.1f} to {mine['slowdown'].max():.1f} times IET in the means of its cells"
    return claim, ours, _MEASURED


def _unused(cells: pd.DataFrame) -> tuple[str, str, str]:
    claim = "what could checkpoints give? 25 tasks of 1800 s on M04, shared, weekdays, with 0, 1, 9 of them"
    mine = cells[(cells["machines"] == "M04") & (cells["store"] == "shared") & (cells["when"] == "weekday")]
    mine = mine[(mine["tasks"] == 25) & (mine["reference_s"] == 1800)].sort_values("checkpoints")
    replicating = mine[mine["policy"] == _TR]
    if replicating.empty:
        return claim, "not run", _OPEN
    parts = (", ".join(f"{value:.2f}" for value in replicating[column]) for column in ("optimum_slowdown", "slowdown"))
    return claim, "the optimum takes {} IET, FCFS-TR {}".format(*parts), _MEASURED


def _better(cells: pd.DataFrame) -> tuple[str, str, str]:
    claim = "would a simple scheduler use shared checkpoints better? (ours: LEVEL, PACE)"
    parts = []
    for number in sorted(cells["checkpoints"].unique()):
        mine = cells[(cells["store"] == "shared") & (cells["checkpoints"] == number)]
        index = ["machines", "when", "tasks", "reference_s"]
        wide = mine.pivot_table(index=index, columns="policy", values="ratio_high").dropna()
        if wide.empty or "PACE" not in wide:
            continue
        gap = float((wide["FCFS-TR"] - 1).sum())
        told = ", ".join(f"{name} {float((wide[name] - 1).mean()):.1%}" for name in ("FCFS-TR", "LEVEL", "PACE"))
        closed = 1 - float((wide["PACE"] - 1).sum()) / gap if gap else 0.0
        name = f"{number} checkpoint{'' if number == 1 else 's'}"
        parts.append(f"{name}: above the optimum {told}; PACE closes {closed:.0%} of the gap of FCFS-TR")
    return claim, "; ".join(parts) or "not run", _MEASURED if parts else _OPEN


_CLAIMS: tuple[Callable[[pd.DataFrame], tuple[str, str, str]], ...] = (
    _speeds,
    _table_2,
    _availability,
    _samples,
    _sharing,
    _weekends,
    _checkpoints,
    _replication,
    _prediction_short,
    _prediction_long,
    _prediction_near,
    _fair,
    _losers,
    _timeouts,
    _conclusion,
    _unpublished,
    _replicas,
    _ideal,
    _patience,
    _unused,
    _better,
)
