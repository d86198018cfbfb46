"""Judge claims on jobs with a deadline by the experiment on nine zones (docs/deadline/model.md section 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from docs.studies.claims import Claim, Verdict, holds_if, holds_in, within
from docs.studies.deadline.foresight import columns_of_hours
from docs.studies.deadline.intervals import PERCENTILE, Estimate, Resamples, ratio
from docs.studies.deadline.rounded import rounded_ratios
from docs.studies.deadline.skynomad import PRINTED, means
from docs.studies.deadline.strategy_runs import lead_of_best, num_files
from docs.studies.rows import read_rows
from hindsched.bench.deadline.cells import CELL, FREE, INSTANCE, cells, with_ratios
from hindsched.bench.deadline.reproduction import DEADLINES_H, WORK_S
from hindsched.instances.deadline import HOUR_S, spot_zones
from hindsched.instances.deadline.generate import ON_DEMAND_PRICE, SPOT_PRICE

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PRICE_RATIO", "Factor", "claims_of_results", "costs_by_window", "factors", "judge", "remaining_gap"]

#: K, on-demand price over spot price.
PRICE_RATIO = ON_DEMAND_PRICE / SPOT_PRICE
#: The factor of the abstract of "Can't Be Late".
_FACTOR = 2.0
#: Keys and names of the settings that divide windows by their share of slots with spot.
_THIRDS = {"low": "time with spot below 1/3", "middle": "time with spot 1/3 to 2/3", "high": "time with spot above 2/3"}


class Factor(NamedTuple):
    """By which factor a policy closes greedy's gap to the optimum in a setting.

    Parameters
    ----------
    setting
        Its name.
    windows
        Number of windows.
    mean, bad
        Gap of greedy over gap of the policy: of the mean gaps, and of the 95th percentiles of the gaps.
    """

    setting: str
    windows: int
    mean: Estimate
    bad: Estimate


def claims_of_results(folder: Path) -> list[Claim]:
    """Return the claims judged by ``runs.csv``, which ``hindsched reproduce --family deadline`` writes."""
    import pandas as pd

    return judge(pd.read_csv(folder / "runs.csv"))


def judge(lines: pd.DataFrame) -> list[Claim]:
    """Return the claims with their verdicts.

    Parameters
    ----------
    lines
        As `hindsched.bench.deadline.cells.line_of_row` returns them.
    """
    found = cells(lines, WORK_S)
    return [*_uniform(lines), _savings(found), _foresight(), *_scores(found), *_oracles(), _worst(lines), _files()]


def costs_by_window(lines: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each window, with its instance and the cost of each policy; without the guard ``step_old``."""
    step = lines[lines["guard"] != "step_old"]
    return step.pivot_table(index=list(INSTANCE), columns="policy", values="cost").reset_index()


def factors(lines: pd.DataFrame, policy: str = "uniform") -> dict[str, Factor]:
    """Return by which factor a policy closes greedy's gap, in all windows and in parts of them, by key.

    The keys are ``all``; the deadlines in hours; ``low``, ``middle`` and ``high`` availability of spot in the window;
    and deadline and overhead as in ``52-180``.
    """
    windows = costs_by_window(lines)
    parts = {"all": ("all windows", windows)}
    for hours, group in windows.groupby("deadline_h"):
        parts[f"{hours}"] = f"D = {hours} h", group
    third = np.minimum(3 * _shares_with_spot(windows), 2).astype(int)
    for i, (key, name) in enumerate(_THIRDS.items()):
        parts[key] = name, windows[third == i]
    for cell, group in windows.groupby(list(CELL)):
        parts["{}-{}".format(*cell)] = "D = {} h, d = {} s".format(*cell), group
    return {key: _factor(*part, policy) for key, part in parts.items() if len(part[1])}


def _factor(setting: str, windows: pd.DataFrame, policy: str) -> Factor:
    first, second = ((windows[name] - windows[FREE]).to_numpy() for name in ("greedy", policy))
    drawn = Resamples(windows)
    return Factor(setting, len(windows), ratio(drawn, first, second), ratio(drawn, first, second, PERCENTILE))


