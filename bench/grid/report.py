"""Pictures and report items of the family `grid`: waits, rejected jobs and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsched.bench.family_report import FamilyReport
from hindsched.bench.grid.commands import expect_schedule
from hindsched.bench.grid.gantt import draw, draw_pair
from hindsched.bench.report.html import Cell, Figure, PageTable
from hindsched.bench.report.report_files import Files
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.records import records
from hindsched.bench.shared_types import Row
from hindsched.instances.grid import Instance, Schedule

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

__all__ = ["GridReport", "findings", "waits", "waits_table"]

#: The columns of messages of the policy late.
_LATE = ("forwards", "withdrawals", "notices")


def waits_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rejected jobs, mean waits and messages of each policy, over all runs.

    Columns: ``policy``, ``runs``, ``jobs``, ``failed``, ``failed_percent``; ``mean_wait`` in slots over the accepted
    jobs; the mean excess of their waits over the proven bound (``excess_at_most``) and over the best known schedule
    (``excess_at_least``); messages per job: ``pull``, ``push`` and ``poll`` of dgs, and ``told`` of late.
    """
    import pandas as pd

    rows = []
    for policy in in_order(runs["policy"].unique(), "grid"):
        own = runs[runs["policy"] == policy]
        jobs = pd.to_numeric(own["jobs"], errors="coerce")
        failed = pd.to_numeric(own["failed"], errors="coerce")
        ran = (jobs - failed).sum()
        row: Row = {"policy": policy, "runs": len(own), "jobs": jobs.sum(), "failed": failed.sum()}
        row["failed_percent"] = 100 * row["failed"] / row["jobs"] if row["jobs"] else None
        row["mean_wait"] = pd.to_numeric(own["total_wait"]).sum() / ran if ran else None
        for name, other in (("excess_at_least", "optimum"), ("excess_at_most", "optimum_bound")):
            known = own[other].notna().all()
            row[name] = (own["value"] - own[other]).sum() / ran if ran and known else None
        for name in ("pull", "push", "poll"):
            counts = pd.to_numeric(own[name], errors="coerce")
            row[name] = counts.sum() / jobs.sum() if counts.notna().all() and jobs.sum() else None
        messages = [pd.to_numeric(own[name], errors="coerce") for name in _LATE if name in own]
        is_late = len(messages) == len(_LATE) and all(counts.notna().all() for counts in messages)
        row["told"] = sum(counts.sum() for counts in messages) / jobs.sum() if is_late and jobs.sum() else None
        rows.append(row)
    return pd.DataFrame(rows)


def findings(runs: pd.DataFrame) -> list[str]:
    """Return a sentence for each policy that rejects jobs, which the ratios do not show."""
    table = waits_table(runs)
    failing = table[table["failed"] > 0]
    return [
        f"{row['policy']} rejects {row['failed_percent']:.2f}% of the jobs; its ratio is over the accepted ones."
        for row in records(failing)
    ]


def waits(runs: pd.DataFrame, files: Files) -> PageTable:
    """Return the table of waits, rejected jobs and messages."""
    table = waits_table(runs)
    file = files.table("waits", table)
    headings = {
        "policy": "policy",
        "failed_percent": "failed, %",
        "mean_wait": "mean wait",
        "excess_at_least": "excess >=",
        "excess_at_most": "excess <=",
        "pull": "pull / job",
        "push": "push / job",
        "poll": "poll / job",
        "told": "late / job",
    }
    cells = [[Cell(_text(row[name]), is_text=name == "policy") for name in headings] for row in records(table)]
    note = (
        "Means over the accepted jobs, in slots. The excess is over the best schedule of these jobs; it lies between "
        "the two bounds. Messages are copies of a schedule, and for late forwarded jobs, withdrawals and notices."
    )
    return PageTable("Waits, rejected jobs and messages", list(headings.values()), cells, note=note, file=file)


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
