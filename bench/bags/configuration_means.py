"""Average the runs of each configuration of the experiment over its starts, and draw the averages as bars.

A configuration is a set of machines, a kind of store, a part of the week and a bag (tasks, reference seconds,
checkpoints). Files call it a cell.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING, Any

from hindsched.bench.report import canvas
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.ratios import with_ratios
from hindsched.bench.results.records import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLUMNS", "CONFIGURATION", "ORACLE", "configuration_means", "draw_bars", "in_table_order", "optima"]

#: Name of the predicting scheduler where its predictor is an oracle.
ORACLE = "FCFS-PRDCT-DMD (oracle)"

#: Upper end of a chart, in heights of the tallest bar except those of FCFS, which can be far taller.
_TALLEST = 1.4

#: Columns that name a configuration.
CONFIGURATION = ("machines", "store", "when", "tasks", "reference_s", "checkpoints")
COLUMNS = (
    *(*CONFIGURATION, "policy", "starts", "unfinished"),
    *("minutes", "slowdown", "ratio_low", "ratio_high", "worst", "optimal", "optimum_slowdown", "proven"),
)


def configuration_means(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the means of every configuration and policy.

    Parameters
    ----------
    runs
        As in `bench.results.columns.Results`, of the sources of `bench.bags.paper` and `bench.bags.spot_zones`.

    Returns
    -------
    pandas.DataFrame
        One row per configuration and policy, rounded to five decimals: the columns of `CONFIGURATION`; ``policy``;
        ``starts``, the number of runs; ``unfinished``, how many of them did not finish; means over finished runs of
        the turnaround in ``minutes``, of ``slowdown`` (turnaround / IET) and of turnaround / OPT (``ratio_low``,
        ``ratio_high``: the two ends where OPT is not proven); ``worst``, the greatest ``ratio_high`` of a run;
        ``optimal``, the number of runs proven optimal; ``optimum_slowdown``, the mean of OPT / IET over the starts
        with a proven optimum; ``proven``, the number of those starts. OPT allows saves on demand only for the
        predicting scheduler.
    """
    import pandas as pd

    runs = runs.assign(**dict(zip(CONFIGURATION[:3], _parts_of_names(runs["population"]), strict=True)))
    ratios = with_ratios(runs)
    runs.loc[runs["predictor"] == "oracle", "policy"] = ORACLE
    runs["low"], runs["high"] = ratios["low"], ratios["high"]
    runs["optimum_slowdown"] = (runs["optimum"] / runs["iet"].astype(float)).where(runs["optimum_status"] == "optimal")
    rows = []
    for configuration, group in runs.groupby(list(CONFIGURATION), sort=True):
        for policy in in_table_order(group["policy"].unique()):
            mine = group[group["policy"] == policy]
            done = mine[mine["value"].notna()]
            rows.append(
                {
                    **dict(zip(CONFIGURATION, configuration, strict=True)),
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


def in_table_order(policies: Iterable[str]) -> list[str]:
    """Return policies in the order of tables, with `ORACLE` after FCFS-PRDCT-DMD."""
    names = in_order(list(policies), "bags")
    if ORACLE in names:
        names.remove(ORACLE)
        names.insert(names.index("FCFS-PRDCT-DMD") + 1, ORACLE)
    return names


def _parts_of_names(populations: pd.Series[Any]) -> list[list[str]]:
    """Return machines, store and part of the week from each population's name."""
    parts = [str(name).rsplit(" ", 2) for name in populations]
    return [[part[i] for part in parts] for i in range(3)]


def optima(means: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of OPT / IET without saves on demand, with a column per number of checkpoints."""
    mine = means[means["policy"] == "FCFS"]
    wide = mine.pivot_table(
        index=["machines", "store", "when", "tasks", "reference_s"], columns="checkpoints", values="optimum_slowdown"
    )
    wide.columns = [f"OPT/IET, {number} checkpoints" for number in wide.columns]
    return wide.reset_index()


def draw_bars(means: pd.DataFrame, machines: str, when: str) -> Figure:
    """Return a bar chart of a set of machines and a part of the week, with a panel per bag and all stores in it."""
    mine = means[(means["machines"] == machines) & (means["when"] == when)]
    bags = list(mine.groupby(["tasks", "reference_s"], sort=True))
    figure, panels = canvas.new_figure(len(bags), width=9.0, heights=(2.4,) * len(bags))
    for axes, ((tasks, reference_s), bag) in zip(panels, bags, strict=True):
        _draw_panel(axes, bag)
        axes.set_title(f"{machines}, {when}: {tasks} tasks of {reference_s} s", loc="left", fontsize=9)
    for axes in panels[:-1]:  # all panels have the same policies
        axes.set_xticklabels([])
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", fontsize=7, frameon=False, ncols=4)
    return figure


def _draw_panel(axes: Axes, bag: pd.DataFrame) -> None:
    from matplotlib.patches import Rectangle

    policies = in_table_order(bag["policy"].unique())
    stores, numbers = sorted(bag["store"].unique()), sorted(bag["checkpoints"].unique())
    series = list(product(stores, numbers))
    width = 0.85 / len(series)
    for i, (store, number) in enumerate(series):
        mine = bag[(bag["store"] == store) & (bag["checkpoints"] == number)]
        by_policy = {row["policy"]: row for row in records(mine)}
        known = [(place, by_policy[policy]) for place, policy in enumerate(policies) if policy in by_policy]
        places = [place + (i - (len(series) - 1) / 2) * width for place, _ in known]
        shade = (numbers.index(number) + 1) / len(numbers)  # more checkpoints, darker
        axes.bar(
            places,
            [row["slowdown"] for _, row in known],
            width=0.92 * width,
            color=_lighter(canvas.COLOURS[2 if store == "shared" else stores.index(store)], shade),
            label=f"{store}, {number} checkpoint{'' if number == 1 else 's'}",
        )
        label = "optimum of the same runs" if i == 0 else None
        axes.scatter(
            places,
            [row["optimum_slowdown"] for _, row in known],
            marker="_",
            s=500 * width,
            color="black",
            label=label,
            zorder=3,
        )
    axes.axhline(1.0, color="#999999", linewidth=0.8)
    axes.set_xticks(range(len(policies)), policies)
    axes.tick_params(labelsize=7)
    axes.set_ylabel("mean turnaround / IET", fontsize=8)
    top = _TALLEST * float(bag.loc[bag["policy"] != "FCFS", "slowdown"].max())
    axes.set_ylim(0, top if bag["slowdown"].max() > top else None)
    for bar in axes.patches:
        if isinstance(bar, Rectangle) and bar.get_height() > top:  # a clipped bar shows its height as a number
            axes.annotate(
                f"{bar.get_height():.2g}",
                (bar.get_x() + bar.get_width() / 2, top),
                (0, -9),
                textcoords="offset points",
                ha="center",
                fontsize=6,
                color="black",
            )


def _lighter(colour: str, shade: float) -> tuple[float, float, float]:
    """Return a colour mixed with white; a shade of 1 is the colour itself."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - (0.25 + 0.75 * shade) * (1 - part) for part in to_rgb(colour))
    return red, green, blue
