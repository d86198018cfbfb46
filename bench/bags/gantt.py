"""Gantt pictures of this family: tasks by colour over the states of the machines, with a tick at each saved state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hindsched.bench.report import canvas
from hindsched.instances.bags import Instance, Run, Schedule
from hindsched.instances.states import DOWN, RECLAIMED, UP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "draw_gantt", "draw_pair"]

_ABSENT = {RECLAIMED: ("RECLAIMED", "#d9d9d9", "////"), DOWN: ("DOWN", "#595959", "")}
_MS_PER_MINUTE = 60_000
#: A run shorter than this share of the picture bears no number.
_NARROW = 0.012
#: Largest number of distinguishable ticks.
_MOST_TICKS = 3_000


def draw(instance: Instance, schedule: Schedule) -> Figure:
    """Return the picture of a schedule that the checker accepts."""
    height = min(40.0, 1.3 + 0.24 * instance.num_machines)
    figure, (axes,) = canvas.new_figure(width=14.0, heights=(height,))
    draw_gantt(axes, instance, schedule, title=_summary(instance, schedule))
    return figure


def draw_pair(instance: Instance, best: Schedule, run: Schedule, policy: str, name: str) -> Figure:
    """Return the picture of an optimal schedule above that of a policy's run."""
    height = min(20.0, 1.0 + 0.2 * instance.num_machines)
    figure, panels = canvas.new_figure(2, width=14.0, heights=(height, height))
    end = max(_end(best), _end(run))
    for panel, schedule, who in zip(panels, (best, run), ("hindsight optimum", policy), strict=True):
        title = f"{who}: {_summary(instance, schedule)}  ({name})"
        draw_gantt(panel, instance, schedule, title=title, end=end, legend=panel is panels[-1])
    return figure


def draw_gantt(
    axes: Axes, instance: Instance, schedule: Schedule, *, title: str = "", end: float = 0, legend: bool = True
) -> Axes:
    """Draw a schedule over the states of its machines.

    Parameters
    ----------
    axes
        To draw on.
    instance, schedule
        What to draw; machines from top to bottom. A run has the colour and the number of its task; a white tick is a
        segment that ended and was saved, a black one a save on demand.
    title
        Above the picture.
    end
        The least length of the axis, in ticks of time.
    legend
        Whether to explain below.
    """
    end = max(end, _end(schedule))
    minute = _MS_PER_MINUTE / instance.tick_ms
    shown = min(instance.slots, -(-int(end) // instance.slot) + 1)
    for q in range(instance.num_machines):
        for code, (_, colour, hatch) in _ABSENT.items():
            spans = [
                (first * instance.slot / minute, (last - first) * instance.slot / minute)
                for first, last in _spans(instance.states[q, :shown] == code)
            ]
            axes.broken_barh(spans, (q - 0.5, 1.0), facecolor=colour, hatch=hatch, edgecolor="#a6a6a6", linewidth=0)
    ticks: list[tuple[float, int]] = []
    for run in schedule.runs:
        start, length = float(run.start) / minute, float(run.end - run.start) / minute
        colour = canvas.COLOURS[run.task % (len(canvas.COLOURS) - 2)]  # neither black nor grey
        axes.broken_barh(
            [(start, length)], (run.machine - 0.38, 0.76), facecolor=colour, edgecolor="white", linewidth=0.5
        )
        if length * minute > _NARROW * end:
            axes.text(
                start + length / 2, run.machine, str(run.task), ha="center", va="center", fontsize=6, color="white"
            )
        if len(ticks) < _MOST_TICKS:
            ticks += [(instant / minute, run.machine) for instant in _segment_ends(instance, run)]
    for colour, marks in (
        ("white", ticks),
        ("black", [(float(save.instant) / minute, save.machine) for save in schedule.saves]),
    ):
        if marks:
            places = np.array(marks)
            axes.vlines(places[:, 0], places[:, 1] - 0.36, places[:, 1] + 0.36, color=colour, linewidth=1.0)
    axes.set_xlim(0, max(float(end) / minute, 1e-9))
    axes.set_ylim(instance.num_machines - 0.5, -0.5)
    step = max(1, instance.num_machines // 100)
    axes.set_yticks(range(0, instance.num_machines, step))
    labels = [f"machine {q}, g={instance.ticks[q]}" for q in range(0, instance.num_machines, step)]
    axes.set_yticklabels(labels, fontsize=8)
    axes.set_xlabel("minutes")
    axes.set_title(title, loc="left", fontsize=10)
    if legend:
        _explain(axes)
    return axes


def _segment_ends(instance: Instance, run: Run) -> list[float]:
    """Return when segments end in a run."""
    g, slot = instance.ticks[run.machine], instance.slot
    first, last = int(run.start // slot), -(-int(run.end) // slot)
    up = instance.states[run.machine, first : last + 1] == UP
    # UP ticks of the run at the beginning of each slot
    before = np.concatenate(([0], np.cumsum(up))) * float(slot) - (float(run.start) - first * slot)
    needed = (int(run.origin) + 1 - float(run.origin)) * g
    found: list[float] = []
    while True:
        i = int(np.searchsorted(before, needed - 1e-6)) - 1
        if i < 0 or i >= len(up):
            return found
        instant = (first + i) * slot + needed - max(before[i], -np.inf)
        if instant > float(run.end) + 1e-6:
            return found
        found.append(instant)
        needed += g


def _spans(wanted: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], wanted, [False])).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _end(schedule: Schedule) -> float:
    return max((float(run.end) for run in schedule.runs), default=1.0)


def _summary(instance: Instance, schedule: Schedule) -> str:
    if schedule.turnaround is None:
        return "the slots ran out"
    return f"turnaround {schedule.turnaround * instance.tick_ms / _MS_PER_MINUTE:.2f} min"


def _explain(axes: Axes) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Patch | Line2D] = [Patch(facecolor=canvas.COLOURS[0], label="a copy, with the number of its task")]
    handles += [
        Patch(facecolor=colour, hatch=hatch, edgecolor="#a6a6a6", label=text)
        for text, colour, hatch in _ABSENT.values()
    ]
    handles.append(Line2D([], [], color="#bbbbbb", label="white: a segment ends and is saved"))
    handles.append(Line2D([], [], color="black", label="black: saved on demand"))
    axes.figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=9, frameon=False)
