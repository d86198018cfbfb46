"""Labels with a cost, level by level: the store of the chain search and of the priced labels.

A label stands for k iterations after which the next one starts in slot ``start``. ``held`` are all workers that can
hold the program then, and ``cost`` is the cost of the members so far minus the value of the programs sent. The two
searches differ in their test of dominance: only that of the priced labels charges programs to the channel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.sentinels import DROPPED
from hindsched.offline.coupled.search.bitsets import assign, within

__all__ = ["LabelStore", "append_label", "cheapest_label", "drop_dominated", "make_label_store", "reset_labels"]


class LabelStore(NamedTuple):
    """Labels of k iterations are ``first[k]..first[k + 1] - 1``; the parent of a dominated label is `DROPPED`.

    The last iteration of a label computes from slot ``c`` on, and its W has the index ``iw``. ``new_held`` are the
    holders of the label that is being made.
    """

    first: Ints
    start: Ints
    cost: Ints
    parent: Ints
    c: Ints
    iw: Ints
    held: Words
    new_held: Words


def make_label_store(size: int, workers: int, iterations: int) -> LabelStore:
    """Return room for ``size`` labels of up to this many iterations."""
    words = (workers + 63) // 64
    start, cost, parent, c, iw = np.zeros((5, size), np.int64)
    held, new_held = np.zeros((size, words), np.uint64), np.zeros(words, np.uint64)
    return LabelStore(np.zeros(iterations + 2, np.int64), start, cost, parent, c, iw, held, new_held)


@kernel
def reset_labels(labels: LabelStore, cost: int) -> None:
    """Keep one label alone: no iterations, no holders, and this cost."""
    labels.first[0], labels.first[1] = 0, 1
    labels.start[0], labels.cost[0], labels.parent[0] = 0, cost, -1
    labels.held[0, :] = np.uint64(0)


@kernel
def append_label(labels: LabelStore, n: int, t: int, cost: int, parent: int, c: int, iw: int) -> int:
    """Append label n with the holders ``new_held``; return the number of labels, -1 if there is no room."""
    if n == labels.start.size:
        return -1
    labels.start[n], labels.cost[n], labels.parent[n], labels.c[n], labels.iw[n] = t, cost, parent, c, iw
    assign(labels.held[n], labels.new_held)
    return n + 1


@kernel
def drop_dominated(labels: LabelStore, low: int, n: int, t: int, cost: int) -> None:
    """Drop those of labels low..n-1 with the same slot that the label (t, ``new_held``, cost) dominates."""
    for i in range(low, n):
        if labels.start[i] == t and labels.cost[i] >= cost and within(labels.held[i], labels.new_held):
            labels.parent[i] = DROPPED


@kernel
def cheapest_label(labels: LabelStore, first: int, stop: int) -> int:
    """Return the cheapest of labels first..stop-1 that are not dropped; -1 if there is none."""
    best = -1
    for i in range(first, stop):
        if labels.parent[i] != DROPPED and (best < 0 or labels.cost[i] < labels.cost[best]):
            best = i
    return best
