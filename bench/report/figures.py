"""Figures and tables of a report, each also written as a file next to the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsched.bench.family import AnyFamily, family_named
from hindsched.bench.report import canvas, ratio_plots, tables
from hindsched.bench.report.formatting import joined, plural
from hindsched.bench.report.html import Figure, PageTable
from hindsched.bench.report.report_files import Files
from hindsched.bench.results.bootstrap import cluster_words
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.ratio_statistics import distribution, in_median_order
from hindsched.bench.results.summary import NOTE

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["by_parameter", "curves", "curves_of", "panel_title", "panels_of", "ranges", "ratio_label", "ratios_of"]


def ranges(overall: pd.DataFrame, family: AnyFamily, files: Files) -> Figure:
    """Return the figure of a section's summary: the distribution of each policy's ratios."""
    order = in_median_order(overall)
    drawing, (axes,) = canvas.new_figure(width=ratio_plots.WIDTH, heights=(0.75 + 0.21 * len(order),))
    ratio_plots.draw_ranges(axes, order, xlabel=ratio_label(family, "hindsight optimum"))
    return Figure(
        "Ratios to the optimum",
        "Bar: the middle half of the runs. Mark: their median. Diamond: the mean of the finished runs"
        + (", and its 95% interval." if overall["ci_low"].notna().any() else ".")
        + (" Arrow: the third quartile falls on unfinished runs." if overall["unfinished"].any() else ""),
        [files.picture("ranges", "", drawing)],
    )


def ratio_label(family: AnyFamily, other: str) -> str:
    """Return the label of an axis of ratios, which are at least 1 when minimising and when maximising."""
    return f"{family.heading} / {other}" if family.sense == "min" else f"{other} / {family.heading}"


def ratios_of(ratios: pd.DataFrame, overall: pd.DataFrame, middle: pd.DataFrame, files: Files) -> PageTable:
    """Return the table of ratios."""
    order = in_median_order(overall)
    columns = ["policy", "median_ci_low", "median_ci_high", "behind_best_low", "behind_best_high"]
    named = dict(zip(["policy", "ci_low", "ci_high", "behind_low", "behind_high"], columns, strict=True))
    file = files.table("ratios", order.merge(middle.rename(columns=named)[columns], on="policy"))
    note = NOTE.format(clusters=cluster_words(ratios))
    return tables.ratio_table(order, caption="Competitive ratios", file=file, note=note)


def curves_of(ratios: pd.DataFrame, family: AnyFamily, files: Files) -> Figure:
    """Return the figure of the distribution of ratios; an unfinished run has an infinite ratio."""
    wide = ratios.pivot_table(index="fingerprint", columns="policy", values="high", dropna=False, sort=False)
    return curves("ecdf", wide, family, files)


def curves(name: str, wide: pd.DataFrame, family: AnyFamily, files: Files) -> Figure:
    """Return a figure of curves of ratios, one panel for each group of policies.

    Parameters
    ----------
    name
        ``ecdf`` for ratios to the optimum, ``profile`` for ratios to the best heuristic.
    wide
        One row per instance, one column per policy; infinite for a run that did not finish.
    family
        The family of the policies.
    files
        Files for the pictures and the numbers.
    """
    wide = wide[in_order(wide.columns.to_numpy(), family.name)]
    shown_together = panels_of(wide.columns.to_list(), family.name)
    ends = {title: ratio_plots.upper_end(wide[shown]) for title, shown in shown_together.items()}
    steps = ratio_plots.curves(wide, max(ends.values()))
    files.table(name, steps)
    panels = []
    is_ecdf = name == "ecdf"
    ylabel = f"share of {'runs' if is_ecdf else 'instances'}"
    xlabel = ratio_label(family, "hindsight optimum" if is_ecdf else "best policy's")
    for title, shown in shown_together.items():
        drawing, (axes,) = canvas.new_figure(width=ratio_plots.WIDTH, heights=(ratio_plots.panel_height(shown),))
        ratio_plots.draw_curves(axes, steps, shown, right=ends[title], xlabel=f"{xlabel} (log scale)", ylabel=ylabel)
        panels.append(files.picture(f"{name}-{title}", panel_title(title), drawing))
    band = " Grey: the range of all policies. Each panel has its own axes." if len(panels) > 1 else ""
    if is_ecdf:
        return Figure(
            "Share of runs within a factor of the optimum",
            "Empirical distribution of the ratio over all runs on instances that some schedule finishes: the "
            "Dolan–Moré profile relative to the optimum. "  # noqa: RUF001
            "A curve ends below 1 if runs are unfinished or lie beyond the axis. "
            f"Higher is better.{band}",
            panels,
        )
    return Figure(
        "Performance profiles of the policies",
        f"Dolan–Moré: the share of instances on which {xlabel} is at most x. "  # noqa: RUF001
        "The value at x = 1 is the share of instances on which a policy is best. Over "
        f"{plural(len(wide), 'instance')} that every policy ran on and some policy finished.{band}",
        panels,
    )


def panels_of(policies: Sequence[str], family: str) -> dict[str, list[str]]:
    """Return the policies of each panel: the groups of the family, split where a panel would be too full."""
    policies = in_order(policies, family)
    if len(policies) <= ratio_plots.MOST_CURVES:
        return {"all": list(policies)}
    found: dict[str, list[str]] = {}
    for name, group in (family_named(family).report.groups(policies) or {"policies": list(policies)}).items():
        parts = [
            group[start : start + ratio_plots.MOST_CURVES] for start in range(0, len(group), ratio_plots.MOST_CURVES)
        ]
        for number, part in enumerate(parts, start=1):
            found[name if len(parts) == 1 else f"{name} {number}"] = part
    return found


def panel_title(name: str) -> str:
    """Return the title of a panel of policies."""
    if name == "all":
        return ""
    return name.capitalize() if name.startswith(("others", "policies")) else f"{name} and policies built on it"


def by_parameter(
    ratios: pd.DataFrame, overall: pd.DataFrame, family: AnyFamily, files: Files
) -> list[Figure | PageTable]:
    """Return the median ratios by each parameter with several values, and folded tables of the distributions."""
    by_name = {}
    for name in family.panels:
        if len(ratios.loc[ratios[family.panels[0]].notna(), name].unique()) > 1:
            by_name[name] = distribution(ratios, [name])
    if not by_name:
        return []
    order = in_median_order(overall)["policy"].tolist()
    items: list[Figure | PageTable] = [
        tables.by_parameter(
            by_name,
            order,
            caption=f"Median ratio by {joined(list(by_name))}",
            note="Over all runs with that value of the parameter. Darker cells are farther from the optimum. The "
            "second line is the share of unfinished runs (unf.), if any.",
        )
    ]
    for name, table in by_name.items():
        file = files.table(f"ratios-by-{name}", table)
        items.append(tables.ratio_table(table, caption=f"Competitive ratios by {name}", file=file, is_folded=True))
    if len(by_name) > 1:
        files.table("ratios-by-point", distribution(ratios, family.panels))
    return items
