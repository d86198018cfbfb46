"""dgs: searchers, offers and counters, job by job; the compiled twin of `hindsched.online.grid.dgs`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Int32s, Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.online.grid.kernels.node_schedules import Candidates, NodeSchedules, below
from hindsched.online.grid.kernels.overlay_kernels import Overlay
from hindsched.online.grid.kernels.schedule_kernels import drop_past, is_free, least_start, reserve

__all__ = ["COUNTED", "Jobs", "SearchContext", "SearchOptions", "Work", "allocate", "run_jobs", "search"]

#: Names of the counters, in the order of the array of counts.
COUNTED = (
    "searches",
    "queries",
    "first",
    "second",
    "push",
    "answers",
    "refusals",
    "allocated_nodes",
    "failed_reach",
    "failed_stale",
)
_SEARCHES, _QUERIES, _FIRST, _SECOND, _PUSH, _ANSWERS, _REFUSALS, _ALLOCATED, _REACH, _STALE = range(len(COUNTED))
_ALWAYS = 2**62


class Jobs(NamedTuple):
    """Jobs and their allocations.

    Parameters
    ----------
    submit, width, length
        (J,) as in the instance.
    starts
        (J,) written: the start, -1 for a failed job.
    held
        Written: the nodes of each job, from its offset on.
    offsets
        (J,) sums of widths.
    """

    submit: Ints
    width: Ints
    length: Ints
    starts: Ints
    held: Int32s
    offsets: Ints


class SearchOptions(NamedTuple):
    """Options as numbers; ``needs_all``: an offer that is not the best may be used."""

    fwd: int
    is_poll: bool
    is_own: bool
    poll_slots: int
    is_further: bool
    latency: int
    needs_all: bool


class Work(NamedTuple):
    """Work arrays.

    Parameters
    ----------
    pool
        (d,) the searchers.
    seen
        (M,) the last search that discovered the node.
    candidates
        (M,) the candidates of a search in order of discovery.
    free
        (M,) the candidates that are free at the submission, in order of discovery.
    offers, order
        (fwd,) the start of each searcher's offer, -1 without one, and their order.
    offered
        (fwd, most width) the nodes of each offer.
    """

    pool: Int32s
    seen: Ints
    candidates: Candidates
    free: Int32s
    offers: Ints
    order: Ints
    offered: Int32s

    @classmethod
    def of(cls, nodes: int, degree: int, fwd: int, widest: int) -> Work:
        """Return arrays of the right sizes."""
        return cls(
            np.empty(max(degree, 1), dtype=np.int32),
            np.full(nodes, -1, dtype=np.int64),
            Candidates(np.empty(nodes, dtype=np.int32), *(np.empty(nodes, dtype=np.int64) for _ in range(3))),
            np.empty(nodes, dtype=np.int32),
            np.empty(fwd, dtype=np.int64),
            np.empty(fwd, dtype=np.int64),
            np.empty((fwd, widest), dtype=np.int32),
        )


class SearchContext(NamedTuple):
    """The arguments that all kernels of a search share."""

    overlay: Overlay
    schedules: NodeSchedules
    options: SearchOptions
    work: Work
    counts: Ints


@kernel
def run_jobs(
    jobs: Jobs,
    first: int,
    last: int,
    drawn: Words,
    context: SearchContext,
) -> None:
    """Allocate jobs ``first`` to ``last`` - 1, one per row of ``drawn``, on an unchanged overlay."""
    overlay, _, options, work, counts = context
    lists = overlay.lists
    nodes, d = lists.shape
    for j in range(first, last):
        jobs.starts[j] = -1
        entry = below(drawn[j - first, 0], nodes)
        size = 0
        for x in range(d):
            if lists[entry, x] >= 0:
                work.pool[size] = lists[entry, x]
                size += 1
        searchers = min(options.fwd, size)
        for i in range(searchers):
            x = i + below(drawn[j - first, 1 + i], size - i)
            work.pool[i], work.pool[x] = work.pool[x], work.pool[i]
        found = allocate(jobs, j, searchers, j * 64, context)
        if jobs.starts[j] < 0:
            counts[_STALE if found > 0 else _REACH] += 1


@kernel
def allocate(jobs: Jobs, j: int, searchers: int, stamp: int, context: SearchContext) -> int:
    """Let the first nodes of the pool search for a job, confirm the first valid offer; return the number of offers."""
    work, counts = context.work, context.counts
    found = 0
    best = _ALWAYS
    for i in range(searchers):
        # with exact knowledge, an offer that starts no earlier than the best is never used
        start = search(jobs, j, work.pool[i], i, best, stamp + i, context)
        work.offers[i] = start
        if start >= 0:
            found += 1
            if start < best and not context.options.needs_all:
                best = start
    counts[_SEARCHES] += searchers
    counts[_ANSWERS] += found
    _confirm(jobs, j, searchers, found, context)
    return found


@kernel
def search(
    jobs: Jobs,
    j: int,
    searcher: int,
    drawn: int,
    before: int,
    stamp: int,
    context: SearchContext,
) -> int:
    """Return the start that a searcher offers, and write its nodes; -1 without offer.

    For an offer that does not start before ``before``, any later start is returned and no nodes are written.
    """
    overlay, schedules, options, work, counts = context
    lists = overlay.lists
    d = lists.shape[1]
    submit, width, length = jobs.submit[j], jobs.width[j], jobs.length[j]
    counts[_FIRST] += overlay.sizes[searcher]
    count, free = _discover(searcher, 0, 0, submit, length, stamp, context)
    own = count
    if free < width:
        for x in range(d):
            queried = lists[searcher, x]
            if queried >= 0 and overlay.up[queried]:
                counts[_QUERIES] += 1
                counts[_SECOND] += overlay.sizes[queried]
                count, free = _discover(queried, count, free, submit, length, stamp, context)
                if free >= width:
                    break
    if options.is_further and free < width:
        while count < width and own < count:
            queried = work.candidates.nodes[own]
            own += 1
            if not overlay.up[queried]:
                continue
            counts[_QUERIES] += 1
            counts[_SECOND] += overlay.sizes[queried]
            count, free = _discover(queried, count, free, submit, length, stamp, context)
    if free >= width:
        if submit < before:
            for i in range(width):
                work.offered[drawn, i] = work.free[i]
        return int(submit)
    if count < width:
        return -1
    start = least_start(schedules, work.candidates, count, width, length, submit + 1, before)
    if start < before:
        taken = 0
        for i in range(count):
            if work.candidates.free_at[i] == start:
                work.offered[drawn, taken] = work.candidates.nodes[i]
                taken += 1
                if taken == width:
                    break
    return start if start < _ALWAYS else -1  # a node that is down has a run without end


@kernel
def _discover(
    node: int,
    count: int,
    free: int,
    submit: int,
    length: int,
    stamp: int,
    context: SearchContext,
) -> tuple[int, int]:
    """Add the neighbours of a node to the candidates; return their number, and the number free at submission."""
    overlay, schedules, options, work, _ = context
    lists = overlay.lists
    known = submit - options.latency + 1 if options.latency else _ALWAYS
    if options.is_poll:
        phase = node % options.poll_slots if options.is_own else 0
        known = min(known, submit - (submit - phase) % options.poll_slots if submit >= phase else 0)
    for x in range(lists.shape[1]):
        candidate = lists[node, x]
        if candidate < 0 or work.seen[candidate] == stamp:
            continue
        work.seen[candidate] = stamp
        work.candidates.nodes[count] = candidate
        work.candidates.known[count] = known
        count += 1
        drop_past(schedules, candidate, submit)
        if is_free(schedules, candidate, submit, submit + length, known):
            work.free[free] = candidate
            free += 1
    return count, free


@kernel
def _confirm(jobs: Jobs, j: int, searchers: int, found: int, context: SearchContext) -> None:
    """Accept the first offer, by (start, drawn), whose nodes are free."""
    overlay, schedules, _, work, counts = context
    submit, width, length = jobs.submit[j], jobs.width[j], jobs.length[j]
    for _ in range(found):
        taken = -1
        for i in range(searchers):
            if work.offers[i] >= 0 and (taken < 0 or work.offers[i] < work.offers[taken]):
                taken = i
        start = work.offers[taken]
        work.offers[taken] = -1
        is_fresh = True
        for i in range(width):
            if not is_free(schedules, work.offered[taken, i], start, start + length, _ALWAYS):
                is_fresh = False
                break
        if is_fresh:
            for i in range(width):
                node = work.offered[taken, i]
                reserve(schedules, node, start, start + length, submit)
                jobs.held[jobs.offsets[j] + i] = node
                counts[_PUSH] += overlay.in_degrees[node]
            counts[_ALLOCATED] += width
            jobs.starts[j] = start
            return
        counts[_REFUSALS] += 1
