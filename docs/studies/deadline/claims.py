"""Judge claims on jobs with a deadline by the experiment on nine zones (docs/deadline/model.md section 8)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from docs.studies.claims import Claim, Verdict, holds_if, holds_in
from docs.studies.deadline.foresight import columns_of_hours
from docs.studies.deadline.intervals import Resamples
from docs.studies.deadline.skynomad import PRINTED, means
from docs.studies.rows import read_rows
from hindsched.bench.deadline.cells import CELL, FREE, INSTANCE, cells, with_ratios
from hindsched.bench.deadline.reproduction import WORK_S
from hindsched.bench.results.bootstrap import percentiles
from hindsched.instances.deadline.generate import ON_DEMAND_PRICE, SPOT_PRICE

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PRICE_RATIO", "Factor", "Share", "claims_of_results", "factors", "judge", "remaining_gap"]

#: K, on-demand price over spot price.
PRICE_RATIO = ON_DEMAND_PRICE / SPOT_PRICE
#: The factor of the abstract of "Can't Be Late".
_FACTOR = 2.0
_PERCENTILE = 0.95


class Factor(NamedTuple):
    """By which factor uniform closes greedy's gap to the optimum in a cell, with a 95 % interval.

    Parameters
    ----------
    deadline_h, overhead_s
        The cell.
    statistic
        ``mean`` or ``95 %`` of the gaps.
    factor, low, high
        Gap of greedy over gap of uniform.
    """

    deadline_h: int
    overhead_s: int
    statistic: str
    factor: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """The cell, the factor and its interval."""
        return f"{self.deadline_h} h, {self.overhead_s} s: {self.factor:.1f} ({self.low:.1f} to {self.high:.1f})"


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


def factors(lines: pd.DataFrame) -> list[Factor]:
    """Return for each cell by which factor uniform closes greedy's gap, in the mean and in the 95th percentile."""
    found = []
    step = lines[lines["guard"] != "step_old"]
    for cell, group in step.groupby(list(CELL), sort=True):
        deadline_h, overhead_s = (int(str(part)) for part in cell)
        wide = group.pivot_table(index=list(INSTANCE), columns="policy", values="cost").reset_index()
        greedy, uniform = (wide[name].to_numpy() - wide[FREE].to_numpy() for name in ("greedy", "uniform"))
        drawn = Resamples(wide)
        statistics = {
            "mean": (greedy.mean() / uniform.mean(), drawn.mean(greedy) / drawn.mean(uniform)),
            "95 %": (
                np.quantile(greedy, _PERCENTILE) / np.quantile(uniform, _PERCENTILE),
                drawn.quantile(greedy, _PERCENTILE) / drawn.quantile(uniform, _PERCENTILE),
            ),
        }
        for name, (factor, resampled) in statistics.items():
            found.append(Factor(deadline_h, overhead_s, name, float(factor), *percentiles(resampled)))
    return found


def _uniform(lines: pd.DataFrame) -> Iterator[Claim]:
    runs = int(((lines["policy"] == "uniform") & (lines["guard"] != "step_old")).sum())
    found = factors(lines)
    for name, words in (("mean", "on average"), ("95 %", "in bad cases")):
        mine = [factor for factor in found if factor.statistic == name]
        statistic = "means" if name == "mean" else "95th percentiles"
        yield Claim(
            "CBL, abstract",
            f"Uniform Progress closes greedy's gap to the optimum by a factor of 2 {words}",
            f"gap of greedy over gap of uniform, {statistic}: " + "; ".join(factor.text for factor in mine),
            holds_in([factor.factor >= _FACTOR for factor in mine]),
            "2",
            runs,
            "with long launches or a distant deadline the factor is smaller",
        )


def _savings(found: pd.DataFrame) -> Claim:
    mine = found[(found["policy"] == "uniform") & (found["guard"] != "step_old")]
    free = found[found["policy"] == FREE]
    evidence = f"uniform saves {mine['saved'].min():.0%} to {mine['saved'].max():.0%} in the mean of a cell, "
    evidence += f"the optimum {free['saved'].min():.0%} to {free['saved'].max():.0%}"
    return Claim(
        "CBL, abstract",
        "the policy saves 27 % to 84 % against on-demand",
        evidence,
        Verdict.PARTLY,
        "27-84 %",
        int(mine["runs"].sum()),
        f"spot costs {1 / PRICE_RATIO:.0%} of on-demand here, so no schedule saves more than {1 - 1 / PRICE_RATIO:.0%}",
    )


