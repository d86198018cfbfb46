"""The cells of the experiment: means over starts, for each bag, store, part of the week and policy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hindsched.bench.report import canvas
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.ratios import with_ratios
from hindsched.bench.results.records import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLUMNS", "ORACLE", "cells", "draw_bars", "optima", "ordered"]

#: How the scheduler that predicts is called where it is told the truth.
ORACLE = "FCFS-PRDCT-DMD (oracle)"

#: A picture ends at so many times the tallest bar beside that of FCFS, which may be far taller.
_TALLEST = 1.4

_CELL = ("machines", "store", "when", "tasks", "reference_s", "checkpoints")
COLUMNS = (
    *(*_CELL, "policy", "starts", "unfinished"),
    *("minutes", "slowdown", "ratio_low", "ratio_high", "worst", "optimal", "optimum_slowdown", "proven"),
)


def cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the means of every cell.

    Parameters
    ----------
    runs
        As in `bench.results.columns.Results`, of the sources of `bench.bags.paper` and `bench.bags.zones`.

    Returns
    -------
    pandas.DataFrame
        One row per cell and policy: ``machines``, ``store``, ``when``, ``tasks``, ``reference_s``, ``checkpoints``,
        ``policy``; ``starts`` and ``unfinished`` among them; means over finished runs of the turnaround in ``minutes``,
        of ``slowdown`` (turnaround / IET) and of the ratio turnaround / OPT by its ends, and the ``worst`` one's upper
        end; ``optimal``, how many runs are proven to be; ``optimum_slowdown``, the mean of OPT / IET over the starts
        whose optimum is proven, and ``proven``, how many those are. OPT is what the policy is measured by: with saves
        on demand for the one that predicts. To five decimals.
    """
    import pandas as pd

    runs = runs.assign(**dict(zip(_CELL[:3], _words(runs["population"]), strict=True)))
    ratios = with_ratios(runs)
    runs.loc[runs["predictor"] == "oracle", "policy"] = ORACLE
    runs["low"], runs["high"] = ratios["low"], ratios["high"]
    runs["optimum_slowdown"] = (runs["optimum"] / runs["iet"].astype(float)).where(runs["optimum_status"] == "optimal")
    rows = []
    for cell, group in runs.groupby(list(_CELL), sort=True):
        for policy in ordered(group["policy"].unique()):
            mine = group[group["policy"] == policy]
            done = mine[mine["value"].notna()]
            rows.append(
                {
                    **dict(zip(_CELL, cell, strict=True)),
                    "policy": policy,
                    "starts": len(mine),
                    "unfinished": len(mine) - len(done),
                    "minutes": done["minutes"].astype(float).mean(),
                    "slowdown": done["slowdown"].astype(float).mean(),
                    "ratio_low": done["low"].mean(),
                    "ratio_high": done["high"].mean(),
                    "worst": done["high"].max(),
                    "optimal": int((done["high"] == 1).sum()),
                    "optimum_slowdown": mine["optimum_slowdown"].mean(),
                    "proven": int(mine["optimum_slowdown"].notna().sum()),
                }
            )
    return pd.DataFrame(rows, columns=list(COLUMNS)).round(5)


def ordered(policies: Iterable[str]) -> list[str]:
    """Return policies in the order of tables, the one that is told the truth beside the one that predicts."""
    names = in_order(list(policies), "bags")
    if ORACLE in names:
        names.remove(ORACLE)
        names.insert(names.index("FCFS-PRDCT-DMD") + 1, ORACLE)
    return names


def _words(populations: pd.Series[Any]) -> list[list[str]]:
    """Return machines, store and part of the week of each population's name."""
    parts = [str(name).rsplit(" ", 2) for name in populations]
    return [[part[i] for part in parts] for i in range(3)]


def optima(found: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of OPT / IET of every cell without saves on demand, a column for each number of checkpoints."""
    mine = found[found["policy"] == "FCFS"]
    wide = mine.pivot_table(
        index=["machines", "store", "when", "tasks", "reference_s"], columns="checkpoints", values="optimum_slowdown"
    )
    wide.columns = [f"OPT/IET, {number} checkpoints" for number in wide.columns]
    return wide.reset_index()


def draw_bars(found: pd.DataFrame, machines: str, store: str, when: str) -> Figure:
    """Return the bars of one set of machines, store and part of the week: a panel for each bag."""
    mine = found[(found["machines"] == machines) & (found["store"] == store) & (found["when"] == when)]
    bags = list(mine.groupby(["tasks", "reference_s"], sort=True))
    figure, panels = canvas.new_figure(len(bags), width=9.0, heights=(2.5,) * len(bags))
    for axes, ((tasks, reference_s), cell) in zip(panels, bags, strict=True):
        _draw_panel(axes, cell)
        axes.set_title(f"{machines}, {store}, {when}: {tasks} tasks of {reference_s} s", loc="left", fontsize=9)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", fontsize=7, frameon=False, ncols=4)
    return figure


def _draw_panel(axes: Axes, cell: pd.DataFrame) -> None:
    from matplotlib.patches import Rectangle

    policies = ordered(cell["policy"].unique())
    numbers = sorted(cell["checkpoints"].unique())
    width = 0.8 / len(numbers)
    for i, number in enumerate(numbers):
        by_policy = {row["policy"]: row for row in records(cell[cell["checkpoints"] == number])}
        known = [(place, by_policy[policy]) for place, policy in enumerate(policies) if policy in by_policy]
        places = [place + (i - (len(numbers) - 1) / 2) * width for place, _ in known]
        axes.bar(
            places,
            [row["slowdown"] for _, row in known],
            width=0.92 * width,
            color=canvas.COLOURS[i],
            label=f"{number} checkpoint{'' if number == 1 else 's'}",
        )
        label = "optimum of the same runs" if i == 0 else None
        axes.scatter(
            places,
            [row["optimum_slowdown"] for _, row in known],
            marker="_",
            s=90,
            color="black",
            label=label,
            zorder=3,
        )
    axes.axhline(1.0, color="#999999", linewidth=0.8)
    axes.set_xticks(range(len(policies)), policies)
    axes.tick_params(labelsize=7)
    axes.set_ylabel("mean turnaround / IET", fontsize=8)
    top = _TALLEST * float(cell.loc[cell["policy"] != "FCFS", "slowdown"].max())
    axes.set_ylim(0, top if cell["slowdown"].max() > top else None)
    for bar in axes.patches:
        if isinstance(bar, Rectangle) and bar.get_height() > top:  # beyond the picture: its number instead
            axes.annotate(
                f"{bar.get_height():.1f}",
                (bar.get_x() + bar.get_width() / 2, top),
                (0, -9),
                textcoords="offset points",
                ha="center",
                fontsize=7,
                color="white",
            )
