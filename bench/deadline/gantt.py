"""Gantt pictures of this family: runs over the availability of spot, and below them progress and bill."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hindsched.bench.report import canvas
from hindsched.instances.deadline import HOUR_S, UNITS_PER_DOLLAR, Instance, Kind, Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "KIND_COLOURS",
    "History",
    "draw",
    "draw_gantt",
    "draw_pair",
    "draw_progress",
    "gantt_height",
    "history",
]

KIND_COLOURS = {Kind.SPOT: canvas.COLOURS[2], Kind.ON_DEMAND: canvas.COLOURS[1]}
_NAMES = {Kind.SPOT: "spot", Kind.ON_DEMAND: "on-demand"}
_AVAILABLE = "#cfe8dd"


class History(NamedTuple):
    """What a schedule has done and paid at the beginning of each slot, and at the end of the last one.

    Parameters
    ----------
    done_s
        Seconds of work.
    cost
        Units of money.
    overhead_s
        Seconds of overhead in each slot.
    """

    done_s: list[int]
    cost: list[int]
    overhead_s: list[int]


def history(instance: Instance, schedule: Schedule) -> History:
    """Return work and bill of a valid schedule, slot by slot."""
    slots = instance.slots if schedule.finish is None else schedule.finish
    done_s, cost, overhead_s = [0], [0], [0] * slots
    steps = np.zeros((2, slots), dtype=object)
    home, last, left_s = None, None, 0
    for run in schedule.runs:
        is_launch = last is None or last.placement != run.placement or last.end != run.first
        if is_launch:
            left_s = instance.launch_overhead(home, run.zone)
            steps[1, run.first] += instance.move_units(home, run.zone)
        for t in range(run.first, run.end):
            overhead_s[t] = min(left_s, instance.slot_s)
            left_s -= overhead_s[t]
            steps[0, t] += instance.slot_s - overhead_s[t]
            steps[1, t] += instance.slot_s * int(instance.prices[run.zone, int(run.kind is Kind.ON_DEMAND), t])
        home, last = run.zone, run
    for work, units in steps.T.tolist():
        done_s.append(min(instance.work_s, done_s[-1] + work))
        cost.append(cost[-1] + units)
    return History(done_s, cost, overhead_s)


def draw(instance: Instance, schedule: Schedule) -> Figure:
    """Return the picture of a schedule that the checker accepts."""
    figure, panels = canvas.new_figure(2, width=12.0, heights=(gantt_height(instance), 2.8))
    draw_gantt(panels[0], instance, schedule, title=_summary(instance, schedule), legend=True)
    draw_progress(panels[1], instance, {"": schedule})
    return figure


def draw_pair(instance: Instance, best: Schedule, run: Schedule, policy: str, name: str) -> Figure:
    """Return the picture of the optimum above that of a policy's run, and their progress and bills."""
    height = gantt_height(instance)
    figure, panels = canvas.new_figure(3, width=12.0, heights=(height, height, 2.8))
    named = {"hindsight optimum": best, policy: run}
    for panel, (who, schedule) in zip(panels, named.items(), strict=False):
        title = f"{who}: {_summary(instance, schedule)}  ({name})"
        draw_gantt(panel, instance, schedule, title=title, legend=who == policy)
    draw_progress(panels[2], instance, named)
    return figure


