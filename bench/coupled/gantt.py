"""Gantt charts of the family `coupled`: letters over the states of the workers, as in the paper's Figure 1."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING, Any

from hindsched import instances
from hindsched.bench.report import canvas
from hindsched.instances.coupled import Instance, Outcome, Schedule
from hindsched.instances.states import DOWN, RECLAIMED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "draw_gantt", "draw_pair"]

#: Letters with their meanings and colours.
_ACTIONS = {
    "P": ("receives program", "#0072B2"),
    "D": ("receives data", "#56B4E9"),
    "C": ("computes", "#009E73"),
    "I": ("enrolled, idle", "#F0E442"),
}
_END_COLOUR = "#CC79A7"
_ABSENT = {RECLAIMED: ("RECLAIMED", "#d9d9d9", "////"), DOWN: ("DOWN", "#595959", "")}
#: Largest number of slots with readable letters.
_LETTERED_SLOTS = 60
#: Largest number of workers with a name each.
_LABELLED_WORKERS = 100


def draw(instance: Instance, schedule: Schedule) -> Figure:
    """Return the Gantt chart of a valid schedule."""
    found = instances.check(instance, schedule).outcome
    height = min(40.0, 1.3 + 0.26 * instance.num_workers)
    width = min(24.0, max(9.0, 2.0 + 0.16 * schedule.slots))
    figure, (axes,) = canvas.new_figure(width=width, heights=(height,))
    done = "unfinished" if found.makespan is None else f"makespan {found.makespan}"
    title = f"{_iterations(found)}, {done}"
    draw_gantt(axes, instance, schedule, ends=found.ends, title=title)
    return figure


def draw_pair(instance: Instance, best: Schedule, run: Schedule, policy: str, name: str) -> Figure:
    """Return the Gantt charts of an optimal schedule and, below it, of a policy's run."""
    slots = max(best.slots, run.slots)
    height = min(20.0, 1.0 + 0.2 * instance.num_workers)
    figure, panels = canvas.new_figure(2, width=min(24.0, max(9.0, 2.0 + 0.13 * slots)), heights=(height, height))
    outcomes = [instances.check(instance, schedule).outcome for schedule in (best, run)]
    is_of_makespan = all(found.iterations == found.wanted for found in outcomes)
    shown = zip(panels, (best, run), outcomes, ("hindsight optimum", policy), strict=True)
    for panel, schedule, found, who in shown:
        done = f"makespan {found.makespan}" if is_of_makespan else _iterations(found)
        title = f"{who}: {done}  ({name})"
        is_last = panel is panels[-1]
        draw_gantt(panel, instance, schedule, ends=found.ends, title=title, slots=slots, legend=is_last)
    return figure


def _iterations(outcome: Outcome) -> str:
    return f"{outcome.iterations} iteration{'' if outcome.iterations == 1 else 's'}"


def draw_gantt(
    axes: Axes,
    instance: Instance,
    schedule: Schedule,
    *,
    ends: Sequence[int] = (),
    title: str = "",
    slots: int | None = None,
    legend: bool = True,
) -> Axes:
    """Draw a schedule over the states of its workers, as in the paper's Figure 1.

    Parameters
    ----------
    axes
        The axes.
    instance, schedule
        The instance and the schedule; workers are drawn from top to bottom, with w after their names.
    ends
        The ends of iterations (see `hindsched.instances.Verdict`), marked by lines.
    title
        The title.
    slots
        The end of the axis; by default the end of the schedule.
    legend
        Whether to draw a legend.
    """
    slots = schedule.slots if slots is None else slots
    is_lettered = slots <= _LETTERED_SLOTS
    states = instance.prefix(min(slots, instance.slots))  # draw states only for the slots that are shown
    for q, row in enumerate(schedule.letters):
        for code, (_, colour, hatch) in _ABSENT.items():
            spans = _runs(states[q].tolist(), code)
            axes.broken_barh(spans, (q - 0.5, 1.0), facecolor=colour, hatch=hatch, edgecolor="#a6a6a6", linewidth=0)
        for letter, (_, colour) in _ACTIONS.items():
            spans = _runs(row, letter)
            axes.broken_barh(spans, (q - 0.36, 0.72), facecolor=colour, edgecolor="white", linewidth=0.4)
        if is_lettered:
            for slot, letter in enumerate(row):
                if letter in _ACTIONS:
                    light = letter in "ID"
                    axes.text(
                        slot + 0.5, q, letter, ha="center", va="center", fontsize=7, color="black" if light else "white"
                    )
    for end in ends:
        axes.axvline(end, color=_END_COLOUR, linewidth=1.4)
    axes.set_xlim(0, max(slots, 1))
    axes.set_ylim(instance.num_workers - 0.5, -0.5)
    step = max(1, ceil(instance.num_workers / _LABELLED_WORKERS))
    axes.set_yticks(range(0, instance.num_workers, step))
    axes.set_yticklabels(
        [f"{instance.name_of(q)}, w={instance.w[q]}" for q in range(0, instance.num_workers, step)], fontsize=9
    )
    axes.set_xlabel("slot")
    axes.set_title(title, loc="left", fontsize=10)
    if legend:
        _explain(axes)
    return axes


def _explain(axes: Axes) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=colour, label=f"{letter} {text}") for letter, (text, colour) in _ACTIONS.items()]
    handles += [
        Patch(facecolor=colour, hatch=hatch, edgecolor="#a6a6a6", label=text)
        for text, colour, hatch in _ABSENT.values()
    ]
    handles.append(Patch(facecolor=_END_COLOUR, label="iteration ends"))
    axes.figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=9, frameon=False)


def _runs(row: Sequence[Any], wanted: object) -> list[tuple[int, int]]:
    spans = []
    start = 0
    for value, group in groupby(row):
        length = len(list(group))
        if value == wanted:
            spans.append((start, length))
        start += length
    return spans
