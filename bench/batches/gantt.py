"""Gantt pictures of this family: workers' availability, contacts and tasks over the seconds of some batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsched import instances
from hindsched.bench.report import canvas
from hindsched.instances.batches import Instance, Run
from hindsched.instances.batches.run import NOTHING
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "draw_pair"]

#: More make no picture that can be read.
_MOST_WORKERS, _MOST_CONTACTS = 400, 20_000


def draw(instance: Instance, schedule: Run) -> Figure:
    """Return the picture of a run that the checker accepts."""
    figure, (axes,) = canvas.new_figure(heights=(_height(instance),))
    _draw(axes, instance, schedule, _summary(instance, schedule))
    return figure


def draw_pair(instance: Instance, best: Run, run: Run, policy: str, name: str) -> Figure:
    """Return the picture of a certificate above that of a policy's run."""
    figure, panels = canvas.new_figure(2, heights=(_height(instance),) * 2)
    for panel, schedule, who in zip(panels, (best, run), ("best in hindsight", policy), strict=True):
        _draw(panel, instance, schedule, f"{who}: {_summary(instance, schedule)}  ({name})")
    return figure


def _summary(instance: Instance, schedule: Run) -> str:
    return str(instances.check(instance, schedule, of=schedule).outcome)


def _height(instance: Instance) -> float:
    return min(16.0, 2.0 + 0.14 * instance.num_workers)


def _draw(axes: Axes, instance: Instance, schedule: Run, title: str) -> None:
    contacts = schedule.contacts
    if instance.num_workers > _MOST_WORKERS or len(contacts) > _MOST_CONTACTS:
        raise InputError(
            f"{instance.num_workers} workers and {len(contacts)} contacts, expected at most {_MOST_WORKERS} and "
            f"{_MOST_CONTACTS} for a picture",
            place="gantt",
        )
    since, until = instance.start, instance.end
    up = instance.window(since, until)
    for j in range(instance.num_workers):
        spans = [(max(a, since), min(b, until)) for a, b in up.of_worker(j).tolist()]
        axes.broken_barh([(a, b - a) for a, b in spans], (j - 0.45, 0.9), facecolor="#E8E8E8")
    busy: dict[int, int] = {}
    for time, j, *sent in contacts.rows():
        axes.plot([time], [j], marker="|", color="black", markersize=4)
        if not sent:
            continue
        batch, task, end = sent
        begin = max(time, busy.get(j, 0))
        stop = until if end is None or end == NOTHING else end
        busy[j] = stop
        colour = canvas.COLOURS[int(batch or 0) % 6]
        axes.broken_barh([(begin, max(stop - begin, 0))], (j - 0.3, 0.6), facecolor=colour, edgecolor="white")
        if len(contacts) <= 120:
            axes.text((begin + stop) / 2, j, f"{batch}.{task}", ha="center", va="center", fontsize=6, clip_on=True)
    for i, (submission, deadline) in enumerate(instance.batches):
        axes.axvline(submission, color=canvas.COLOURS[i % 6], linestyle=":", linewidth=1)
        axes.axvline(deadline, color=canvas.COLOURS[i % 6], linestyle="-", linewidth=1)
    axes.set_xlim(since, until)
    axes.set_ylim(instance.num_workers - 0.5, -0.5)
    axes.set_xlabel("second; dotted: submission, drawn through: deadline; grey: available; a stroke: contact")
    axes.set_ylabel("worker")
    axes.set_title(title, loc="left", fontsize=10)
