"""What late asks of the nodes' schedules, as kernels (docs/grid/model.md section 3.7)."""

from __future__ import annotations

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compiling import kernel
from hindsched.online.grid.kernels.book_kernels import book_run, forget, is_free
from hindsched.online.grid.kernels.dgs_kernels import Choice, Jobs, Work, search
from hindsched.online.grid.kernels.node_books import Book
from hindsched.online.grid.kernels.overlay_kernels import Overlay

__all__ = ["best_offer", "book_all", "first_free"]

_ALWAYS = 2**62


@kernel
def best_offer(
    job: Jobs,
    searchers: Int32s,
    count: int,
    stamp: int,
    overlay: Overlay,
    book: Book,
    choice: Choice,
    work: Work,
    counts: Ints,
) -> int:
    """Return which searcher offers job 0 the least start, -1 if none offers any; see `work` for start and nodes."""
    best, taken = _ALWAYS, -1
    for i in range(count):
        start = search(job, 0, searchers[i], i, best, stamp + i, overlay, book, choice, work, counts)
        work.offers[i] = start
        if 0 <= start < best:
            best, taken = start, i
    return taken


@kernel
def first_free(book: Book, nodes: Int32s, width: int, now: int, end: int, found: Int32s) -> bool:
    """Write the first nodes that are free from now to end - 1, and say whether they are as many as asked for."""
    taken = 0
    for i in range(len(nodes)):
        if len(nodes) - i < width - taken:
            return False
        forget(book, nodes[i], now)
        if is_free(book, nodes[i], now, end, _ALWAYS):
            found[taken] = nodes[i]
            taken += 1
            if taken == width:
                return True
    return False


@kernel
def book_all(book: Book, nodes: Int32s, start: int, end: int, now: int) -> None:
    """Write a run into the schedules of nodes."""
    for i in range(len(nodes)):
        book_run(book, nodes[i], start, end, now)
