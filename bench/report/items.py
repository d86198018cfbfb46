"""What stands in a section of a report: pictures and tables of the same frames, each also a file beside the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsched.bench.family import Family, family_named
from hindsched.bench.report import pictures, plots, tables, words
from hindsched.bench.report.html import Figure, PageTable
from hindsched.bench.report.svg import inline_svg
from hindsched.bench.results.frames import in_order, records
from hindsched.bench.results.ratios import NOTE, cluster_words, csv_text, distribution, in_median_order
from hindsched.bench.results.show import HEADINGS, readable
from hindsched.instances.errors import InputError
from hindsched.instances.textio import write_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

__all__ = [
    "Files",
    "by_parameter",
    "curves",
    "curves_of",
    "panel_title",
    "panels_of",
    "ranges",
    "ratio_label",
    "ratios_of",
]


class Files:
    """The files beside the page; what is shown on the page is what is written."""

    def __init__(self, folder: Path, *, latex: bool = False) -> None:
        self.latex = latex
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=folder) from None
        self.folder = folder
        self.prefix = ""
        self.written: list[Path] = []

    def table(self, name: str, frame: pd.DataFrame) -> str:
        """Write a table and return its file."""
        path = self._path(f"{name}.csv")
        write_text(path, csv_text(frame))
        return path.name

    def picture(self, name: str, title: str, drawing: Drawing) -> tuple[str, str, str]:
        """Write a picture and return a panel of a `Figure`."""
        path = self._path(f"{name}.svg")
        plots.save(drawing, path)
        if self.latex:
            plots.save(drawing, self._path(f"{name}.pdf"))
        return title, path.name, inline_svg(path.read_text(encoding="utf-8"), path.stem)

    def ratio_table(self, overall: pd.DataFrame, family: Family) -> None:
        """Write the ratio table for a paper, if asked for: booktabs, with the cells that a terminal shows."""
        import pandas as pd

        if not self.latex or not len(overall):
            return
        rows = [readable(row, family.averages) for row in records(in_median_order(overall))]
        headings = HEADINGS | {name: f"mean {name}" for name in family.averages}
        cells = pd.DataFrame(rows)[list(headings)].rename(columns=headings).fillna("--").map(_for_latex)
        text = cells.to_latex(index=False, escape=True, column_format="l" + "r" * (len(headings) - 1))
        write_text(self._path("table.tex"), "% needs \\usepackage{booktabs}\n" + text)

    def _path(self, name: str) -> Path:
        path = self.folder / (self.prefix + re.sub(r"[^\w.+-]+", "-", name))
        self.written.append(path)
        return path


def _for_latex(cell: Any) -> str:
    return str(cell).replace(" - ", " to ").replace(">= ", "at least ").replace("..", " to ")


def ranges(overall: pd.DataFrame, family: Family, files: Files) -> Figure:
    """Return the picture of a section's summary: how far each heuristic is from the optimum."""
    order = in_median_order(overall)
    drawing, (axes,) = plots.new_figure(width=pictures.WIDTH, heights=(0.75 + 0.21 * len(order),))
    pictures.draw_ranges(axes, order, xlabel=ratio_label(family, "hindsight optimum"))
    return Figure(
        "How far from the optimum",
        "Bar: the middle half of the runs. Mark: their median. Diamond: the mean of the finished runs, and its 95% "
        "interval." + (" Arrow: the third quartile falls on unfinished runs." if overall["unfinished"].any() else ""),
        [files.picture("ranges", "", drawing)],
    )


def ratio_label(family: Family, beside: str) -> str:
    """Return what an axis of ratios shows: at least 1, whatever the sense."""
    return f"{family.heading} / {beside}" if family.sense == "min" else f"{beside} / {family.heading}"


def ratios_of(ratios: pd.DataFrame, overall: pd.DataFrame, middle: pd.DataFrame, files: Files) -> PageTable:
    """Return the table of ratios."""
    order = in_median_order(overall)
    columns = ["policy", "median_ci_low", "median_ci_high", "behind_best_low", "behind_best_high"]
    named = dict(zip(["policy", "ci_low", "ci_high", "behind_low", "behind_high"], columns, strict=True))
    file = files.table("ratios", order.merge(middle.rename(columns=named)[columns], on="policy"))
    note = NOTE.format(clusters=cluster_words(ratios))
    return tables.ratio_table(order, caption="Competitive ratios", file=file, note=note)


