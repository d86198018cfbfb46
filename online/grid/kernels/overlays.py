"""The overlays as kernels: static lists, and rounds of Cyclon (docs/grid/model.md section 3.1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from online.grid.draws import words
from online.grid.kernels.compiling import Ints, Names, Words, below, kernel

__all__ = ["Overlay", "cyclon_round", "static_overlay"]


class Overlay(NamedTuple):
    """Who knows whom.

    Parameters
    ----------
    lists, ages
        (M, d) the neighbour in each place of a node's list, -1 where it is empty, and its age.
    sizes, in_degrees
        (M,) filled places of each node, and how many nodes list it.
    """

    lists: Names
    ages: Names
    sizes: Ints
    in_degrees: Ints


def static_overlay(nodes: int, degree: int, seed: int) -> Overlay:
    """Return the static lists, all ages 0. O(M x d)."""
    d = min(degree, nodes - 1)
    lists = np.empty((nodes, d), dtype=np.int32)
    drawn = np.empty((nodes, d), dtype=np.uint64)
    for k in range(nodes):
        drawn[k] = words(d, "grid", "overlay", seed, k)
    _draw_lists(drawn, np.arange(nodes, dtype=np.int32), lists)
    in_degrees = np.bincount(lists.ravel(), minlength=nodes).astype(np.int64)
    return Overlay(lists, np.zeros_like(lists), np.full(nodes, d, dtype=np.int64), in_degrees)


@kernel()
def _draw_lists(drawn: Words, pool: Names, lists: Names) -> None:
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


@kernel()
def cyclon_round(overlay: Overlay, swap: int, drawn: Words, work: Names) -> None:
    """Let every node shuffle once, on what it finds.

    Parameters
    ----------
    drawn
        At least M x (2 swap - 1) words.
    work
        (6, swap + d) to work with.
    """
    lists, ages, sizes, in_degrees = overlay
    nodes, d = lists.shape
    word = 0
    sent, given, message, message_ages, reply, reply_ages = range(6)
    for p in range(nodes):
        if sizes[p] == 0:
            continue
        oldest, age = -1, -1
        others = 0
        for x in range(d):
            if lists[p, x] >= 0:
                ages[p, x] += 1
                if ages[p, x] > age:
                    oldest, age = x, ages[p, x]
                work[sent, others] = x
                others += 1
        others -= 1
        for i in range(others):  # without the oldest
            if work[sent, i] >= oldest:
                work[sent, i] = work[sent, i + 1]
        q = lists[p, oldest]
        sends = min(swap - 1, others)
        for i in range(sends):
            x = i + below(drawn[word], others - i)
            word += 1
            work[sent, i], work[sent, x] = work[sent, x], work[sent, i]
        work[message, 0], work[message_ages, 0] = p, 0
        for i in range(sends):
            work[message, i + 1] = lists[p, work[sent, i]]
            work[message_ages, i + 1] = ages[p, work[sent, i]]
        filled = 0
        for x in range(d):
            if lists[q, x] >= 0:
                work[given, filled] = x
                filled += 1
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
        _merge(overlay, p, work[reply], work[reply_ages], gives, work[sent], sends)
        _merge(overlay, q, work[message], work[message_ages], sends + 1, work[given], gives)


@kernel()
def _merge(overlay: Overlay, k: int, entries: Names, entry_ages: Names, count: int, over: Names, most: int) -> None:
    """Take entries into the cache of node k: into empty places, then over the places ``over``, else not."""
    lists, ages, sizes, in_degrees = overlay
    d = lists.shape[1]
    used = 0
    for i in range(count):
        node = entries[i]
        place = d
        is_known = node == k
        for x in range(d - 1, -1, -1):
            if lists[k, x] == node:
                is_known = True
            if lists[k, x] < 0:
                place = x
        if is_known:
            continue
        if place < d:
            sizes[k] += 1
        elif used < most:
            place = over[used]
            used += 1
            in_degrees[lists[k, place]] -= 1
        else:
            continue
        lists[k, place] = node
        ages[k, place] = entry_ages[i]
        in_degrees[node] += 1
