"""Overlays: static lists and rounds of Cyclon; the compiled twin of `hindsched.online.grid.overlays`.

`_merge` takes nine arguments: views of rows are faster than indices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Flags, Int32s, Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.online.grid.draws import words
from hindsched.online.grid.kernels.node_schedules import below

__all__ = ["Overlay", "cyclon_round", "static_overlay"]


class Overlay(NamedTuple):
    """The neighbour lists of all nodes.

    Parameters
    ----------
    lists, ages
        (M, d) the neighbour in each place of a node's list, -1 for an empty place, and its age.
    sizes, in_degrees
        (M,) the number of filled places of each node, and the number of nodes that list it.
    up
        (M,) whether a node is available.
    """

    lists: Int32s
    ages: Int32s
    sizes: Ints
    in_degrees: Ints
    up: Flags


def static_overlay(nodes: int, degree: int, seed: int) -> Overlay:
    """Return the static lists, all ages 0. O(M x d)."""
    d = min(degree, nodes - 1)
    lists = np.empty((nodes, d), dtype=np.int32)
    drawn = np.empty((nodes, d), dtype=np.uint64)
    for k in range(nodes):
        drawn[k] = words(d, "grid", "overlay", seed, k)
    _draw_lists(drawn, np.arange(nodes, dtype=np.int32), lists)
    in_degrees = np.bincount(lists.ravel(), minlength=nodes).astype(np.int64)
    return Overlay(
        lists, np.zeros_like(lists), np.full(nodes, d, dtype=np.int64), in_degrees, np.ones(nodes, dtype=np.bool_)
    )


@kernel
def _draw_lists(drawn: Words, pool: Int32s, lists: Int32s) -> None:
    """Draw each node's list from all others; ``pool`` is 0, 1, ... before and after."""
    nodes, d = lists.shape
    for k in range(nodes):
        for i in range(d):
            x = i + below(drawn[k, i], nodes - 1 - i)
            pool[i], pool[x] = pool[x], pool[i]
            lists[k, i] = pool[i] + (1 if pool[i] >= k else 0)
        for i in range(d - 1, -1, -1):
            x = i + below(drawn[k, i], nodes - 1 - i)
            pool[i], pool[x] = pool[x], pool[i]


@kernel
def cyclon_round(overlay: Overlay, swap: int, drawn: Words, work: Int32s) -> None:
    """Let every node shuffle once, one after the other.

    Parameters
    ----------
    drawn
        At least M x (2 swap - 1) words.
    work
        (6, swap + d) work array.
    """
    lists, ages, sizes, in_degrees, up = overlay
    nodes, d = lists.shape
    word = 0
    sent, given, message, message_ages, reply, reply_ages = range(6)
    for p in range(nodes):
        if sizes[p] == 0 or not up[p]:
            continue
        oldest = _oldest(lists[p], ages[p])
        q = lists[p, oldest]
        if not up[q]:
            lists[p, oldest] = -1
            sizes[p] -= 1
            in_degrees[q] -= 1
            continue
        others = _filled(lists[p], oldest, work[sent])
        sends = min(swap - 1, others)
        for i in range(sends):
            x = i + below(drawn[word], others - i)
            word += 1
            work[sent, i], work[sent, x] = work[sent, x], work[sent, i]
        work[message, 0], work[message_ages, 0] = p, 0
        for i in range(sends):
            work[message, i + 1] = lists[p, work[sent, i]]
            work[message_ages, i + 1] = ages[p, work[sent, i]]
        filled = _filled(lists[q], d, work[given])
        gives = min(swap, filled)
        for i in range(gives):
            x = i + below(drawn[word], filled - i)
            word += 1
            work[given, i], work[given, x] = work[given, x], work[given, i]
        for i in range(gives):
            work[reply, i] = lists[q, work[given, i]]
            work[reply_ages, i] = ages[q, work[given, i]]
        lists[p, oldest] = -1
        sizes[p] -= 1
        in_degrees[q] -= 1
        _merge(lists[p], ages[p], overlay, p, work[reply], work[reply_ages], gives, work[sent], sends)
        _merge(lists[q], ages[q], overlay, q, work[message], work[message_ages], sends + 1, work[given], gives)


@kernel
def _oldest(row: Int32s, row_ages: Int32s) -> int:
    """Increase the ages of a cache by one, and return the first of its oldest entries."""
    for x in range(len(row)):
        row_ages[x] += 1  # of empty places too: a new entry sets the age
    oldest, age = -1, -1
    for x in range(len(row)):
        if row[x] >= 0 and row_ages[x] > age:
            oldest, age = x, row_ages[x]
    return oldest


@kernel
def _filled(row: Int32s, without: int, places: Int32s) -> int:
    """Write the filled places of a cache except one, ascending, and return their number."""
    count = 0
    for x in range(len(row)):
        places[count] = x
        count += 1 if row[x] >= 0 and x != without else 0
    return count


@kernel
def _merge(
    row: Int32s,
    row_ages: Int32s,
    overlay: Overlay,
    k: int,
    entries: Int32s,
    entry_ages: Int32s,
    count: int,
    over: Int32s,
    most: int,
) -> None:
    """Add entries to the cache of node k: in empty places, then in the places ``over``; drop the rest."""
    sizes, in_degrees = overlay.sizes, overlay.in_degrees
    d = len(row)
    used = 0
    for i in range(count):
        node = entries[i]
        matches = 1 if node == k else 0
        for x in range(d):
            matches += 1 if row[x] == node else 0
        if matches:
            continue
        if sizes[k] < d:
            place = 0
            while row[place] >= 0:
                place += 1
            sizes[k] += 1
        elif used < most:
            place = over[used]
            used += 1
            in_degrees[row[place]] -= 1
        else:
            continue
        row[place] = node
        row_ages[place] = entry_ages[i]
        in_degrees[node] += 1
