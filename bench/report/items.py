"""What stands in a section of a report: pictures and tables of the same frames, each also a file beside the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bench.coupled.versus import diff_by_wmin, in_order, versus
from bench.report import pictures, plots, tables, words
from bench.report.example import Example
from bench.report.html import Figure, PageTable
from bench.report.svg import inline_svg
from bench.results.distributions import distribution, in_median_order
from instances.errors import InputError
from instances.textio import write_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

__all__ = ["Files", "against", "by_parameter", "curves", "drawn_example", "of_ratios", "ranges"]

#: So many heuristics are drawn where a panel is a point of the experiment.
_BEST = 6


class Files:
    """The files beside the page; what is shown on the page is what is written."""

    def __init__(self, folder: Path) -> None:
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
        write_text(path, frame.to_csv(index=False, lineterminator="\n"))
        return path.name

    def picture(self, name: str, title: str, drawing: Drawing) -> tuple[str, str, str]:
        """Write a picture and return a panel of a `Figure`."""
        path = self._path(f"{name}.svg")
        plots.save(drawing, path)
        return title, path.name, inline_svg(path.read_text(encoding="utf-8"), path.stem)

    def _path(self, name: str) -> Path:
        path = self.folder / (self.prefix + re.sub(r"[^\w.+-]+", "-", name))
        self.written.append(path)
        return path


def ranges(overall: pd.DataFrame, files: Files) -> Figure:
    """Return the picture of a section's summary: how far each heuristic is from the optimum."""
    order = in_median_order(overall)
    drawing, (axes,) = plots.new_figure(width=pictures.WIDTH, heights=(0.75 + 0.21 * len(order),))
    pictures.draw_ranges(axes, order)
    return Figure(
        "How far from the optimum",
        "Bar: the middle half of the runs. Mark: their median. Diamond: the mean of the finished runs, and its 95% "
        "interval." + (" Arrow: the third quartile falls on unfinished runs." if overall["unfinished"].any() else ""),
        [files.picture("ranges", "", drawing)],
    )


def of_ratios(
    ratios: pd.DataFrame, overall: pd.DataFrame, middle: pd.DataFrame, files: Files
) -> list[Figure | PageTable]:
    """Return the table of ratios and their curves."""
    order = in_median_order(overall)
    columns = ["policy", "median_ci_low", "median_ci_high", "behind_best_low", "behind_best_high"]
    named = dict(zip(["policy", "ci_low", "ci_high", "behind_low", "behind_high"], columns, strict=True))
    file = files.table("ratios", order.merge(middle.rename(columns=named)[columns], on="policy"))
    table = tables.ratio_table(
        order,
        caption="Competitive ratios",
        file=file,
        note="Quartiles and shares are over all runs: one that did not finish is more than its slot limit over the "
        "optimum. The mean is over finished runs only. Where something is not proven, from–to or ≥ is given, and "  # noqa: RUF001
        "shares count what is proven. The interval is a bootstrap of the mean over scenarios.",
    )
    # each instance once a policy; an unfinished run is infinitely far off
    wide = ratios.pivot_table(index="fingerprint", columns="policy", values="high", dropna=False, sort=False)
    return [table, curves("ecdf", wide, files)]


def curves(name: str, wide: pd.DataFrame, files: Files) -> Figure:
    """Return curves of ratios, a panel for each family of heuristics.

    Parameters
    ----------
    name
        ``ecdf`` for ratios to the optimum, ``profile`` for ratios to the best heuristic.
    wide
        One row per instance, one column per policy; infinite for a run that did not finish.
    files
        Where the pictures and the numbers go.
    """
    wide = wide[in_order(wide.columns.to_numpy())]
    families = pictures.families(wide.columns.to_list())
    ends = {title: pictures.upper_end(wide[shown]) for title, shown in families.items()}
    steps = pictures.curves(wide, max(ends.values()))
    files.table(name, steps)
    panels = []
    is_ecdf = name == "ecdf"
    ylabel = f"share of {'runs' if is_ecdf else 'instances'}"
    xlabel = "makespan / hindsight optimum" if is_ecdf else "makespan / best heuristic's"
    for title, shown in families.items():
        drawing, (axes,) = plots.new_figure(width=pictures.WIDTH, heights=(pictures.panel_height(shown),))
        pictures.draw_curves(axes, steps, shown, right=ends[title], xlabel=f"{xlabel} (log scale)", ylabel=ylabel)
        panels.append(files.picture(f"{name}-{title}", _panel_title(title), drawing))
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
        "Dolan–Moré: the share of instances on which a heuristic's makespan is at most x times the best "  # noqa: RUF001
        "heuristic's. At x = 1: how often it is the best, or as good. Over "
        f"{words.plural(len(wide), 'instance')} that all were run on and one at least finished.{band}",
        panels,
    )


def _panel_title(family: str) -> str:
    if family == "all":
        return ""
    return family.capitalize() if family.startswith("others") else f"{family} and those built on it"