def _foresight() -> Claim:
    rows = read_rows("deadline_foresight")
    columns = {hours: column for hours, column in columns_of_hours().items() if hours}
    texts = [f"{hours} h: {remaining_gap(rows, column).text}" for hours, column in columns.items()]
    less = [
        remaining_gap(group, column).share < 1 for _, group in rows.groupby(list(CELL)) for column in columns.values()
    ]
    in_cells = f"below 100% in {sum(less)} of {len(less)} pairs of cell and hours"
    return Claim(
        "CBL, abstract",
        "limited knowledge of the future reduces the gap further",
        "share of renewal's mean gap to the optimum that a yardstick leaves which plans the known hours exactly and "
        f"values later ones as renewal does: {'; '.join(texts)}; {in_cells}",
        Verdict.SUBSTITUTE if all(less) else Verdict.PARTLY,
        runs=len(rows) * len(columns),
        reason="the abstract does not say how the policy uses foresight, so the yardstick is a substitute",
    )


class Share(NamedTuple):
    """A share with a 95 % interval."""

    share: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """The share and its interval in percent."""
        return f"{self.share:.0%} ({self.low:.0%} to {self.high:.0%})"


def remaining_gap(rows: pd.DataFrame, column: str) -> Share:
    """Return the mean gap of a column to the optimum over that of renewal, in windows of `foresight.rows`."""
    gaps = [(rows[name] - rows[FREE]).to_numpy() for name in (column, "renewal")]
    drawn = Resamples(rows)
    low, high = percentiles(drawn.mean(gaps[0]) / drawn.mean(gaps[1]))
    return Share(float(gaps[0].mean() / gaps[1].mean()), low, high)


def _scores(found: pd.DataFrame) -> Iterator[Claim]:
    free = found[found["policy"] == FREE]
    yield Claim(
        "FCS",
        "a score of 1, the spot price for all hours of work, is the best that can be had",
        f"the optimum scores {free['score'].min():.2f} to {free['score'].max():.2f} in the mean of a cell",
        holds_if(bool((free["score"] > 0.995).all())),
        "1",
        int(free["runs"].sum()),
        "the anchor ignores availability and overheads",
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
    rounded = read_rows("deadline_rounded")
    ratio = rounded["rounded"] / rounded["free"]
    yield Claim(
        "SkyNomad",
        "the policy Optimal is a lower bound",
        f"the optimum after rounding overhead and work up to whole slots is above the optimum in {(ratio > 1).sum()} "
        f"of {len(ratio)} windows, by {ratio.mean() - 1:.1%} on average and at most {ratio.max() - 1:.1%}",
        holds_if(not (ratio > 1).any()),
        runs=len(ratio),
        reason="rounding up makes every schedule pay for work that the job does not need (slots of 195 s)",
    )
    dollars = means()
    agree = [round(dollars[name][1], 2) == printed for name, printed in PRINTED.items()]
    listed = ", ".join(
        f"{who} {dollars[name][1]:.2f} ({dollars[name][0]:.2f} with every slot billed)"
        for name, who in (("free", "the optimum"), ("up_s", "UP(S)"))
    )
    evidence = f"on the artifact's windows and prices, billed as it does: {listed}, UP {dollars['uniform'][0]:.2f}; "
    yield Claim(
        "SkyNomad",
        "on V100s Optimal pays 37.37 $, SkyNomad 41.73, UP(S) 47.02, UP 68.71",
        f"{evidence}SkyNomad is not run",
        Verdict.PARTLY if all(agree) else holds_in(agree),
        "37.37 $",
        5 + 5 * 3,
        "SkyNomad predicts lifetimes by probes; in several zones the artifact does not bill the last slot, so its "
        "optimum is below the bill of any schedule",
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
    rows = read_rows("deadline_strategies")
    means = (rows["cost"] / rows["free"]).groupby(rows["policy"]).mean()
    written = means[means.index.str.contains("/solutions/")].dropna()
    better = {name: int((written < means[name]).sum()) for name in ("uniform", "uniform_plain")}
    return Claim(
        "FCS",
        "strategy files written by language models beat Uniform Progress",
        f"{better['uniform']} of {len(written)} files that finish cost less than uniform in the mean of nine windows, "
        f"{better['uniform_plain']} less than uniform_plain",
        holds_in([better["uniform"] > 0, better["uniform_plain"] > 0]),
        runs=int(rows["policy"].str.contains("/solutions/").sum()),
        reason="the benchmark's own traces are not packaged",
    )
