"""Runs of the experiment on packaged zones: a line for each, and statistics for each deadline and overhead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hindsched.bench.deadline.sources import Window
from hindsched.bench.report import canvas
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.quantile import quantile
from hindsched.bench.results.records import records
from hindsched.bench.shared_types import Row
from hindsched.instances.deadline import HOUR_S, UNITS_PER_DOLLAR
from hindsched.instances.deadline.generate import ON_DEMAND_PRICE, SPOT_PRICE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CELL", "FREE", "GUARDED", "INSTANCE", "cells", "draw_ratios", "line_of_row", "public_score"]

#: The columns that make a cell of the experiment, and those that make an instance.
CELL = ("deadline_h", "overhead_s")
INSTANCE = (*CELL, "zone", "start")
#: The optima, among the policies of lines.
FREE, GUARDED = "free", "guarded"
_MICRO = 1_000_000
_PERCENTILE = 0.95


def line_of_row(window: Window, row: Row, policy: str) -> Row:
    """Return the line of a run or of an optimum: its instance, what was paid, and in a run how.

    Parameters
    ----------
    window
        The instance.
    row
        A row of a campaign.
    policy
        Name of the policy, or `FREE` or `GUARDED`.
    """
    return {
        "deadline_h": window.deadline_s // HOUR_S,
        "overhead_s": window.overhead_s,
        "zone": window.zone,
        "start": window.start_sample,
        "policy": policy,
        "guard": row.get("guard", "none" if policy == FREE else "step"),
        "cost": row["paid"] if "paid" in row else row["value"],
        "finish": row.get("finish"),
        "launches": row.get("launches"),
        "overhead_h": row.get("overhead_h"),
    }


def public_score(cost: float, work_s: float) -> float:
    """Return the score of public benchmarks, (on-demand - cost) / (on-demand - spot), at the simulator's prices.

    On-demand and spot are their prices for the hours of work, without overheads and without regard to availability.

    Examples
    --------
    >>> public_score(SPOT_PRICE * 7200, 7200), public_score(ON_DEMAND_PRICE * 7200, 7200)
    (1.0, 0.0)
    """
    return (ON_DEMAND_PRICE * work_s - cost) / ((ON_DEMAND_PRICE - SPOT_PRICE) * work_s)


def cells(lines: pd.DataFrame, work_s: int) -> pd.DataFrame:
    """Return the statistics of each cell, policy and guard.

    Parameters
    ----------
    lines
        As `line_of_row` returns them.
    work_s
        W of all instances.

    Returns
    -------
    pandas.DataFrame
        The columns of `CELL`; ``policy``; ``guard``; ``runs``; ``missed``, runs that missed the deadline; and over
        finished runs: mean ``dollars``; mean, 95th percentile and maximum of cost / free (``ratio``, ``ratio_95``,
        ``worst``); mean cost / guarded (``guarded_ratio``); ``gap_closed``, the share of greedy's mean cost above free
        that the policy does not pay; ``saved``, the mean saving against on-demand; ``score`` (see `public_score`); mean
        ``launches`` and ``overhead_h``.
    """
    import pandas as pd

    found = []
    for cell, group in with_ratios(lines).groupby(list(CELL), sort=True):
        names = in_order(set(group["policy"]) - {FREE, GUARDED}, "deadline")
        dear = _mean_dollars(group[(group["policy"] == "on_demand")])
        greedy = _mean_dollars(group[(group["policy"] == "greedy") & (group["guard"] != "step_old")])
        for policy in (FREE, GUARDED, *names):
            for guard, mine in group[group["policy"] == policy].groupby("guard", sort=True):
                done = mine[mine["finish"].notna() | mine["policy"].isin([FREE, GUARDED])]
                dollars = _mean_dollars(done)
                found.append(
                    {
                        **dict(zip(CELL, cell, strict=True)),
                        "policy": policy,
                        "guard": guard,
                        "runs": len(mine),
                        "missed": len(mine) - len(done),
                        "dollars": dollars,
                        "ratio": done["ratio"].mean(),
                        "ratio_95": quantile(done["ratio"], _PERCENTILE),
                        "worst": done["ratio"].max(),
                        "guarded_ratio": done["guarded_ratio"].mean(),
                        "gap_closed": (greedy - dollars) / (greedy - _mean_dollars(group[group["policy"] == FREE])),
                        "saved": 1 - dollars / dear,
                        "score": public_score(dollars * UNITS_PER_DOLLAR, work_s),
                        "launches": done["launches"].mean(),
                        "overhead_h": done["overhead_h"].mean(),
                    }
                )
    return pd.DataFrame(found)


def with_ratios(lines: pd.DataFrame) -> pd.DataFrame:
    """Return lines with the columns ``ratio`` and ``guarded_ratio``: cost over the optima of the same instance."""
    for name, column in ((FREE, "ratio"), (GUARDED, "guarded_ratio")):
        best = lines[lines["policy"] == name].set_index(list(INSTANCE))["cost"].rename("best")
        lines = lines.join(best, on=list(INSTANCE))
        lines = lines.assign(**{column: lines["cost"] / lines["best"]}).drop(columns="best")
    return lines


def _mean_dollars(lines: pd.DataFrame) -> float:
    return float(lines["cost"].mean()) / UNITS_PER_DOLLAR


def draw_ratios(found: pd.DataFrame, policies: Sequence[str]) -> Figure:
    """Return a figure with a panel for each cell: mean and 95th percentile of cost / free, and mean dollars.

    Parameters
    ----------
    found
        As `cells` returns it.
    policies
        The policies to show, from top to bottom.
    """
    hours, overheads = (sorted(found[name].unique()) for name in CELL)
    figure, panels = canvas.new_grid(len(overheads), len(hours), width=3.2, height=2.3)
    most = float(found.loc[found["policy"].isin(policies), "ratio_95"].max())
    for row, overhead_s in enumerate(overheads):
        for column, deadline_h in enumerate(hours):
            mine = found[(found["deadline_h"] == deadline_h) & (found["overhead_s"] == overhead_s)]
            axes = panels[row][column]
            by_policy = {line["policy"]: line for line in records(mine[mine["guard"] != "step_old"])}
            _draw_panel(axes, by_policy, [name for name in policies if name in by_policy], most)
            dollars = by_policy[FREE]["dollars"]
            axes.set_title(f"D = {deadline_h} h, d = {overhead_s} s; free {dollars:.2f} $", loc="left", fontsize=9)
            if column:
                axes.set_yticklabels([])
            if row == len(overheads) - 1:
                axes.set_xlabel("cost / free (dot: mean, bar: 95th percentile)", fontsize=8)
    return figure


def _draw_panel(axes: Axes, by_policy: Mapping[str, Row], policies: Iterable[str], most: float) -> None:
    names = list(policies)
    for place, name in enumerate(names):
        line, colour = by_policy[name], canvas.COLOURS[1 if name == "renewal" else 0]
        axes.plot([line["ratio"], line["ratio_95"]], [place, place], color=colour, linewidth=1.5)
        axes.plot(line["ratio"], place, "o", color=colour, markersize=4)
        axes.plot(line["ratio_95"], place, "|", color=colour, markersize=7)
        axes.text(most * 1.03, place, f"{line['dollars']:.2f} $", fontsize=7, va="center")
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0.96, most * 1.28)
    axes.axvline(1, color=canvas.COLOURS[7], linewidth=0.8)
    axes.tick_params(axis="x", labelsize=7)
