"""Queries of the scheduler late on node schedules, compiled (docs/grid/model.md section 3.7)."""

from __future__ import annotations

from hindsched.instances.array_types import Int32s
from hindsched.instances.compiling import kernel
from hindsched.online.grid.kernels.dgs_kernels import Jobs, SearchContext, search
from hindsched.online.grid.kernels.node_schedules import NodeSchedules
from hindsched.online.grid.kernels.schedule_kernels import drop_past, is_free, reserve

__all__ = ["best_offer", "first_free", "reserve_all"]

_ALWAYS = 2**62


@kernel
def best_offer(job: Jobs, searchers: Int32s, count: int, stamp: int, context: SearchContext) -> int:
    """Return the index of the searcher with the earliest offer for job 0, or -1; the work arrays hold the offer."""
    best, taken = _ALWAYS, -1
    for i in range(count):
        start = search(job, 0, searchers[i], i, best, stamp + i, context)
        context.work.offers[i] = start
        if 0 <= start < best:
            best, taken = start, i
    return taken


@kernel
def first_free(schedules: NodeSchedules, nodes: Int32s, width: int, now: int, end: int, found: Int32s) -> bool:
    """Write the first ``width`` nodes that are free from now to end - 1; return False if there are fewer."""
    taken = 0
    for i in range(len(nodes)):
        if len(nodes) - i < width - taken:
            return False
        drop_past(schedules, nodes[i], now)
        if is_free(schedules, nodes[i], now, end, _ALWAYS):
            found[taken] = nodes[i]
            taken += 1
            if taken == width:
                return True
    return False


@kernel
def reserve_all(schedules: NodeSchedules, nodes: Int32s, start: int, end: int, now: int) -> None:
    """Add a run to the schedules of nodes."""
    for i in range(len(nodes)):
        reserve(schedules, nodes[i], start, end, now)
