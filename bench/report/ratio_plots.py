"""Plots of ratios for reports: each function draws one panel, from a frame of numbers, on the given axes.

A panel is small enough for a column of a page or a phone, and has few curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, log
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from hindsched.bench.results.curves import ecdf, thinned
from hindsched.bench.results.records import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = [
    "MOST_CURVES",
    "WIDTH",
    "curves",
    "draw_curves",
    "draw_diff",
    "draw_ranges",
    "panel_height",
    "short_names",
    "upper_end",
]

#: A dash of matplotlib: its name, or an offset with the lengths of dashes and gaps.
Dash: TypeAlias = str | tuple[int, tuple[float, ...]]

#: Width of a panel, in inches.
WIDTH = 4.0
#: Largest number of curves in a panel.
MOST_CURVES = 5
#: Largest length of a name; the middle of a longer one is left out.
_LONGEST_NAME = 22
_BAND, _GRID, _INK = "#e4e4e4", "#b8b8b8", "#000000"
#: Colour and dash of a criterion, and marker of a passive heuristic: the same in every picture.
_CRITERIA: dict[str, tuple[str, Dash]] = {
    "": (_INK, "-"),
    "P": ("#0072B2", (0, (5, 1.4))),
    "E": ("#D55E00", "-"),
    "Y": ("#009E73", (0, (2.2, 1.1))),
}
_MARKERS = {"IE": "o", "IAY": "s", "IY": "^", "IP": "D"}
_RANDOM: tuple[str, Dash, str] = ("#999999", "-", "x")
_OTHERS: tuple[tuple[str, Dash], ...] = (
    ("#CC79A7", "-"),
    ("#E69F00", "-"),
    ("#0072B2", (0, (1, 1))),
    ("#CC79A7", (0, (4, 1))),
    ("#E69F00", (0, (4, 1))),
)
#: Ticks of an axis of ratios, from fine to coarse; the first that leave room for their labels are used.
_TICKS = (
    (1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3),
    (1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6),
    (1, 1.25, 1.5, 1.75, 2, 2.5, 3),
    (1, 1.5, 2, 2.5, 3, 4, 5),
    (1, 1.5, 2, 3, 5, 7, 10),
    (1, 2, 3, 5, 10, 20, 30, 50, 100),
    (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    (1, 10, 100, 1000, 10_000, 100_000, 1_000_000),
)
#: Smallest distance of two ticks, as a share of the axis.
_ROOM = 0.1
#: Number of letters in a line of a legend.
_LETTERS = 54


def short_names(policies: Sequence[str], built_in: Sequence[str] = ()) -> dict[str, str]:
    """Return names that fit a picture, as short as they stay different from each other and from the paper's.

    Examples
    --------
    >>> short_names(["IE", "my/own.py:Fast", "a.py:Slow", "b.py:Slow"])
    {'IE': 'IE', 'my/own.py:Fast': 'Fast', 'a.py:Slow': 'a.py:Slow', 'b.py:Slow': 'b.py:Slow'}
    >>> short_names(["x.py:AHeuristicWithAVeryLongNameIndeed"])
    {'x.py:AHeuristicWithAVeryLongNameIndeed': 'AHeuristicWi…meIndeed'}
    """
    names = {policy: policy for policy in policies}
    for shorten in (lambda name: name.rpartition("/")[2], lambda name: name.rpartition(":")[2], _clipped):
        shorter = {policy: shorten(name) for policy, name in names.items()}
        taken = [*shorter.values(), *(policy for policy in built_in if policy not in names)]
        names = {policy: name if taken.count(name) == 1 else names[policy] for policy, name in shorter.items()}
    return names


def _clipped(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:12]}…{name[-8:]}"


def panel_height(shown: Sequence[str]) -> float:
    """Return the height of a panel with its legend, in inches."""
    names = list(short_names(shown).values())
    return 2.45 + 0.16 * ceil(len(names) / _legend_columns(names))


def upper_end(ratios: pd.DataFrame) -> float:
    """Return the end of an axis of ratios: 90 % of the finished runs of each policy but RANDOM are below.

    Parameters
    ----------
    ratios
        One column per policy; infinite for a run that did not finish.
    """
    named = [policy for policy in ratios if policy != "RANDOM"] or list(ratios)
    ends = []
    for policy in named:
        known = ratios[policy].to_numpy()
        known = known[np.isfinite(known)]
        if len(known):
            ends.append(float(np.quantile(known, 0.9)))
    return max(1.5, 1.05 * max(ends, default=1.0))


def curves(ratios: pd.DataFrame, right: float) -> pd.DataFrame:
    """Return the share of runs whose ratio is at most x, at each visible step up to ``right``.

    Parameters
    ----------
    ratios
        One column per policy; infinite for an unfinished run, missing where there was no run.
    right
        End of the logarithmic axis, which begins at 1.

    Returns
    -------
    pandas.DataFrame
        ``policy``, ``ratio`` and ``share``, increasing in both.
    """
    import pandas as pd

    parts = []
    for policy in ratios:
        known = ratios[policy].dropna().to_numpy()
        x, share = ecdf(known[known <= right].tolist(), total=max(len(known), 1))
        x, share = thinned(x, share, left=1.0, right=right, points=600)
        parts.append(pd.DataFrame({"policy": policy, "ratio": x, "share": share}))
    return pd.concat(parts, ignore_index=True)


def draw_curves(
    axes: Axes, steps: pd.DataFrame, shown: Sequence[str], *, right: float, xlabel: str, ylabel: str = "share of runs"
) -> Axes:
    """Draw the curves of a few policies over the range of all policies.

    Parameters
    ----------
    axes
        The axes.
    steps
        The result of `curves`, for all policies.
    shown
        The policies with a line; a grey band shows the range of all policies.
    right
        End of the axis.
    xlabel, ylabel
        Labels of the axes.
    """
    steps = steps[steps["ratio"] <= right]
    policies = list(steps["policy"].unique())
    left = right**-0.015  # optimal runs show next to the frame
    if len(policies) > len(shown):
        grid = np.geomspace(1.0, right, 160)
        shares = np.array([_at(steps[steps["policy"] == policy], grid) for policy in policies])
        axes.fill_between(grid, shares.min(axis=0), shares.max(axis=0), step="post", color=_BAND, linewidth=0)
    names = short_names(shown)
    handles: list[Artist] = []
    for policy, (colour, dash) in _lines(shown).items():
        own = steps[steps["policy"] == policy]
        last = own["share"].iloc[-1] if len(own) else 0.0
        handles += axes.plot(
            [left, *own["ratio"], right],
            [0.0, *own["share"], last],
            drawstyle="steps-post",
            color=colour,
            linestyle=dash,
            linewidth=1.5,
        )
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(0.0, 1.02)
    _set_ticks(axes, right)
    _finish(axes, handles, [names[policy] for policy in shown], xlabel, ylabel)
    return axes


def draw_diff(axes: Axes, table: pd.DataFrame, shown: Sequence[str], *, reference: str, title: str = "") -> Axes:
    """Draw %diff against wmin for a few policies, as in the paper's Figure 2.

    Parameters
    ----------
    axes
        The axes.
    table
        The rows of one panel, as returned by `hindsched.bench.coupled.versus.diff_by_wmin`.
    shown
        The policies with a line.
    reference
        The policy on the line at zero.
    title
        Title above the legend.
    """
    from matplotlib.ticker import MaxNLocator

    names = short_names(shown)
    axes.axhline(0, color=_INK, linewidth=0.9)
    handles: list[Artist] = []
    for policy, (colour, dash, marker) in _looks(shown).items():
        own = table[table["policy"] == policy].sort_values("wmin")
        x, y = own["wmin"].to_numpy(dtype=float), own["diff"].to_numpy(dtype=float)
        handles += axes.plot(
            x,
            y,
            color=colour,
            linestyle=dash,
            linewidth=1.3,
            marker=marker,
            markersize=3.4,
            markerfacecolor=colour if marker == "o" else "white",
        )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10))
    _finish(axes, handles, [names[policy] for policy in shown], "wmin", f"%diff to {reference}", title)
    return axes


def draw_ranges(axes: Axes, table: pd.DataFrame, *, xlabel: str) -> Axes:
    """Draw the middle half of each policy's ratios, their median, and their mean with its interval.

    Parameters
    ----------
    axes
        The axes; the first row of the table is at the top.
    table
        As returned by `hindsched.bench.results.ratio_statistics.distribution`, for one point. If a quartile falls on
        unfinished runs, the bar ends in an arrow to the right.
    xlabel
        Label of the axis.
    """
    names = short_names(list(table["policy"]))
    known = table[["quartile_1_low", "median_low", "quartile_3_low", "ci_high", "mean_low"]].to_numpy(dtype=float)
    finite = known[np.isfinite(known)]
    right = max(1.2, 1.06 * finite.max(initial=1.0))
    for place, row in enumerate(records(table)):
        end = row["quartile_3_high"]
        start = min(row["quartile_1_low"], right) if np.isfinite(row["quartile_1_low"]) else right
        stop = end if np.isfinite(end) else right
        axes.plot([start, stop], [place, place], color="#56B4E9", linewidth=6, solid_capstyle="butt")
        if not np.isfinite(end):
            axes.plot([right], [place], marker=">", color="#56B4E9", markersize=6, clip_on=False)
        if np.isfinite(row["median_high"]):
            between = [row["median_low"], row["median_high"]]
            axes.plot(between, [place, place], color=_INK, linewidth=6, solid_capstyle="butt")
            axes.plot([row["median_low"]], [place], marker="|", color=_INK, markersize=7.5, markeredgewidth=1.8)
        below = place + 0.36
        if np.isfinite(row["ci_low"]) and np.isfinite(row["ci_high"]):
            axes.plot([row["ci_low"], row["ci_high"]], [below, below], color="#D55E00", linewidth=1.1)
        if np.isfinite(row["mean_low"]):
            axes.plot([row["mean_low"]], [below], marker="D", markersize=2.6, color="#D55E00")
        if row["unfinished"]:
            share = row["unfinished"] / row["runs"]
            text = f"{share:.0%}" if share >= 0.01 else "<1%"
            axes.text(1.04, place, text, transform=axes.get_yaxis_transform(), fontsize=8, va="center", color=_INK)
    if table["unfinished"].any():
        axes.text(1.04, -0.9, "unfinished", transform=axes.get_yaxis_transform(), fontsize=8, va="center", ha="left")
    axes.set_xscale("log")
    axes.set_xlim(right**-0.02, right)
    _set_ticks(axes, right)
    axes.set_ylim(len(table) - 0.4, -0.5)
    axes.set_yticks(range(len(table)), labels=[_plain(names[policy]) for policy in table["policy"]], fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=_GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel(f"{xlabel} (log scale)", fontsize=9)
    axes.tick_params(axis="x", labelsize=8.5)
    return axes


def _finish(
    axes: Axes, handles: Sequence[Artist], names: Sequence[str], xlabel: str, ylabel: str, title: str = ""
) -> None:
    axes.set_xlabel(_plain(xlabel), fontsize=9)
    axes.set_ylabel(_plain(ylabel), fontsize=9)
    axes.tick_params(labelsize=8.5)
    axes.grid(color=_GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        handles,
        [_plain(name) for name in names],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=_legend_columns(names),
        fontsize=9,
        title=_plain(title) or None,
        title_fontsize=9,
        alignment="left",
        frameon=False,
        handlelength=2.0,
        handletextpad=0.5,
        columnspacing=1.2,
        borderaxespad=0.1,
    )


def _looks(policies: Sequence[str]) -> dict[str, tuple[str, Dash, str]]:
    """Return colour, dash and marker of each policy."""
    looks: dict[str, tuple[str, Dash, str]] = {}
    others = 0
    for policy in policies:
        criterion, _, builder = policy.rpartition("-")
        if criterion in _CRITERIA and builder in _MARKERS:
            looks[policy] = (*_CRITERIA[criterion], _MARKERS[builder])
        elif policy == "RANDOM":
            looks[policy] = _RANDOM
        else:
            looks[policy] = (*_OTHERS[others % len(_OTHERS)], "v")
            others += 1
    return looks


def _lines(policies: Sequence[str]) -> dict[str, tuple[str, Dash]]:
    """Return colour and dash of curves without markers; where two would look the same, all come from a cycle."""
    lines = {policy: look[:2] for policy, look in _looks(policies).items()}
    if len(set(lines.values())) < len(lines):
        lines = dict(zip(lines, (*_CRITERIA.values(), *_OTHERS), strict=False))
    return lines


def _set_ticks(axes: Axes, right: float) -> None:
    """Set the finest ticks of a logarithmic axis from 1 whose labels do not overlap."""
    for wanted in _TICKS:
        ticks = [tick for tick in wanted if tick <= right]
        gaps = [log(after / before) for before, after in pairwise(ticks)]
        if max(wanted) * 1.5 >= right and min(gaps, default=1.0) >= _ROOM * log(right):
            break
    axes.set_xticks(ticks, labels=[f"{tick:,.10g}" for tick in ticks])
    axes.set_xticks([], minor=True)


def _legend_columns(names: Sequence[str]) -> int:
    return max(1, min(4, len(names), _LETTERS // (max(map(len, names), default=0) + 6)))


def _plain(text: str) -> str:
    """Return text that matplotlib does not read as a formula."""
    return text.replace("$", r"\$")


def _at(steps: pd.DataFrame, grid: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return a curve's share at each point of a grid."""
    place = np.searchsorted(steps["ratio"].to_numpy(), grid, side="right")
    return np.concatenate([[0.0], steps["share"].to_numpy()])[place]
