"""Pictures and report items of the family `coupled`: the paper's metrics against a reference policy, Gantt charts."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from hindsched.bench.coupled.example import drawn_example, find_example
from hindsched.bench.coupled.gantt import draw, draw_pair
from hindsched.bench.coupled.versus import COLUMNS, diff_by_wmin, versus
from hindsched.bench.family_report import FamilyReport
from hindsched.bench.report import canvas, ratio_plots
from hindsched.bench.report.figures import panel_title, panels_of
from hindsched.bench.report.formatting import MINUS, NOTHING, count, parameter, share
from hindsched.bench.report.html import Cell, Figure, PageTable
from hindsched.bench.report.report_files import Files
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.records import records
from hindsched.instances.coupled import Instance, Schedule

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

__all__ = ["CoupledReport", "against", "by_builder", "findings", "versus_table"]

#: So many heuristics are drawn where a panel is a point of the experiment.
_BEST = 6
#: Passive heuristics, on which the proactive ones are built, in the order of panels.
_BUILDERS = ("IE", "IAY", "IY", "IP")


def by_builder(policies: Sequence[str]) -> dict[str, list[str]]:
    """Return panels: a passive heuristic with the proactive ones built on it in each, then all others.

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
    """Return who is fastest against the reference, by the paper's %diff and %wins."""
    metrics = versus(runs.rename(columns={"value": "makespan"}), reference)
    others = metrics[(metrics["policy"] != reference) & metrics["diff"].notna()].sort_values("diff", kind="stable")
    if not len(others):
        return []
    first = others.iloc[0]
    alone = len(others) == 1
    text = f"The {'one other heuristic' if alone else 'fastest against ' + reference} is {first['policy']}: "
    compared = count(first["compared"])
    over = f"in the mean over {compared} scenario{'' if first['compared'] == 1 else 's'}"
    if first["diff"] == 0:
        return [f"{text}as fast as {reference} {over}."]
    slow, fast = (reference, "it") if first["diff"] < 0 else (str(first["policy"]), reference)
    text += f"{slow} takes {abs(first['diff']):.1f}% longer than {fast}, {over}"
    return [f"{text}, and {first['policy']} is as fast or faster in {share(first['wins'] / 100)} of the trials."]


def against(runs: pd.DataFrame, reference: str, files: Files) -> list[Figure | PageTable]:
    """Return the metrics against a reference, over all runs and for each m, and %diff against wmin."""
    runs = runs.rename(columns={"value": "makespan"})
    metrics = versus(runs, reference)
    note = (
        f"#fails: runs that reach the slot limit. %diff: mean over scenarios of the difference to {reference}, "
        "relative to the smaller of the two, of means over the trials that both finish; below 0 is faster. %wins, "
        f"%wins30: trials in which the makespan is at most {reference}'s, and at most 30% above. stdv: of %diff. "
        "Scenarios: those compared, of those run."
    )
    file = files.table("versus", metrics)
    items: list[Figure | PageTable] = [
        versus_table(metrics, caption=f"Against {reference}, as in the paper's Tables I and II", file=file, note=note)
    ]
    values = sorted(runs["m"].dropna().unique().tolist())
    if len(values) > 1:
        for m in values:
            mine = runs[(runs["m"] == m).fillna(False)]
            if (mine["policy"] == reference).any():
                table = versus(mine, reference)
                file = files.table(f"versus-m{m}", table)
                items.append(versus_table(table, caption=f"Against {reference}, m = {m}", file=file, is_narrow=True))
    items += _by_wmin(runs, metrics, reference, files)
    return items


def _by_wmin(runs: pd.DataFrame, metrics: pd.DataFrame, reference: str, files: Files) -> list[Figure | PageTable]:
    together = diff_by_wmin(runs, reference, panels=())
    if together["wmin"].nunique() < 2 or together.loc[together["policy"] != reference, "diff"].isna().all():
        return []
    files.table("diff-by-wmin", together)
    policies = [policy for policy in in_order(metrics["policy"].to_list()) if policy != reference]
    panels = []
    for title, shown in panels_of(policies, "coupled").items():
        drawing, (axes,) = canvas.new_figure(width=ratio_plots.WIDTH, heights=(ratio_plots.panel_height(shown),))
        ratio_plots.draw_diff(axes, together, shown, reference=reference)
        panels.append(files.picture(f"diff-{title}", panel_title(title), drawing))
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
    """Return the metrics against a reference (see `hindsched.bench.coupled.versus.versus`), the fastest first."""
    rows = []
    for row in records(table.sort_values("diff", kind="stable")):
        diff = NOTHING if isnan(row["diff"]) else f"{row['diff']:+.1f}".replace("-", MINUS)
        cells = [Cell(row["policy"]), Cell(count(row["fails"])), Cell("0" if row["diff"] == 0 else diff)]
        cells += [Cell(NOTHING if isnan(row[name]) else f"{row[name]:.1f}") for name in ("wins", "wins30", "stdv")]
        rows.append([*cells, Cell(f"{row['compared']:,} of {row['scenarios']:,}"), Cell(count(row["runs"]))])
    headings = [COLUMNS[name] for name in ("policy", "fails", "diff", "wins", "wins30", "stdv", "scenarios", "runs")]
    return PageTable(caption, headings, rows, file, note, is_narrow=is_narrow, is_dense=is_narrow)


class CoupledReport(FamilyReport[Instance, Schedule]):
    """The pictures and report items of the family `coupled`."""

    def draw(self, instance: Instance, schedule: Schedule) -> Drawing:
        return draw(instance, schedule)

    def draw_pair(self, instance: Instance, best: Schedule, run: Schedule, policy: str, name: str) -> Drawing:
        return draw_pair(instance, best, run, policy, name)

    def groups(self, policies: Sequence[str]) -> dict[str, list[str]] | None:
        return by_builder(policies)

    def findings(self, runs: pd.DataFrame, reference: str) -> list[str]:
        return findings(runs, reference)

    def items(self, runs: pd.DataFrame, reference: str, files: Files) -> list[Figure | PageTable]:
        return against(runs, reference, files)

    def example(self, ratios: pd.DataFrame, files: Files) -> Figure | None:
        found = find_example(ratios)
        return None if found is None else drawn_example(found, files)