def by_parameter(ratios: pd.DataFrame, overall: pd.DataFrame, files: Files) -> list[Figure | PageTable]:
    """Return the median ratios by m, n_com and wmin, where there are several of them, and all else folded."""
    by_name = {}
    for name in ("m", "n_com", "wmin"):
        if len(ratios.loc[ratios["m"].notna(), name].unique()) > 1:
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
        files.table("ratios-by-point", distribution(ratios, ["m", "n_com", "wmin"]))
    return items


def against(runs: pd.DataFrame, metrics: pd.DataFrame, reference: str, files: Files) -> list[Figure | PageTable]:
    """Return the metrics against a reference, over all runs and for each m, and %diff against wmin."""
    note = (
        f"#fails: runs that reach the slot limit. %diff: mean over scenarios of the difference to {reference}, "
        "relative to the smaller of the two, of means over the trials that both finish; below 0 is faster. %wins, "
        f"%wins30: scenarios in which the mean is at most {reference}'s, and at most 30% above. stdv: of %diff. "
        "Scenarios: those compared, of those run."
    )
    file = files.table("versus", metrics)
    items: list[Figure | PageTable] = [
        tables.versus_table(
            metrics, caption=f"Against {reference}, as in the paper's Tables I and II", file=file, note=note
        )
    ]
    values = sorted(runs["m"].dropna().unique().tolist())
    if len(values) > 1:
        for m in values:
            mine = runs[(runs["m"] == m).fillna(False)]
            if (mine["policy"] == reference).any():
                table = versus(mine, reference)
                file = files.table(f"versus-m{m}", table)
                items.append(
                    tables.versus_table(table, caption=f"Against {reference}, m = {m}", file=file, is_narrow=True)
                )
    items += _by_wmin(runs, metrics, reference, files)
    return items


def _by_wmin(runs: pd.DataFrame, metrics: pd.DataFrame, reference: str, files: Files) -> list[Figure | PageTable]:
    together = diff_by_wmin(runs, reference, panels=())
    if together["wmin"].nunique() < 2 or together.loc[together["policy"] != reference, "diff"].isna().all():
        return []
    files.table("diff-by-wmin", together)
    policies = [policy for policy in in_order(metrics["policy"].to_list()) if policy != reference]
    panels = []
    for title, shown in pictures.families(policies).items():
        drawing, (axes,) = plots.new_figure(width=pictures.WIDTH, heights=(pictures.panel_height(shown),))
        pictures.draw_diff(axes, together, shown, reference=reference)
        panels.append(files.picture(f"diff-{title}", _panel_title(title), drawing))
    items: list[Figure | PageTable] = [
        Figure(
            f"Difference to {reference} as tasks grow",
            f"%diff against wmin over all runs, as in the paper's Figure 2; {reference} is the line at 0. The panels "
            "have scales of their own.",
            panels,
        )
    ]
    parted = diff_by_wmin(runs, reference)
    points = list(parted.groupby(["m", "n_com"], dropna=False, sort=True))
    if len(points) > 1:
        files.table("diff-by-point", parted)
        known = metrics[(metrics["policy"] != reference) & metrics["diff"].notna()]
        best = known.sort_values("diff", kind="stable")["policy"].tolist()[:_BEST]
        panels = []
        for (m, n_com), table in points:
            drawing, (axes,) = plots.new_figure(width=pictures.WIDTH, heights=(pictures.panel_height(best),))
            pictures.draw_diff(axes, table, best, reference=reference)
            point = f"m = {tables.parameter(m)}, n_com = {tables.parameter(n_com)}"
            panels.append(files.picture(f"diff-m{tables.parameter(m)}-ncom{tables.parameter(n_com)}", point, drawing))
        items.append(
            Figure(
                f"Difference to {reference} by m and n_com",
                f"The {len(best)} heuristics with the least %diff over all runs.",
                panels,
            )
        )
    return items


def drawn_example(example: Example, files: Files) -> Figure:
    """Return the picture of a run beside the optimum."""
    slots = max(example.run.slots, example.best.slots)
    height = min(20.0, 0.7 + 0.2 * example.instance.num_workers)
    drawing, panels = plots.new_figure(2, width=max(8.0, 1.6 + 0.075 * slots), heights=(height, height + 0.3))
    shown = ((example.best, example.of_best, "hindsight optimum"), (example.run, example.of_run, example.policy))
    for axes, (schedule, verdict, who) in zip(panels, shown, strict=True):
        title = f"{who}: makespan {verdict.outcome.makespan}"
        is_last = axes is panels[-1]
        plots.draw_gantt(
            axes, example.instance, schedule, ends=verdict.outcome.ends, title=title, slots=slots, legend=is_last
        )
    gap = (example.of_run.outcome.makespan or 0) / (example.of_best.outcome.makespan or 1)
    return Figure(
        f"{example.policy} on {example.name}",
        f"The worst run of the best heuristic among those of at most 120 slots: {tables.number(gap)} times the "
        "optimum. A row is a worker; hatched: RECLAIMED, plain grey: DOWN; a vertical line: an iteration ends.",
        [files.picture("example", "", drawing)],
        is_wide=True,
    )
