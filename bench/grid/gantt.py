"""Gantt pictures of this family: jobs as rectangles over nodes and slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsched import instances
from hindsched.bench.report import canvas
from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance, Schedule
from hindsched.instances.grid.schedule import node_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "draw_pair"]

#: More jobs make no picture that can be read.
_MOST_JOBS = 2_000
#: Above this many jobs they are not named.
_NAMED_JOBS = 120


def draw(instance: Instance, schedule: Schedule) -> Figure:
    """Return the picture of a schedule that the checker accepts."""
    figure, (axes,) = canvas.new_figure(width=_width(instance, schedule), heights=(_height(instance),))
    _draw(axes, instance, schedule, str(instances.check(instance, schedule).outcome))
    return figure


def draw_pair(instance: Instance, best: Schedule, run: Schedule, policy: str, name: str) -> Figure:
    """Return the picture of an optimal schedule above that of a scheduler's run."""
    width = max(_width(instance, best), _width(instance, run))
    figure, panels = canvas.new_figure(2, width=width, heights=(_height(instance),) * 2)
    for panel, schedule, who in zip(panels, (best, run), ("best in hindsight", policy), strict=True):
        _draw(panel, instance, schedule, f"{who}: {instances.check(instance, schedule).outcome}  ({name})")
        panel.set_xlim(0, max(_end(instance, best), _end(instance, run), 1))
    return figure


def _height(instance: Instance) -> float:
    return min(16.0, 1.6 + 0.12 * instance.nodes)


def _width(instance: Instance, schedule: Schedule) -> float:
    return min(24.0, max(9.0, 2.0 + 0.05 * _end(instance, schedule)))


def _end(instance: Instance, schedule: Schedule) -> int:
    ends = [s + int(length) for s, length in zip(schedule.starts(), instance.length, strict=True) if s is not None]
    return max(ends, default=0)


def _draw(axes: Axes, instance: Instance, schedule: Schedule, title: str) -> None:
    if len(instance) > _MOST_JOBS:
        raise InputError(f"{len(instance)} jobs, expected at most {_MOST_JOBS} for a picture", place="gantt")
    for j, (start, (submit, _, length)) in enumerate(zip(schedule.starts(), instance.rows(), strict=True)):
        if start is None:
            axes.plot([submit], [-0.9], marker="x", color="#D55E00", markersize=4, clip_on=False)
            continue
        colour = canvas.COLOURS[j % 6]
        for first, last in node_runs(schedule.document["allocations"][j][1]):
            axes.broken_barh([(start, length)], (first - 0.5, last - first + 1), facecolor=colour, edgecolor="white")
            if len(instance) <= _NAMED_JOBS:
                middle = ((start + length / 2), (first + last) / 2)
                axes.text(*middle, str(j), ha="center", va="center", fontsize=6, color="white", clip_on=True)
    for node, begin, end in schedule.document.get("outages", ()):
        axes.broken_barh([(begin, end - begin)], (node - 0.5, 1), facecolor="#BBBBBB")
    for _, start, end, text in schedule.document.get("stopped", ()):
        for first, last in node_runs(text):
            place = (first - 0.5, last - first + 1)
            axes.broken_barh([(start, end - start)], place, facecolor="white", edgecolor="#D55E00", hatch="////")
    axes.set_xlim(0, max(_end(instance, schedule), 1))
    axes.set_ylim(instance.nodes - 0.5, -1.5)
    label = "slot; a cross marks the submission of a job that failed"
    if "stopped" in schedule.document:
        label += "; hatched: runs that were stopped; grey: nodes that are down"
    axes.set_xlabel(label)
    axes.set_ylabel("node")
    axes.set_title(title, loc="left", fontsize=10)