def _shares_with_spot(windows: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Return the share of the slots of each window in which spot can be had."""
    shares = np.zeros(len(windows))
    for zone, places in windows.groupby("zone").indices.items():
        whole = spot_zones.window(
            [str(zone)], 0, work_s=1, deadline_s=spot_zones.SAMPLES * spot_zones.SLOT_S, overhead_s=0
        )
        before = np.concatenate([[0], whole.spot[0].cumsum()])
        first = windows["start"].to_numpy()[places]
        slots = windows["deadline_h"].to_numpy()[places] * HOUR_S // spot_zones.SLOT_S
        shares[places] = (before[first + slots] - before[first]) / slots
    return shares


def _uniform(lines: pd.DataFrame) -> Iterator[Claim]:
    found = factors(lines)
    whole = found["all"]
    for estimate, words, statistic, open_choice in (
        (whole.mean, "on average", "means", "its mix of settings"),
        (whole.bad, "in bad cases", "95th percentiles", "its bad cases"),
    ):
        verdict = within(estimate.low, estimate.high, _FACTOR, above=True)
        yield Claim(
            "CBL, abstract",
            f"Uniform Progress closes greedy's gap to the optimum by a factor of 2 {words}",
            f"gap of greedy over gap of uniform, {statistic} of all windows: {estimate.text()}",
            Verdict.SUBSTITUTE if verdict is Verdict.HOLDS else verdict,
            "2",
            whole.windows,
            f"the abstract does not define {open_choice}"
            + (f", and the interval contains {_FACTOR:g}" if verdict is Verdict.UNDECIDED else ""),
        )
    yield _conditions(found)


def _conditions(found: Mapping[str, Factor]) -> Claim:
    """Return the claim that the factor holds in all conditions: it fails where an interval lies below it."""
    shown = [found[key] for key in (*map(str, DEADLINES_H), *_THIRDS) if key in found]
    fails = [factor.setting for factor in shown if min(factor.mean.high, factor.bad.high) < _FACTOR]
    listed = "; ".join(f"{factor.setting}: {factor.mean.text()}, {factor.bad.text()}" for factor in shown)
    return Claim(
        "CBL, abstract",
        "these results hold from loose to tight deadlines, low to high availability, on single or multiple instances",
        f"the two factors, {listed}; on a single instance",
        holds_in([factor.setting not in fails for factor in shown]),
        "2",
        found["all"].windows,
        f"a whole interval is below {_FACTOR:g}: {'; '.join(fails)}" if fails else "",
    )


def _savings(found: pd.DataFrame) -> Claim:
    mine = found[(found["policy"] == "uniform") & (found["guard"] != "step_old")]
    free = found[found["policy"] == FREE]
    evidence = f"uniform saves {mine['saved'].min():.0%} to {mine['saved'].max():.0%} against on_demand in the mean of "
    evidence += f"a setting, the optimum {free['saved'].min():.0%} to {free['saved'].max():.0%}"
    return Claim(
        "CBL, abstract",
        "the policy saves 27 % to 84 % on real workloads",
        evidence,
        Verdict.UNDECIDED,
        "27-84 %",
        int(mine["runs"].sum()),
        "these savings are measured in a cloud at other prices; spot costs "
        f"{1 / PRICE_RATIO:.0%} of on-demand here, so no schedule saves more than {1 - 1 / PRICE_RATIO:.0%}",
    )


def _foresight() -> Claim:
    rows = read_rows("deadline_foresight")
    columns = {hours: column for hours, column in columns_of_hours().items() if hours}
    left = {hours: remaining_gap(rows, column) for hours, column in columns.items()}
    cells = [remaining_gap(group, column) for _, group in rows.groupby(list(CELL)) for column in columns.values()]
    listed = "; ".join(f"{hours} h: {estimate.text('.0%')}" for hours, estimate in left.items())
    return Claim(
        "CBL, abstract",
        "limited knowledge of the future reduces the gap further",
        f"share of renewal's mean gap to the optimum that a yardstick with foresight leaves: {listed}; below 100% in "
        f"{sum(cell.value < 1 for cell in cells)} of {len(cells)} pairs of setting and hours, with the whole interval "
        f"in {sum(cell.high < 1 for cell in cells)}",
        Verdict.SUBSTITUTE if all(estimate.high < 1 for estimate in left.values()) else Verdict.UNDECIDED,
        runs=len(rows) * len(columns),
        reason="the abstract does not say how the policy uses foresight",
    )


def remaining_gap(rows: pd.DataFrame, column: str) -> Estimate:
    """Return the mean gap of a column to the optimum over that of renewal, in windows of `foresight.rows`."""
    first, second = ((rows[name] - rows[FREE]).to_numpy() for name in (column, "renewal"))
    return ratio(Resamples(rows), first, second)


def _scores(found: pd.DataFrame) -> Iterator[Claim]:
    free = found[found["policy"] == FREE]
    scores = 100 * free["score"]
    yield Claim(
        "FCS",
        "a score of 100, the spot price for all hours of work, is that of the optimal spot strategy",
        f"the optimum scores {scores.min():.0f} to {scores.max():.0f} in the mean of a setting",
        holds_if(bool((scores > 99.5).all())),
        "100",
        int(free["runs"].sum()),
        "no schedule costs that little, since spot is not always there and launches take time",
    )
    old, new = (found[(found["guard"] == guard) & ~found["policy"].isin(["guarded"])] for guard in ("step_old", "step"))
    missed = old[old["missed"] > 0].groupby("policy")["missed"].sum()
    listed = ", ".join(f"{policy} {count}" for policy, count in missed.items()) or "none"
    runs = int(old["runs"].sum() + new["runs"].sum())
    yield Claim(
        "FCS",
        "a run that misses the deadline scores -100,000",
        f"missed with the guard step: {new['missed'].sum()} of {new['runs'].sum():,}, by theorem G; with step_old: "
        f"{old['missed'].sum()} of {old['runs'].sum():,} ({listed})",
        Verdict.MEASURED,
        "-100,000",
        runs,
    )


def _oracles() -> Iterator[Claim]:
    raised = rounded_ratios()
    dollars = means()
    agree = {name: round(dollars[name][1], 2) == printed for name, printed in PRINTED.items()}
    yield Claim(
        "SkyNomad, 3.3 and 5.2.1",
        "the policy Optimal, an exact dynamic program, is a lower bound on the cost",
        "its code rounds overheads and work up to whole slots; in the panel of V100s this changes nothing; in windows "
        f"of one zone and slots of 195 s the same rounding raises the optimum in {(raised > 1).sum()} of "
        f"{len(raised)}, by {raised.mean() - 1:.1%} on average and at most {raised.max() - 1:.1%}",
        holds_in([agree["free"], not (raised > 1).any()]),
        runs=len(raised),
        reason="the rounded program pays for seconds that the job does not need",
    )
    listed = ", ".join(
        f"{who} {dollars[name][1]:.2f} ({dollars[name][0]:.2f} with every slot billed)"
        for name, who in (("free", "Optimal"), ("up_s", "UP(S)"))
    )
    yield Claim(
        "SkyNomad, Figure 9b",
        "on V100s Optimal pays 37.37 $, SkyNomad 41.73, UP(S) 47.02, UP 68.71",
        f"billed as the artifact does: {listed}, UP {dollars['uniform'][1]:.2f}; SkyNomad is not run",
        Verdict.PARTLY if all(agree.values()) else holds_in([*agree.values()]),
        "37.37 $",
        5 + 5 + 5 * 3,
        "SkyNomad predicts lifetimes by probes, which the model does not have",
    )


def _worst(lines: pd.DataFrame) -> Claim:
    runs = with_ratios(lines[lines["guard"] != "step_old"])
    names = ("on_demand", "fallback", "greedy", "uniform", "renewal")
    worst = {name: float(runs.loc[runs["policy"] == name, "ratio"].max()) for name in names}
    listed = ", ".join(f"{name} {ratio:.2f}" for name, ratio in worst.items())
    return Claim(
        "ROSS",
        "in the worst case every deterministic policy pays of the order of K times the optimum, K the ratio of prices",
        f"K = {PRICE_RATIO:.3f}; worst cost / free of a window: {listed}",
        Verdict.MEASURED,
        runs=int(runs["policy"].isin(names).sum()),
    )


def _files() -> Claim:
    lead, number = lead_of_best(), num_files("written")
    verdict = within(lead.low, lead.high, 0, above=True)
    return Claim(
        "ADRS, post of October 2025",
        "policies written by language models cost less than Uniform Progress",
        f"{num_files('uniform')} of {number} solutions of FCS cost less than uniform in the mean of nine windows, "
        f"{num_files('uniform_plain')} less than uniform_plain; the best of them, on {num_files('fresh')} other "
        f"windows, is below uniform by {lead.text('.3f')} of the optimum",
        Verdict.SUBSTITUTE if verdict is Verdict.HOLDS else verdict,
        "up to 16 %",
        9 * number + num_files("fresh"),
        "the post is about other files and traces",
    )
