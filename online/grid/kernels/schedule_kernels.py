"""Queries and changes of node schedules, compiled: free nodes, least common starts, reservations."""

from __future__ import annotations

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compiling import kernel
from hindsched.online.grid.kernels.node_schedules import Candidates, NodeSchedules

__all__ = ["drop_past", "is_free", "kth_least", "least_start", "next_free", "release", "release_all", "reserve"]


@kernel
def is_free(schedules: NodeSchedules, node: int, start: int, end: int, known: int) -> bool:
    """Return whether a node is free from start to end - 1, by runs confirmed before slot ``known``."""
    entry = schedules.head[node]
    while entry >= 0:
        if schedules.end[entry] > start and schedules.confirmed[entry] < known:
            return bool(schedules.start[entry] >= end)  # runs are disjoint and sorted
        entry = schedules.after[entry]
    return True


@kernel
def next_free(schedules: NodeSchedules, node: int, start: int, length: int, known: int) -> int:
    """Return the least slot >= start from which on the node is free for ``length`` slots."""
    entry = schedules.head[node]
    while entry >= 0:
        if schedules.end[entry] > start and schedules.confirmed[entry] < known:
            if schedules.start[entry] >= start + length:
                return start
            start = schedules.end[entry]
        entry = schedules.after[entry]
    return start


@kernel
def drop_past(schedules: NodeSchedules, node: int, now: int) -> None:
    """Release the entries of runs that have ended."""
    entry = schedules.head[node]
    while entry >= 0 and schedules.end[entry] <= now:
        following = schedules.after[entry]
        schedules.after[entry] = schedules.pool[0]
        schedules.pool[0] = entry
        entry = following
    schedules.head[node] = entry


@kernel
def reserve(schedules: NodeSchedules, node: int, start: int, end: int, confirmed: int) -> None:
    """Add a run to the schedule of a node, which is free for it."""
    entry = schedules.pool[0]
    if entry >= 0:
        schedules.pool[0] = schedules.after[entry]
    else:
        entry = schedules.pool[1]
        schedules.pool[1] += 1
    schedules.start[entry] = start
    schedules.end[entry] = end
    schedules.confirmed[entry] = confirmed
    before = -1
    following = schedules.head[node]
    while following >= 0 and schedules.start[following] < start:
        before = following
        following = schedules.after[following]
    schedules.after[entry] = following
    if before < 0:
        schedules.head[node] = entry
    else:
        schedules.after[before] = entry


@kernel
def release(schedules: NodeSchedules, node: int, start: int) -> None:
    """Remove the run with this start from the schedule of a node, which has one."""
    before, entry = -1, schedules.head[node]
    while schedules.start[entry] != start:
        before, entry = entry, schedules.after[entry]
    if before < 0:
        schedules.head[node] = schedules.after[entry]
    else:
        schedules.after[before] = schedules.after[entry]
    schedules.after[entry] = schedules.pool[0]
    schedules.pool[0] = entry


@kernel
def release_all(schedules: NodeSchedules, nodes: Int32s, start: int) -> None:
    """Remove the run with this start from the schedules of nodes."""
    for i in range(len(nodes)):
        release(schedules, nodes[i], start)


@kernel
def least_start(
    schedules: NodeSchedules, candidates: Candidates, count: int, width: int, length: int, start: int, before: int
) -> int:
    """Return the least common start of ``width`` of the first ``count`` candidates, or any number >= ``before``.

    Parameters
    ----------
    candidates
        If the result is below ``before``, candidate i is free from the result on if ``free_at[i]`` equals it.
    start
        A lower bound on the start.

    Notes
    -----
    At a common start t >= start, at least ``width`` nodes have a next free slot <= t. So the width-th least of these
    slots is a lower bound. If ``width`` nodes are free there it is the result; otherwise the search continues from it.
    """
    nodes, known, free_at, scratch = candidates
    for i in range(count):
        free_at[i] = next_free(schedules, nodes[i], start, length, known[i])
    while True:
        for i in range(count):
            scratch[i] = free_at[i]
        least = kth_least(scratch, count, width - 1)
        if least >= before or least == start:
            return least
        start = least
        at_once = 0
        for i in range(count):
            if free_at[i] < start:
                free_at[i] = next_free(schedules, nodes[i], start, length, known[i])
            if free_at[i] == start:
                at_once += 1
        if at_once >= width:
            return start


@kernel
def kth_least(values: Ints, count: int, k: int) -> int:
    """Return the k-th least (from 0) of the first ``count`` values; their order changes."""
    low, high = 0, count - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return int(values[k])
