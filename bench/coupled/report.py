"""Pictures and report items of the family `coupled`: the paper's metrics against a reference policy, Gantt charts."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, sqrt
from typing import TYPE_CHECKING

from hindsched.bench.coupled.example import drawn_example, find_example
from hindsched.bench.coupled.gantt import draw, draw_pair
from hindsched.bench.coupled.versus import COLUMNS, diff_by_wmin, versus
from hindsched.bench.family_report import FamilyReport
from hindsched.bench.report import canvas, ratio_plots
from hindsched.bench.report.figures import panel_title, panels_of
from hindsched.bench.report.formatting import MINUS, NOTHING, count, joined, parameter, plural, share
from hindsched.bench.report.html import Cell, Figure, PageTable
from hindsched.bench.report.report_files import Files
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.ratio_statistics import FEWEST
from hindsched.bench.results.records import records
from hindsched.instances.coupled import Instance, Schedule

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

__all__ = ["CoupledPictures", "CoupledReport", "against", "by_builder", "findings", "versus_table"]

#: Number of heuristics in a panel for a point of the experiment.
_BEST = 6
#: Passive heuristics, on which the proactive ones are built, in the order of panels.
_BUILDERS = ("IE", "IAY", "IY", "IP")


def by_builder(policies: Sequence[str]) -> dict[str, list[str]]:
    """Return groups of policies: each passive heuristic with the proactive ones built on it, then all others.

    Examples
    --------
    >>> by_builder(["IP", "IE", "P-IE", "E-IE", "Y-IE", "RANDOM"])
    {'IE': ['IE', 'P-IE', 'E-IE', 'Y-IE'], 'IP': ['IP'], 'others': ['RANDOM']}
    """
    panels: dict[str, list[str]] = {}
    for policy in in_order(policies):
        criterion, _, builder = policy.rpartition("-")
        is_built = builder in _BUILDERS and criterion in ("", "P", "E", "Y")
        panels.setdefault(builder if is_built else "others", []).append(policy)
    return {name: panels[name] for name in (*_BUILDERS, "others") if name in panels}


def findings(runs: pd.DataFrame, reference: str) -> list[str]:
    """Return a sentence on the policies with the least %diff to the reference; none over fewer than `FEWEST` scenarios.

    Policies whose %diff reads the same tie.
    """
    metrics = versus(runs.rename(columns={"value": "makespan"}), reference)
    others = metrics[(metrics["policy"] != reference) & (metrics["compared"] >= FEWEST)]
    others = others.sort_values("diff", kind="stable")
    if not len(others):
        return []
    first = others.iloc[0]
    leaders = others.loc[others["diff"].round(1) == round(first["diff"], 1), "policy"].tolist()
    over = f"on average over {plural(first['compared'], 'scenario')}"
    name = joined(leaders)
    rank = "is first" if len(leaders) == 1 else "tie for the first place"
    text = f"Of the others, {name} {rank} by %diff to {reference}, the paper's metric"
    difference = f"{abs(first['diff']):.1f}"
    if difference == "0.0":
        return [f"{text}: as fast as {reference} {over}."]
    slow, fast = (reference, name) if first["diff"] < 0 else (name, reference)
    takes = "takes" if slow == reference or len(leaders) == 1 else "take"
    found = f"{text}: {slow} {takes} {difference}% longer than {fast} {over}"
    if len(leaders) == 1:
        found += f", and {name} is at least as fast in {share(first['wins'] / 100)} of the trials"
        if abs(first["diff"]) <= 1.96 * first["stdv"] / sqrt(first["compared"]):
            found += f"; these runs do not distinguish it from {reference}"
    return [f"{found}."]


def against(runs: pd.DataFrame, reference: str, files: Files) -> list[Figure | PageTable]:
    """Return the table of metrics relative to a reference, and figures of %diff against wmin."""
    runs = runs.rename(columns={"value": "makespan"})
    metrics = versus(runs, reference)
    note = (
        f"#fails: runs at the slot limit. %diff: the difference to {reference}, relative to the smaller of both, of "
        "means over the trials that both finish, averaged over scenarios; negative is faster. %wins, %wins30: trials "
        f"with a makespan of at most {reference}'s, and at most 30% above. stdv: of %diff. Scenarios: compared of run."
    )
    file = files.table("versus", metrics)
    items: list[Figure | PageTable] = [
        versus_table(
            metrics, caption=f"Comparison with {reference} (Tables I and II of the paper)", file=file, note=note
        )
    ]
    values = sorted(runs["m"].dropna().unique().tolist())
    if len(values) > 1:
        for m in values:
            group = runs[(runs["m"] == m).fillna(False)]
            if (group["policy"] == reference).any():
                table = versus(group, reference)
                file = files.table(f"versus-m{m}", table)
                items.append(
                    versus_table(table, caption=f"Comparison with {reference}, m = {m}", file=file, is_narrow=True)
                )
    items += _by_wmin(runs, metrics, reference, files)
    return items


def _by_wmin(runs: pd.DataFrame, metrics: pd.DataFrame, reference: str, files: Files) -> list[Figure | PageTable]:
    pooled = diff_by_wmin(runs, reference, panels=())
    if pooled["wmin"].nunique() < 2 or pooled.loc[pooled["policy"] != reference, "diff"].isna().all():
        return []
    files.table("diff-by-wmin", pooled)
    policies = [policy for policy in in_order(metrics["policy"].to_list()) if policy != reference]
    panels = []
    for title, shown in panels_of(policies, "coupled").items():
        drawing, (axes,) = canvas.new_figure(width=ratio_plots.WIDTH, heights=(ratio_plots.panel_height(shown),))
        ratio_plots.draw_diff(axes, pooled, shown, reference=reference)
        panels.append(files.picture(f"diff-{title}", panel_title(title), drawing))
    items: list[Figure | PageTable] = [
        Figure(
            f"Difference to {reference} by wmin",
            f"%diff against wmin over all runs, as in the paper's Figure 2; {reference} is the line at 0. Each panel "
            "has its own scale.",
            panels,
        )
    ]
    by_point = diff_by_wmin(runs, reference)
    points = list(by_point.groupby(["m", "n_com"], dropna=False, sort=True))
    if len(points) > 1:
        files.table("diff-by-point", by_point)
        known = metrics[(metrics["policy"] != reference) & metrics["diff"].notna()]
        best = known.sort_values("diff", kind="stable")["policy"].tolist()[:_BEST]
        panels = []
        for (m, n_com), table in points:
            drawing, (axes,) = canvas.new_figure(width=ratio_plots.WIDTH, heights=(ratio_plots.panel_height(best),))
            ratio_plots.draw_diff(axes, table, best, reference=reference)
            point = f"m = {parameter(m)}, n_com = {parameter(n_com)}"
            panels.append(files.picture(f"diff-m{parameter(m)}-ncom{parameter(n_com)}", point, drawing))
        items.append(
            Figure(
                f"Difference to {reference} by m and n_com",
                f"The {len(best)} heuristics with the least %diff over all runs.",
                panels,
            )
        )
    return items


def versus_table(table: pd.DataFrame, *, caption: str, file: str, note: str = "", is_narrow: bool = False) -> PageTable:
    """Return the table of `hindsched.bench.coupled.versus.versus`, by increasing %diff."""
    rows = []
    for row in records(table.sort_values("diff", kind="stable")):
        diff = NOTHING if isnan(row["diff"]) else f"{row['diff']:+.1f}".replace("-", MINUS)
        cells = [Cell(row["policy"]), Cell(count(row["fails"])), Cell("0" if row["diff"] == 0 else diff)]
        cells += [Cell(NOTHING if isnan(row[name]) else f"{row[name]:.1f}") for name in ("wins", "wins30", "stdv")]
        rows.append([*cells, Cell(f"{row['compared']:,} of {row['scenarios']:,}"), Cell(count(row["runs"]))])
    headings = [COLUMNS[name] for name in ("policy", "fails", "diff", "wins", "wins30", "stdv", "scenarios", "runs")]
    return PageTable(caption, headings, rows, file, note, is_narrow=is_narrow, is_dense=is_narrow)


class CoupledPictures(FamilyReport[Instance, Schedule]):
    """The pictures of the family `coupled`, for every objective."""

    def draw(self, instance: Instance, schedule: Schedule) -> Drawing:
        return draw(instance, schedule)

    def draw_pair(self, instance: Instance, best: Schedule, run: Schedule, policy: str, name: str) -> Drawing:
        return draw_pair(instance, best, run, policy, name)

    def groups(self, policies: Sequence[str]) -> dict[str, list[str]] | None:
        return by_builder(policies)


class CoupledReport(CoupledPictures):
    """The pictures and report items of the makespan: the paper's metrics against a reference policy, and an example."""

    def findings(self, runs: pd.DataFrame, reference: str) -> list[str]:
        return findings(runs, reference)

    def items(self, runs: pd.DataFrame, reference: str, files: Files) -> list[Figure | PageTable]:
        return against(runs, reference, files)

    def example(self, ratios: pd.DataFrame, files: Files) -> Figure | None:
        found = find_example(ratios)
        return None if found is None else drawn_example(found, files)