def draw_gantt(axes: Axes, instance: Instance, schedule: Schedule, *, title: str = "", legend: bool = False) -> Axes:
    """Draw the runs of a schedule over the spot of its zones, from top to bottom.

    Parameters
    ----------
    axes
        To draw on.
    instance, schedule
        What to draw.
    title
        Above the picture.
    legend
        Whether to explain below.
    """
    hour = instance.slot_s / HOUR_S
    for z, zone in enumerate(instance.zones):
        edges = np.flatnonzero(np.diff(np.concatenate(([False], zone.spot, [False])).astype(np.int8)))
        spans = [(float(a) * hour, float(b - a) * hour) for a, b in zip(edges[::2], edges[1::2], strict=True)]
        axes.broken_barh(spans, (z - 0.48, 0.96), facecolor=_AVAILABLE, linewidth=0)
    overhead_s = history(instance, schedule).overhead_s
    for kind, colour in KIND_COLOURS.items():
        for z in range(instance.num_zones):
            runs = [run for run in schedule.runs if run.zone == z and run.kind is kind]
            bars = [(run.first * hour, (run.end - run.first) * hour) for run in runs]
            axes.broken_barh(bars, (z - 0.3, 0.6), facecolor=colour, edgecolor="white", linewidth=0.4)
    for run in schedule.runs:
        length = sum(overhead_s[run.first : run.end]) / HOUR_S
        if length:
            axes.broken_barh(
                [(run.first * hour, length)],
                (run.zone - 0.3, 0.6),
                facecolor="white",
                hatch="////",
                edgecolor="black",
                linewidth=0,
            )
    axes.axvline(instance.deadline_s / HOUR_S, color="black", linewidth=1.2, linestyle="--")
    axes.set_xlim(0, instance.deadline_s / HOUR_S * 1.01)
    axes.set_ylim(instance.num_zones - 0.5, -0.5)
    axes.set_yticks(range(instance.num_zones), [zone.name for zone in instance.zones], fontsize=8)
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel("hours")
    if legend:
        _explain(axes)
    return axes


def draw_progress(axes: Axes, instance: Instance, schedules: dict[str, Schedule]) -> None:
    """Draw work done (lines) and money paid (dotted) over time, of at most two schedules by name."""
    hour = instance.slot_s / HOUR_S
    bills = axes.twinx()
    for i, (who, schedule) in enumerate(schedules.items()):
        past = history(instance, schedule)
        times = np.arange(len(past.done_s)) * hour
        colour = canvas.COLOURS[(0, 3)[i]]
        prefix = f"{who}: " if who else ""
        axes.plot(times, np.array(past.done_s) / HOUR_S, color=colour, label=f"{prefix}work done")
        paid = np.array([cost / UNITS_PER_DOLLAR for cost in past.cost])
        bills.plot(times, paid, color=colour, linestyle=":", label=f"{prefix}bill")
    end = instance.deadline_s / HOUR_S
    axes.plot([0, end], [0, instance.work_s / HOUR_S], color="#999999", linewidth=0.8, label="uniform progress")
    axes.axvline(end, color="black", linewidth=1.2, linestyle="--", label="deadline")
    axes.set_xlim(0, end * 1.01)
    axes.set_ylim(0)
    bills.set_ylim(0)
    axes.set_xlabel("hours")
    axes.set_ylabel("hours of work")
    bills.set_ylabel("dollars (dotted)")
    handles = [*axes.get_legend_handles_labels()[0], *bills.get_legend_handles_labels()[0]]
    axes.legend(handles=handles, loc="upper left", fontsize=8, frameon=False)


def gantt_height(instance: Instance) -> float:
    """Return the height of a picture of the zones, in inches."""
    return min(12.0, 1.0 + 0.45 * instance.num_zones)


def _summary(instance: Instance, schedule: Schedule) -> str:
    bill = f"{schedule.cost / UNITS_PER_DOLLAR:.2f} dollars"
    if schedule.finish is None:
        return f"deadline missed, {bill}"
    return f"finished after {schedule.finish * instance.slot_s / HOUR_S:.2f} h, {bill}"


def _explain(axes: Axes) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=_AVAILABLE, label="spot can be had")]
    handles += [Patch(facecolor=colour, label=f"runs on {_NAMES[kind]}") for kind, colour in KIND_COLOURS.items()]
    handles.append(Patch(facecolor="white", hatch="////", edgecolor="black", label="overhead of a launch"))
    axes.figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=9, frameon=False)
