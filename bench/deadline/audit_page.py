"""The page and the picture of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hindsched.bench.deadline.audit import Audit, Bill, Loss
from hindsched.bench.deadline.gantt import KIND_COLOURS, draw_gantt, draw_progress, gantt_height
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import NOTHING, between
from hindsched.bench.report.html import Cell, Figure, PageTable, render
from hindsched.bench.report.page import DARK
from hindsched.bench.report.report_files import Files
from hindsched.instances.deadline import HOUR_S, Kind
from hindsched.instances.text_files import write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

__all__ = ["audit_findings", "draw_audit", "write_audit_page"]

_LOSS_COLOURS = {"spot": KIND_COLOURS[Kind.SPOT], "on-demand": KIND_COLOURS[Kind.ON_DEMAND], "nothing": "#999999"}
_LOSS_WORDS = {"spot": "spot runs", "on-demand": "on-demand runs", "nothing": "waits"}
#: Losses with their dollars written above the bar.
_MOST_LABELS = 6


class _Section(NamedTuple):
    """The section of the page, as the template of reports expects it."""

    id: str
    title: str
    subtitle: str
    findings: Sequence[str]
    ranges: None
    items: Sequence[Figure | PageTable]


def audit_findings(audit: Audit) -> list[str]:
    """Return what an audit found, in sentences."""
    log, best = audit.bills[:2]
    paid = log.dollars or 0.0
    found = [f"Paid: {paid:.2f} dollars in {log.hours:.2f} h." if log.hours else f"Paid: {paid:.2f} dollars."]
    if best.dollars is None:
        found.append("No schedule in slots meets the deadline where spot is known to be there.")
    elif audit.is_known:
        found.append(
            f"Foresight: {best.dollars:.2f} dollars. The log paid {_percent(paid, best.dollars)} more, "
            f"{paid - best.dollars:.2f} dollars."
        )
    else:
        low = best.dollars_if_there or 0.0
        found.append(
            f"Foresight: {low:.2f} dollars if spot is there wherever nothing was observed, {best.dollars:.2f} if it is "
            f"not. So {paid - best.dollars:.2f} to {paid - low:.2f} dollars were lost."
        )
    found.append(f"No schedule at all, in slots or not, pays less than {audit.least:.2f} dollars.")
    finished = [bill for bill in audit.bills[3:] if bill.hours is not None and bill.dollars is not None]
    if finished:
        cheapest = min(finished, key=lambda bill: bill.dollars or 0.0)
        found.append(f"The cheapest policy without foresight is {cheapest.who}: {cheapest.dollars:.2f} dollars.")
    lost, with_spot = (dict.fromkeys(_LOSS_WORDS, 0.0) for _ in range(2))
    for loss in audit.losses:
        lost[loss.kind] += loss.lost
        with_spot[loss.kind] += loss.spot_h
    parts = [f"{_LOSS_WORDS[kind]} {dollars:.2f}" for kind, dollars in lost.items()]
    where = "" if audit.is_known else " if there is no spot where nothing was observed"
    found.append(f"Lost, in dollars{where}: {', '.join(parts)}.")
    found.append(
        f"While a zone was known to have spot, the job ran {with_spot['on-demand']:.2f} h on-demand and waited "
        f"{with_spot['nothing']:.2f} h."
    )
    overheads = "" if best.overhead_h is None else f", those of foresight for {best.overhead_h:.2f} h"
    found.append(f"Launches computed nothing for {log.overhead_h:.2f} h{overheads}.")
    worst = max(audit.losses, key=lambda loss: loss.lost)
    if worst.lost > 0.005:
        found.append(f"Most was lost from {worst.start_h:.2f} h to {worst.stop_h:.2f} h: {_reason(worst)}.")
    return found


def _percent(paid: float, best: float) -> str:
    return f"{paid / best - 1:.0%}" if best else "infinitely"


def _reason(loss: Loss) -> str:
    """Return what happened in a run or a wait."""
    hours = f"{loss.spot_h:.2f} h of {loss.stop_h - loss.start_h:.2f} h with spot"
    return f"{'waited' if loss.kind == 'nothing' else f'{loss.kind} in {loss.zone}'}, {hours}"


def draw_audit(audit: Audit, name: str) -> Drawing:
    """Return the picture: the optimum above the log, the money lost at each place, work and bills over time."""
    height = gantt_height(audit.job)
    schedules = {"the log": audit.run}
    if audit.best is not None:
        schedules = {"foresight": audit.best, **schedules}
    heights = [height] * len(schedules) + [1.8, 2.8]
    figure, panels = canvas.new_figure(len(heights), width=12.0, heights=heights)
    for panel, (who, schedule) in zip(panels, schedules.items(), strict=False):
        bill = next(bill for bill in audit.bills if bill.who == who)
        title = f"{who}: {bill.dollars:.2f} dollars" + (f"  ({name})" if who == "the log" else "")
        draw_gantt(panel, audit.job, schedule, title=title, legend=who == "the log")
        _draw_unknown(panel, audit)
    _draw_losses(panels[-2], audit)
    draw_progress(panels[-1], audit.job, schedules)
    end = max(audit.job.deadline_s / HOUR_S, audit.losses[-1].stop_h) * 1.01
    for panel in panels:
        panel.set_xlim(0, end)
    return figure


def _draw_unknown(axes: Axes, audit: Audit) -> None:
    """Hatch the slots in which nothing was observed."""
    hour = audit.job.slot_s / HOUR_S
    for z, unknown in enumerate(audit.job.spot != audit.job_if_there.spot):
        edges = np.flatnonzero(np.diff(np.concatenate(([False], unknown, [False])).astype(np.int8)))
        spans = [(float(a) * hour, float(b - a) * hour) for a, b in zip(edges[::2], edges[1::2], strict=True)]
        axes.broken_barh(
            spans, (z - 0.48, 0.96), facecolor="none", edgecolor="#b8b8b8", hatch="....", linewidth=0, zorder=0.5
        )


def _draw_losses(axes: Axes, audit: Audit) -> None:
    labelled = sorted(audit.losses, key=lambda loss: -loss.lost)[:_MOST_LABELS]
    for loss in audit.losses:
        place, width, colour = loss.start_h, loss.stop_h - loss.start_h, _LOSS_COLOURS[loss.kind]
        axes.bar(place, loss.lost, width, align="edge", color=colour, edgecolor="white", linewidth=0.4)
        if not audit.is_known:
            axes.bar(place, loss.lost_if_there, width, align="edge", facecolor="none", edgecolor=colour, linewidth=1)
        if loss in labelled and loss.lost >= 0.005:
            at, above = (place + width / 2, loss.lost), (0, 2)
            axes.annotate(f"{loss.lost:.2f}", at, xytext=above, textcoords="offset points", ha="center", fontsize=8)
    axes.margins(y=0.2)
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set_ylabel("dollars")
    axes.set_xlabel("hours")
    total, most = (sum(getattr(loss, name) for loss in audit.losses) for name in ("lost", "lost_if_there"))
    title = f"dollars lost in each run (in its colour) and each wait (grey), {total:.2f} in all"
    if not audit.is_known:
        title += f"; outlined: if spot is there where nothing was observed (dotted), {most:.2f} in all"
    axes.set_title(title, loc="left", fontsize=10)


def write_audit_page(audit: Audit, path: Path, name: str) -> list[Path]:
    """Write the page of an audit, and its picture (.svg) and tables (.csv) next to it; return all files.

    Raises
    ------
    InputError
        If the files cannot be written.
    """
    import pandas as pd

    files = Files(path.parent)
    files.prefix = f"{path.stem}-"
    picture = Figure(
        "The job over the availability of spot",
        "Above what foresight would have done, below it the log, and the dollars lost in each run and each wait."
        + ("" if audit.is_known else " Where it is dotted, nothing was observed; foresight finds no spot there."),
        [files.picture("picture", "", draw_audit(audit, name))],
        is_wide=True,
    )
    bills_file = files.table("bills", pd.DataFrame(audit.bills))
    losses_file = files.table("losses", pd.DataFrame(audit.losses))
    log, best = audit.bills[:2]
    section = _Section(
        "results",
        "Results",
        "",
        audit_findings(audit),
        None,
        [picture, _bills(audit, bills_file), _losses(audit, losses_file)],
    )
    page = render(
        "report.html",
        {
            "title": "Was this spot bill good?",
            "subtitle": f"Audit of {name}.",
            "dark_colours": DARK,
            "is_short": False,
            "contradictions": [],
            "mixed": [],
            "tiles": [
                ("Paid", _money(log.dollars), "dollars"),
                ("Foresight", _between(best), "dollars"),
                ("Paid / foresight", _ratio(log, best), ""),
                ("No schedule below", _money(audit.least), "dollars"),
            ],
            "sections": [section],
            "example": None,
            "facts": [(f"{number}", sentence) for number, sentence in enumerate(audit.assumptions, start=1)],
            "unfinished": None,
            "version": version("hindsched"),
        },
    )
    write_text(path, page)
    return [path, *files.written]


def _money(dollars: float | None) -> str:
    return NOTHING if dollars is None else f"{dollars:,.2f}"


def _between(bill: Bill) -> str:
    return between(_money(bill.dollars_if_there), _money(bill.dollars))


def _ratio(log: Bill, best: Bill) -> str:
    ends = (
        f"{log.dollars / other:.2f}" if log.dollars is not None and other else NOTHING
        for other in (best.dollars, best.dollars_if_there)
    )
    return between(*ends)


def _hours(hours: float | None) -> str:
    return NOTHING if hours is None else f"{hours:.2f}"


def _bills(audit: Audit, file: str) -> PageTable:
    best = audit.bills[1]
    rows = []
    for bill in audit.bills:
        hours = [bill.hours, bill.spot_h, bill.on_demand_h, bill.overhead_h]
        launches = NOTHING if bill.launches is None else str(bill.launches)
        missed = "" if bill.hours is not None or bill.dollars is None else "work not done"
        rows.append(
            [
                Cell(bill.who),
                Cell(_between(bill), missed),
                Cell(_ratio(bill, best) if bill.who != "foresight" else "1.00"),
                *(Cell(_hours(value)) for value in hours),
                Cell(launches),
            ]
        )
    headings = ["who", "dollars", "/ foresight", "finished, h", "spot, h", "on-demand, h", "overhead, h", "launches"]
    note = (
        "The log is billed by the second; the others act in slots and pay whole slots. The guard goes on-demand when "
        "the deadline would be at risk otherwise."
    )
    if not audit.is_known:
        note += " Two numbers: spot is there, or not, wherever nothing was observed; hours are those of the second."
    return PageTable("Bills", headings, rows, file, note)


def _losses(audit: Audit, file: str) -> PageTable:
    most = max((loss.lost for loss in audit.losses), default=0.0)
    rows = []
    for loss in audit.losses:
        lost = _money(loss.lost)
        small = "" if audit.is_known else f"{_money(loss.lost_if_there)} with unobserved spot"
        rows.append(
            [
                Cell(f"{loss.start_h:.2f}"),
                Cell(f"{loss.stop_h:.2f}"),
                Cell("waits" if loss.kind == "nothing" else loss.kind, is_text=True),
                Cell(loss.zone, is_text=True),
                Cell(_hours(loss.stop_h - loss.start_h)),
                Cell(_hours(loss.spot_h)),
                Cell(_money(loss.paid)),
                Cell(lost, small, max(0.0, loss.lost / most) if most > 0 else 0.0),
            ]
        )
    headings = ["from, h", "to, h", "job", "zone", "hours", "with spot, h", "paid", "lost"]
    note = (
        "Lost in a run or a wait: what it pays, and the least cost of the work left after it, less the least cost of "
        "the work left before it. The sum is the log's bill less that of foresight. "
        "Slots round each loss by about the price of a slot at each end, so some are slightly below 0."
    )
    return PageTable("Where the money was lost, in dollars", headings, rows, file, note)
