"""Study of an oracle that rounds overhead and work up to whole slots, as SkyNomad's simulator does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from docs.studies.rows import read_rows
from hindsched.bench.deadline.sources import Window
from hindsched.instances.deadline import HOUR_S
from hindsched.offline.deadline import solve

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["rounded_ratios", "rows"]


def rows(windows: Iterable[Window], step: Callable[[str], None]) -> Iterator[dict[str, object]]:
    """Yield the optimum of each window, and the optimum after overhead and work are rounded up to whole slots.

    Parameters
    ----------
    windows
        Windows of the experiment.
    step
        Called after each window.
    """
    for window in windows:
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


def rounded_ratios() -> pd.Series[float]:
    """Return the rounded optimum over the optimum of each window of the stored rows."""
    found = read_rows("deadline_rounded")
    return found["rounded"] / found["free"]
