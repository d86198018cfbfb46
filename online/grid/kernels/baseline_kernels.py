"""Centralised schedulers: the compiled twin of `hindsched.online.grid.baselines`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compiling import kernel
from hindsched.online.grid.kernels.node_schedules import Candidates, NodeSchedules
from hindsched.online.grid.kernels.schedule_kernels import drop_past, least_start, reserve

__all__ = ["Running", "asap_counted", "asap_pinned", "easy", "fcfs", "place", "queue"]


class Running(NamedTuple):
    """Running jobs: (N,) ends and values, the latest end first; the first ``number[0]`` are valid."""

    ends: Ints
    values: Ints
    number: Ints

    @classmethod
    def of(cls, most: int) -> Running:
        """Return an empty set with room for ``most`` running jobs."""
        return cls(np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.zeros(1, dtype=np.int64))


@kernel
def _add(running: Running, end: int, value: int) -> None:
    i = running.number[0]
    running.number[0] += 1
    while i > 0 and running.ends[i - 1] < end:
        running.ends[i], running.values[i] = running.ends[i - 1], running.values[i - 1]
        i -= 1
    running.ends[i], running.values[i] = end, value


@kernel
def _leave(running: Running, now: int) -> int:
    """Remove the jobs that have ended and return the sum of their values."""
    total = 0
    while running.number[0] > 0 and running.ends[running.number[0] - 1] <= now:
        running.number[0] -= 1
        total += running.values[running.number[0]]
    return total


@kernel
def asap_pinned(
    submit: Ints,
    width: Ints,
    length: Ints,
    schedules: NodeSchedules,
    candidates: Candidates,
    starts: Ints,
    held: Int32s,
) -> None:
    """Give each job the least start at which enough nodes are free for it, and the lowest of these nodes.

    ``candidates`` are all nodes, known up to a slot after all others; nodes are written to ``held`` job by job.
    """
    nodes, known, free_at, _ = candidates
    at = 0
    for j in range(len(submit)):
        for k in range(len(nodes)):
            drop_past(schedules, k, submit[j])
        start = least_start(schedules, candidates, len(nodes), width[j], length[j], submit[j], known[0])
        starts[j] = start
        taken = 0
        for k in range(len(nodes)):
            if free_at[k] == start:
                reserve(schedules, k, start, start + length[j], submit[j])
                held[at] = k
                at += 1
                taken += 1
                if taken == width[j]:
                    break


@kernel
def asap_counted(submit: Ints, width: Ints, length: Ints, nodes: int, time: Ints, used: Ints, starts: Ints) -> None:
    """Give each job the least start at which it fits after placing the earlier jobs, by the number of nodes.

    ``time`` and ``used``, of size 2 J + 1, hold the profile: ``used[i]`` nodes from ``time[i]`` to ``time[i + 1]``, and
    none after the last.
    """
    first, last = 0, 1  # the profile is first .. last - 1
    time[0], used[0] = 0, 0
    for j in range(len(submit)):
        while first + 1 < last and time[first + 1] <= submit[j]:
            first += 1
        start, i = submit[j], first
        x = first
        while x < last and time[x] < start + length[j]:
            if used[x] + width[j] > nodes:
                start, i = time[x + 1], x + 1
            x += 1
        starts[j] = start
        if time[i] < start:
            i += 1
            _cut(time, used, i, last, start)
            last += 1
        end = start + length[j]
        x = i
        while x < last and time[x] < end:
            x += 1
        if x == last or time[x] > end:
            _cut(time, used, x, last, end)
            last += 1
        for y in range(i, x):
            used[y] += width[j]


@kernel
def _cut(time: Ints, used: Ints, i: int, last: int, slot: int) -> None:
    """Insert a breakpoint at index i of the profile, which ends before ``last``; usage does not change."""
    for x in range(last, i, -1):
        time[x], used[x] = time[x - 1], used[x - 1]
    time[i], used[i] = slot, used[i - 1]


@kernel
def fcfs(submit: Ints, width: Ints, length: Ints, nodes: int, running: Running, starts: Ints) -> None:
    """Start each job as soon as it fits and those before it have started."""
    free = nodes
    now = 0
    for j in range(len(submit)):
        now = max(now, submit[j])
        free += _leave(running, now)
        while free < width[j]:
            now = running.ends[running.number[0] - 1]
            free += _leave(running, now)
        starts[j] = now
        free -= width[j]
        _add(running, now + length[j], width[j])


@kernel
def queue(
    submit: Ints, width: Ints, length: Ints, rank: Ints, nodes: int, running: Running, waiting: Ints, starts: Ints
) -> None:
    """Start the jobs that fit, in one pass through the waiting jobs by rank, when a job ends or arrives."""
    free = nodes
    coming, count = 0, 0
    while coming < len(submit) or count > 0:
        now = _next_event(submit, coming, running)
        free += _leave(running, now)
        while coming < len(submit) and submit[coming] <= now:
            low, high = 0, count
            while low < high:
                middle = (low + high) >> 1
                if rank[waiting[middle]] < rank[coming]:
                    low = middle + 1
                else:
                    high = middle
            for i in range(count, low, -1):
                waiting[i] = waiting[i - 1]
            waiting[low] = coming
            count += 1
            coming += 1
        kept = 0
        for i in range(count):
            j = waiting[i]
            if width[j] <= free:
                free -= width[j]
                starts[j] = now
                _add(running, now + length[j], width[j])
            else:
                waiting[kept] = j
                kept += 1
        count = kept


@kernel
def easy(submit: Ints, width: Ints, length: Ints, nodes: int, running: Running, waiting: Ints, starts: Ints) -> None:
    """Start the first of the queue as soon as it fits, and others if they do not delay it."""
    free = nodes
    coming, first, last = 0, 0, 0  # the queue is first .. last - 1 of waiting
    while coming < len(submit) or first < last:
        now = _next_event(submit, coming, running)
        free += _leave(running, now)
        while coming < len(submit) and submit[coming] <= now:
            waiting[last] = coming
            last += 1
            coming += 1
        while first < last and width[waiting[first]] <= free:
            j = waiting[first]
            first += 1
            free -= width[j]
            starts[j] = now
            _add(running, now + length[j], width[j])
        if last - first < 2 or free == 0:
            continue
        reserved, spare = _reservation(running, free, width[waiting[first]])
        kept = first + 1
        for i in range(first + 1, last):
            j = waiting[i]
            is_over = now + length[j] <= reserved
            if width[j] <= free and (is_over or width[j] <= spare):
                free -= width[j]
                if not is_over:
                    spare -= width[j]
                starts[j] = now
                _add(running, now + length[j], width[j])
            else:
                waiting[kept] = j
                kept += 1
        last = kept


@kernel
def _next_event(submit: Ints, coming: int, running: Running) -> int:
    """Return the next slot in which a job ends or arrives."""
    count = running.number[0]
    if count == 0:
        return int(submit[coming])
    if coming == len(submit):
        return int(running.ends[count - 1])
    return int(min(submit[coming], running.ends[count - 1]))


@kernel
def _reservation(running: Running, free: int, width: int) -> tuple[int, int]:
    """Return the slot in which a job fits by the ends of running jobs, and the nodes that it leaves free then."""
    i = running.number[0]
    reserved = 0
    while i > 0 and (free < width or running.ends[i - 1] == reserved):
        i -= 1
        reserved = running.ends[i]
        free += running.values[i]
    return reserved, free - width


@kernel
def place(
    order: Ints, starts: Ints, width: Ints, length: Ints, offsets: Ints, is_free: Any, running: Running, held: Int32s
) -> None:
    """Give jobs the lowest free nodes, in the given order; write them to ``held`` from the job's offset on.

    Parameters
    ----------
    order
        Jobs by (start, index).
    is_free
        (M,) all true.
    """
    low = 0  # no lower node is free
    for j in order:
        while running.number[0] > 0 and running.ends[running.number[0] - 1] <= starts[j]:
            running.number[0] -= 1
            done = running.values[running.number[0]]
            for i in range(offsets[done], offsets[done] + width[done]):
                is_free[held[i]] = True
                low = min(low, held[i])
        at = offsets[j]
        while at < offsets[j] + width[j]:
            if is_free[low]:
                is_free[low] = False
                held[at] = low
                at += 1
            low += 1
        _add(running, starts[j] + length[j], j)
