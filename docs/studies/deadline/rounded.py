"""Study of an oracle that rounds overhead and work up to whole slots, as SkyNomad's simulator does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hindsched.bench.deadline.reproduction import Setup, experiment
from hindsched.bench.deadline.sources import Window
from hindsched.instances.deadline import HOUR_S
from hindsched.offline.deadline import solve

__all__ = ["rounded_windows", "rows"]


def rounded_windows(starts: int) -> list[Window]:
    """Return the windows: those of the experiment, with fewer starts."""
    return experiment(Setup(starts=starts))


def rows(starts: int, step: Callable[[str], None]) -> Iterator[dict[str, object]]:
    """Yield the optimum of each window, and the optimum after overhead and work are rounded up to whole slots.

    Parameters
    ----------
    starts
        Windows of each zone, deadline and overhead.
    step
        Called after each window.
    """
    for window in rounded_windows(starts):
        job = window.load()
        whole = {name: -(-getattr(job, name) // job.slot_s) * job.slot_s for name in ("work_s", "overhead_s")}
        yield {
            "deadline_h": window.deadline_s // HOUR_S,
            "overhead_s": window.overhead_s,
            "zone": window.zone,
            "start": window.start_sample,
            "free": solve(job).value,
            "rounded": solve(job.replace(**whole)).value,
        }
        step(window.name)
