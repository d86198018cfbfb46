"""The picture of the front page: a schedule in hindsight above a heuristic's, on nine real spot machines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import hindsched as hs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["POLICY", "START", "draw", "ratio_rows", "window"]

#: The heuristic shown, and where the window shown starts.
POLICY, START = "IE", "2023-02-23T12:00"
#: The windows whose ratios give the median: one every three hours.
FIRST, NUM_WINDOWS, HOURS = "2023-02-20T00:00", 72, 3


def window(start: str) -> Any:
    """Return the instance of the front page, with slot 0 at this UTC time.

    Four iterations of four tasks run on nine AWS spot machines in slots of ten minutes; a task takes four slots, the
    program two and the data of a task one, and the master serves two workers at a time.
    """
    return hs.from_trace(
        "spot_aws_v100", slot=600, start=start, slots=400, train=300,
        m=4, iterations=4, n_com=2, t_prog=2, t_data=1, w=4,
    )  # fmt: skip


def ratio_rows() -> Iterator[dict[str, object]]:
    """Yield the start, the optimum, the heuristic's makespan and their ratio for every window."""
    for number in range(NUM_WINDOWS):
        start = (datetime.fromisoformat(FIRST) + timedelta(hours=HOURS * number)).isoformat(timespec="minutes")
        instance = window(start)
        optimum, makespan = hs.solve(instance).value, hs.run(instance, POLICY).makespan
        yield {"start": start, "policy": POLICY, "optimum": optimum, "makespan": makespan, "ratio": makespan / optimum}


def draw() -> Figure:
    """Return the picture."""
    from hindsched.bench.coupled.gantt import draw_gantt
    from hindsched.bench.report import canvas

    instance = window(START)
    best, run = hs.solve(instance), hs.run(instance, POLICY)
    figure, panels = canvas.new_figure(2, width=9.0, heights=(2.4, 2.4))
    titles = (
        f"Best schedule in hindsight: {best.value} slots",
        f"Heuristic {POLICY}: {run.makespan} slots, {run.makespan / best.value:.2f} times the optimum",
    )
    for panel, schedule, title in zip(panels, (best.schedule, run.schedule), titles, strict=True):
        ends = hs.check(instance, schedule).outcome.ends
        is_last = panel is panels[-1]
        draw_gantt(panel, instance, schedule, ends=ends, title=title, slots=run.makespan, legend=is_last)
        panel.set_yticklabels([instance.name_of(q).removesuffix("_v100_1") for q in range(instance.num_workers)])
    panels[0].set_xlabel("")
    panels[-1].set_xlabel("slot of 10 minutes")
    return figure
