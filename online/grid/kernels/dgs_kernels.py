"""dgs as a kernel: searchers, offers and counters, job by job (docs/grid/model.md section 3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Int32s, Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.online.grid.kernels.book_kernels import book_run, forget, is_free, least_start
from hindsched.online.grid.kernels.node_books import Book, below
from hindsched.online.grid.kernels.overlay_kernels import Overlay

__all__ = ["COUNTED", "Choice", "Jobs", "Work", "run_jobs", "search"]

#: What is counted here, in the order of the array of counts.
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
    """Jobs, and what becomes of them.

    Parameters
    ----------
    submit, width, length
        (J,) of the instance.
    starts
        (J,) written: the start, -1 where the job failed.
    held
        Written: the nodes of each job at its place of ``offsets``.
    offsets
        (J,) sums of widths.
    """

    submit: Ints
    width: Ints
    length: Ints
    starts: Ints
    held: Int32s
    offsets: Ints


class Choice(NamedTuple):
    """Options as numbers."""

    fwd: int
    is_poll: bool
    is_own: bool
    poll_slots: int
    is_further: bool


class Work(NamedTuple):
    """Arrays that kernels work with.

    Parameters
    ----------
    pool
        (d,) the searchers.
    seen
        (M,) the search in which a node was discovered last.
    nodes, known
        (M,) the candidates of a search in order of discovery, and from which slot on each is not known.
    free
        (M,) the candidates that are free at the submission, in order of discovery.
    free_at, scratch
        (M,) for the least common start.
    offers, order
        (fwd,) the start of each searcher's offer, -1 without one, and their order.
    offered
        (fwd, most width) the nodes of each offer.
    """

    pool: Int32s
    seen: Ints
    nodes: Int32s
    known: Ints
    free: Int32s
    free_at: Ints
    scratch: Ints
    offers: Ints
    order: Ints
    offered: Int32s

    @classmethod
    def of(cls, nodes: int, degree: int, fwd: int, widest: int) -> Work:
        """Return arrays of the right sizes."""
        return cls(
            np.empty(max(degree, 1), dtype=np.int32),
            np.full(nodes, -1, dtype=np.int64),
            np.empty(nodes, dtype=np.int32),
            np.empty(nodes, dtype=np.int64),
            np.empty(nodes, dtype=np.int32),
            np.empty(nodes, dtype=np.int64),
            np.empty(nodes, dtype=np.int64),
            np.empty(fwd, dtype=np.int64),
            np.empty(fwd, dtype=np.int64),
            np.empty((fwd, widest), dtype=np.int32),
        )


@kernel
def run_jobs(
    jobs: Jobs,
    first: int,
    last: int,
    drawn: Words,
    overlay: Overlay,
    book: Book,
    choice: Choice,
    work: Work,
    counts: Ints,
) -> None:
    """Settle jobs ``first`` to ``last`` - 1, row by row of ``drawn``; the overlay does not change meanwhile."""
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
        searchers = min(choice.fwd, size)
        found = 0
        best = _ALWAYS
        for i in range(searchers):
            x = i + below(drawn[j - first, 1 + i], size - i)
            work.pool[i], work.pool[x] = work.pool[x], work.pool[i]
            # known exactly, an offer that starts no earlier than the best is not looked at again
            start = search(jobs, j, work.pool[i], i, best, j * 64 + i, overlay, book, choice, work, counts)
            work.offers[i] = start
            if start >= 0:
                found += 1
                if start < best and not choice.is_poll:
                    best = start
        counts[_SEARCHES] += searchers
        counts[_ANSWERS] += found
        _confirm(jobs, j, searchers, found, overlay, book, work, counts)


@kernel
def search(
    jobs: Jobs,
    j: int,
    searcher: int,
    drawn: int,
    before: int,
    stamp: int,
    overlay: Overlay,
    book: Book,
    choice: Choice,
    work: Work,
    counts: Ints,
) -> int:
    """Return the start that a searcher offers, its nodes written; -1 for none.

    An offer that would not start before ``before`` may come with any start from there on, and without nodes.
    """
    lists = overlay.lists
    d = lists.shape[1]
    submit, width, length = jobs.submit[j], jobs.width[j], jobs.length[j]
    counts[_FIRST] += overlay.sizes[searcher]
    count, free = _discover(searcher, 0, 0, submit, length, stamp, overlay, book, choice, work)
    own = count
    if free < width:
        for x in range(d):
            if lists[searcher, x] >= 0:
                asked = lists[searcher, x]
                counts[_QUERIES] += 1
                counts[_SECOND] += overlay.sizes[asked]
                count, free = _discover(asked, count, free, submit, length, stamp, overlay, book, choice, work)
                if free >= width:
                    break
    if choice.is_further and free < width:
        while count < width and own < count:
            asked = work.nodes[own]
            own += 1
            counts[_QUERIES] += 1
            counts[_SECOND] += overlay.sizes[asked]
            count, free = _discover(asked, count, free, submit, length, stamp, overlay, book, choice, work)
    if free >= width:
        if submit < before:
            for i in range(width):
                work.offered[drawn, i] = work.free[i]
        return int(submit)
    if count < width:
        return -1
    start = least_start(
        book, work.nodes, work.known, work.free_at, work.scratch, count, width, length, submit + 1, before
    )
    if start < before:
        taken = 0
        for i in range(count):
            if work.free_at[i] == start:
                work.offered[drawn, taken] = work.nodes[i]
                taken += 1
                if taken == width:
                    break
    return start


@kernel
def _discover(
    node: int,
    count: int,
    free: int,
    submit: int,
    length: int,
    stamp: int,
    overlay: Overlay,
    book: Book,
    choice: Choice,
    work: Work,
) -> tuple[int, int]:
    """Add the neighbours of a node to the candidates; return how many there are, and how many free at submission."""
    lists = overlay.lists
    known = _ALWAYS
    if choice.is_poll:
        phase = node % choice.poll_slots if choice.is_own else 0
        known = submit - (submit - phase) % choice.poll_slots if submit >= phase else 0
    for x in range(lists.shape[1]):
        candidate = lists[node, x]
        if candidate < 0 or work.seen[candidate] == stamp:
            continue
        work.seen[candidate] = stamp
        work.nodes[count] = candidate
        work.known[count] = known
        count += 1
        forget(book, candidate, submit)
        if is_free(book, candidate, submit, submit + length, known):
            work.free[free] = candidate
            free += 1
    return count, free


@kernel
def _confirm(
    jobs: Jobs, j: int, searchers: int, found: int, overlay: Overlay, book: Book, work: Work, counts: Ints
) -> None:
    """Take the first offer, by (start, drawn), whose nodes are really free."""
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
            if not is_free(book, work.offered[taken, i], start, start + length, _ALWAYS):
                is_fresh = False
                break
        if is_fresh:
            for i in range(width):
                node = work.offered[taken, i]
                book_run(book, node, start, start + length, submit)
                jobs.held[jobs.offsets[j] + i] = node
                counts[_PUSH] += overlay.in_degrees[node]
            counts[_ALLOCATED] += width
            jobs.starts[j] = start
            return
        counts[_REFUSALS] += 1
    counts[_STALE if found > 0 else _REACH] += 1