def curves_of(ratios: pd.DataFrame, family: Family, files: Files) -> Figure:
    """Return the curves of ratios: each instance counts once a policy, and an unfinished run is infinitely far off."""
    wide = ratios.pivot_table(index="fingerprint", columns="policy", values="high", dropna=False, sort=False)
    return curves("ecdf", wide, family, files)


def curves(name: str, wide: pd.DataFrame, family: Family, files: Files) -> Figure:
    """Return curves of ratios, a panel for each group of policies.

    Parameters
    ----------
    name
        ``ecdf`` for ratios to the optimum, ``profile`` for ratios to the best heuristic.
    wide
        One row per instance, one column per policy; infinite for a run that did not finish.
    family
        Whose policies they are.
    files
        Where the pictures and the numbers go.
    """
    wide = wide[in_order(wide.columns.to_numpy(), family.name)]
    shown_together = panels_of(wide.columns.to_list(), family.name)
    ends = {title: pictures.upper_end(wide[shown]) for title, shown in shown_together.items()}
    steps = pictures.curves(wide, max(ends.values()))
    files.table(name, steps)
    panels = []
    is_ecdf = name == "ecdf"
    ylabel = f"share of {'runs' if is_ecdf else 'instances'}"
    beside = "hindsight optimum" if is_ecdf else "best policy's"
    xlabel = ratio_label(family, beside)
    for title, shown in shown_together.items():
        drawing, (axes,) = plots.new_figure(width=pictures.WIDTH, heights=(pictures.panel_height(shown),))
        pictures.draw_curves(axes, steps, shown, right=ends[title], xlabel=f"{xlabel} (log scale)", ylabel=ylabel)
        panels.append(files.picture(f"{name}-{title}", panel_title(title), drawing))
    band = (
        " Grey: from the worst to the best of all heuristics. The panels have axes of their own."
        if len(panels) > 1
        else ""
    )
    if is_ecdf:
        return Figure(
            "Share of runs within a factor of the optimum",
            "Empirical distribution of the ratio over all runs on instances that some schedule finishes, which is the "
            "Dolan–Moré profile relative to the optimum. A curve ends below 1 by the runs that did not "  # noqa: RUF001
            f"finish or lie beyond the axis. The higher, the better.{band}",
            panels,
        )
    return Figure(
        "Performance profiles among the heuristics",
        f"Dolan–Moré: the share of instances on which {xlabel} is at most x. "  # noqa: RUF001
        "At x = 1: how often a policy is the best, or as good. Over "
        f"{words.plural(len(wide), 'instance')} that all were run on and one at least finished in full.{band}",
        panels,
    )


def panels_of(policies: Sequence[str], family: str) -> dict[str, list[str]]:
    """Return which policies are drawn together: those that belong together in the family, as many as fit a panel."""
    policies = in_order(policies, family)
    if len(policies) <= pictures.MOST_CURVES:
        return {"all": list(policies)}
    found: dict[str, list[str]] = {}
    for name, mine in (family_named(family).groups(policies) or {"policies": list(policies)}).items():
        parts = [mine[start : start + pictures.MOST_CURVES] for start in range(0, len(mine), pictures.MOST_CURVES)]
        for number, part in enumerate(parts, start=1):
            found[name if len(parts) == 1 else f"{name} {number}"] = part
    return found


def panel_title(name: str) -> str:
    """Return what stands above a panel of policies."""
    if name == "all":
        return ""
    return name.capitalize() if name.startswith(("others", "policies")) else f"{name} and those built on it"


def by_parameter(ratios: pd.DataFrame, overall: pd.DataFrame, family: Family, files: Files) -> list[Figure | PageTable]:
    """Return the median ratios by the family's parameters that have several values, and all else folded."""
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
            caption=f"Median ratio by {words.joined(list(by_name))}",
            note="Over all runs with that value, whatever the other parameters; the darker, the farther from the "
            "optimum. Below it the share of runs that did not finish (unf.), if any.",
        )
    ]
    for name, table in by_name.items():
        file = files.table(f"ratios-by-{name}", table)
        items.append(tables.ratio_table(table, caption=f"Competitive ratios by {name}", file=file, is_folded=True))
    if len(by_name) > 1:
        files.table("ratios-by-point", distribution(ratios, family.panels))
    return items
