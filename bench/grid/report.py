"""Pictures and report items of the family `grid`: waits, rejected jobs and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindsched.bench.family_report import FamilyReport
from hindsched.bench.grid.commands import expect_schedule
from hindsched.bench.grid.gantt import draw, draw_pair
from hindsched.bench.report.html import Cell, Figure, PageTable
from hindsched.bench.report.report_files import Files
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.records import records
from hindsched.instances.grid import Instance, Schedule

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

__all__ = ["GridReport", "findings", "waits", "waits_table"]

#: What late's messages are counted as.
_LATE = ("forwards", "withdrawals", "notices")


def waits_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return for each policy, over all runs: failures, mean waits, the excess over the best known, messages a job.

    Columns: ``policy``, ``runs``, ``jobs``, ``failed``, ``failed_percent``; ``mean_wait`` and the mean excess in slots,
    over the jobs that run, the excess being that over the proven bound (``excess_at_most``) and over the best schedule
    known (``excess_at_least``) of the same jobs; ``pull``, ``push`` and ``poll`` messages a job of dgs, and ``told``
    those of late, missing where there are none.
    """
    import pandas as pd

    rows = []
    for policy in in_order(runs["policy"].unique(), "grid"):
        mine = runs[runs["policy"] == policy]
        jobs = pd.to_numeric(mine["jobs"], errors="coerce")
        failed = pd.to_numeric(mine["failed"], errors="coerce")
        ran = (jobs - failed).sum()
        row: dict[str, Any] = {"policy": policy, "runs": len(mine), "jobs": jobs.sum(), "failed": failed.sum()}
        row["failed_percent"] = 100 * row["failed"] / row["jobs"] if row["jobs"] else None
        row["mean_wait"] = pd.to_numeric(mine["total_wait"]).sum() / ran if ran else None
        for name, other in (("excess_at_least", "optimum"), ("excess_at_most", "optimum_bound")):
            known = mine[other].notna().all()
            row[name] = (mine["value"] - mine[other]).sum() / ran if ran and known else None
        for name in ("pull", "push", "poll"):
            counts = pd.to_numeric(mine[name], errors="coerce")
            row[name] = counts.sum() / jobs.sum() if counts.notna().all() and jobs.sum() else None
        told = [pd.to_numeric(mine[name], errors="coerce") for name in _LATE if name in mine]
        is_late = len(told) == len(_LATE) and all(counts.notna().all() for counts in told)
        row["told"] = sum(counts.sum() for counts in told) / jobs.sum() if is_late and jobs.sum() else None
        rows.append(row)
    return pd.DataFrame(rows)


def findings(runs: pd.DataFrame) -> list[str]:
    """Return who refuses jobs, which the ratios do not show."""
    table = waits_table(runs)
    failing = table[table["failed"] > 0]
    return [
        f"{row['policy']} fails {row['failed_percent']:.2f}% of the jobs; its ratio is over those that run."
        for row in records(failing)
    ]


def waits(runs: pd.DataFrame, files: Files) -> PageTable:
    """Return the table of waits, failures and messages."""
    table = waits_table(runs)
    file = files.table("waits", table)
    headings = {
        "policy": "policy",
        "failed_percent": "failed, %",
        "mean_wait": "mean wait",
        "excess_at_least": "excess >=",
        "excess_at_most": "excess <=",
        "pull": "pull a job",
        "push": "push a job",
        "poll": "poll a job",
        "told": "late's a job",
    }
    cells = [[Cell(_text(row[name]), is_text=name == "policy") for name in headings] for row in records(table)]
    note = (
        "Means over the jobs that run, in slots; the excess is over the best schedule of these jobs, known to lie "
        "between the two. Messages are copies of a schedule; late's are jobs forwarded and withdrawn, and notices."
    )
    return PageTable("Waits, failures and messages", list(headings.values()), cells, note=note, file=file)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    number = _number(value)
    return "" if number is None else f"{number:,.2f}"


def _number(value: object) -> float | None:
    number = float(value) if isinstance(value, int | float) else float("nan")
    return None if number != number else number  # noqa: PLR0124


class GridReport(FamilyReport[Instance, Schedule]):
    """The pictures and report items of the family `grid`."""

    def draw(self, instance: Instance, schedule: Schedule) -> Drawing:
        return draw(instance, expect_schedule(schedule, "gantt"))

    def draw_pair(self, instance: Instance, best: Schedule, run: Schedule, policy: str, name: str) -> Drawing:
        return draw_pair(instance, best, run, policy, name)

    def findings(self, runs: pd.DataFrame, reference: str) -> list[str]:
        return findings(runs)

    def items(self, runs: pd.DataFrame, reference: str, files: Files) -> list[Figure | PageTable]:
        return [waits(runs, files)]
