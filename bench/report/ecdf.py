"""The picture of `hindsched score`: the empirical distribution of each policy's ratios."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import log
from typing import TYPE_CHECKING

import numpy as np

from hindsched.bench.results.curves import ecdf

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["draw_ecdf"]

_CRITERION_COLOURS = {"P": "#0072B2", "E": "#D55E00", "Y": "#009E73", "": "#000000"}
_HEURISTIC_DASHES = {"IP": "-", "IE": "--", "IY": "-.", "IAY": ":"}
_RANDOM_COLOUR, _OTHER_COLOURS = "#999999", ("#CC79A7", "#E69F00", "#56B4E9")


def draw_ecdf(axes: Axes, ratios: pd.DataFrame, policies: Sequence[str], *, xlabel: str, title: str = "") -> Axes:
    """Draw for each policy the share of its runs whose ratio is at most x.

    Unfinished runs stay in the denominator, so a curve ends below 1 by their share. If a ratio is an interval, its
    upper end counts, so the true curve is on or above the one drawn.

    Parameters
    ----------
    axes
        The axes.
    ratios
        As returned by `hindsched.bench.results.ratios.with_ratios`.
    policies
        The policies with a curve, in the order of the legend.
    xlabel, title
        Label of the axis, and title.
    """
    known = ratios["high"].to_numpy()
    top = float(max(known[np.isfinite(known)], default=1.0))
    right = max(top**1.03, 1.05)
    left = right**-0.015  # optimal runs show next to the frame
    for policy, (colour, dash) in _styles(policies).items():
        highs = ratios.loc[ratios["policy"] == policy, "high"].to_numpy()
        finite = highs[np.isfinite(highs)]
        if not len(finite):
            continue
        x, share = ecdf(finite, total=len(highs))
        axes.step(
            [left, *x, right],
            [0.0, *share, share[-1]],
            where="post",
            label=policy,
            color=colour,
            linestyle=dash,
            linewidth=1.5,
        )
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(0.0, 1.02)
    ticks = _ratio_ticks(top)
    axes.set_xticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(f"{xlabel} (log scale)")
    axes.set_ylabel("share of runs")
    axes.set_title(title, loc="left", fontsize=10)
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)
    return axes


def _styles(policies: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return colour and dash: by criterion and builder for the paper's heuristics, from a cycle for others."""
    styles: dict[str, tuple[str, str]] = {}
    others = product(_HEURISTIC_DASHES.values(), _OTHER_COLOURS)
    for policy in policies:
        criterion, _, builder = policy.rpartition("-")
        if criterion in _CRITERION_COLOURS and builder in _HEURISTIC_DASHES:
            styles[policy] = _CRITERION_COLOURS[criterion], _HEURISTIC_DASHES[builder]
        elif policy == "RANDOM":
            styles[policy] = _RANDOM_COLOUR, "-"
        else:
            dash, colour = next(others, ("-", "#000000"))
            styles[policy] = colour, dash
    return styles


def _ratio_ticks(top: float) -> list[float]:
    """Return ticks of a logarithmic axis from 1 to ``top`` whose labels leave room for each other."""
    ticks = [1.0]
    for tick in (1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000):
        if tick <= top * 1.05 and log(tick / ticks[-1]) >= 0.06 * log(top * 1.05):
            ticks.append(tick)
    return ticks
