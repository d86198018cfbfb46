"""Schedules of nodes in kernels: who is free when, the least common start, and the least of many."""

from __future__ import annotations

from typing import Any

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.online.grid.kernels.node_books import Book

__all__ = ["book_run", "forget", "is_free", "kth_least", "least_start", "next_free"]


@kernel
def is_free(book: Book, node: int, start: int, end: int, known: int) -> bool:
    """Whether a node is free from start to end - 1, by what was confirmed before slot ``known``."""
    entry = book.head[node]
    while entry >= 0:
        if book.end[entry] > start and book.confirmed[entry] < known:
            return bool(book.start[entry] >= end)  # they are disjoint and sorted: later ones start later
        entry = book.after[entry]
    return True


@kernel
def next_free(book: Book, node: int, start: int, length: int, known: int) -> int:
    """Return the least slot >= start from which on the node is free for ``length`` slots."""
    entry = book.head[node]
    while entry >= 0:
        if book.end[entry] > start and book.confirmed[entry] < known:
            if book.start[entry] >= start + length:
                return start
            start = book.end[entry]
        entry = book.after[entry]
    return start


@kernel
def forget(book: Book, node: int, now: int) -> None:
    """Give back the entries of runs that are over."""
    entry = book.head[node]
    while entry >= 0 and book.end[entry] <= now:
        following = book.after[entry]
        book.after[entry] = book.pool[0]
        book.pool[0] = entry
        entry = following
    book.head[node] = entry


@kernel
def book_run(book: Book, node: int, start: int, end: int, confirmed: int) -> None:
    """Write a run into the schedule of a node that is free for it."""
    entry = book.pool[0]
    if entry >= 0:
        book.pool[0] = book.after[entry]
    else:
        entry = book.pool[1]
        book.pool[1] += 1
    book.start[entry] = start
    book.end[entry] = end
    book.confirmed[entry] = confirmed
    before = -1
    following = book.head[node]
    while following >= 0 and book.start[following] < start:
        before = following
        following = book.after[following]
    book.after[entry] = following
    if before < 0:
        book.head[node] = entry
    else:
        book.after[before] = entry


@kernel
def least_start(
    book: Book,
    nodes: Any,
    known: Ints,
    free_at: Ints,
    scratch: Ints,
    count: int,
    width: int,
    length: int,
    start: int,
    before: int,
) -> int:
    """Return the least common start of ``width`` of these nodes, or any number >= before if it is not below that.

    Parameters
    ----------
    nodes, known
        (count,) nodes, and the slot before which what was confirmed counts, of each.
    free_at
        (count,) written: where the answer is below ``before``, node i is free from then on if ``free_at[i]`` is it.
    scratch
        (count,) to work with.
    start
        The least start that is asked for.

    Notes
    -----
    At any common start t >= start at least ``width`` nodes have a next free slot <= t. So the width-th least of these
    slots is a bound, and the answer where so many are free at once; else the question is asked again from there.
    """
    for i in range(count):
        free_at[i] = next_free(book, nodes[i], start, length, known[i])
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
                free_at[i] = next_free(book, nodes[i], start, length, known[i])
            if free_at[i] == start:
                at_once += 1
        if at_once >= width:
            return start


@kernel
def kth_least(values: Ints, count: int, k: int) -> int:
    """Return the k-th least (from 0) of the first ``count`` values; they are put in another order."""
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
