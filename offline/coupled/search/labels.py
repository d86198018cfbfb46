"""Labels: what an iteration leaves behind, and their queue.

By the normal form (module `iteration`) all that a valid schedule of the first k iterations hands
to the rest is the slot t after its last iteration and the set H of workers holding the program
then. A *label* (k, t, H) stands for one such schedule, kept as its parent label and the set S that
computes. Workers to whom the program is of no more use (`iteration.useful`) are left out of H:
they compute in no further iteration on the strength of it, so no completion changes.

Which labels matter: module `dominance`.

The queue is a binary heap on (key, more iterations first, older first): no ties are left to chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Flags, Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.search.constants import COUNT, HEAP


class Labels(NamedTuple):
    """All labels and the queue, as parallel arrays.

    Label i stands for a schedule of ``done[i]`` iterations after which slot ``start[i]`` comes and the workers
    ``held[i]`` hold the program. Its last iteration follows that of label ``parent[i]``, is computed by ``members[i]``
    from slot ``c[i]`` on, and ``iw[i]`` is the index of its W. ``next_end[i]`` is the next last slot to be tried from
    it. ``older`` and ``newest`` chain the labels with the same number of iterations; those that ``is_dropped`` dominate
    no more. The queue is ``heap_key`` and ``heap_label``; the cells of ``tally`` are named in `constants`.
    """

    done: Ints
    start: Ints
    held: Words
    parent: Ints
    next_end: Ints
    members: Words
    c: Ints
    iw: Ints
    is_dropped: Flags
    older: Ints
    newest: Ints
    heap_key: Ints
    heap_label: Ints
    tally: Ints


def make_labels(iterations: int, words: int, room: int) -> Labels:
    """Arrays for `room` labels of at most `iterations` iterations, with the root label in place."""

    def ints(n: int) -> Ints:
        return np.zeros(n, np.int64)

    labels = Labels(
        done=ints(room),
        start=ints(room),
        held=np.zeros((room, words), np.uint64),
        parent=ints(room),
        next_end=ints(room),
        members=np.zeros((room, words), np.uint64),
        c=ints(room),
        iw=ints(room),
        is_dropped=np.zeros(room, np.bool_),
        older=ints(room),
        newest=ints(iterations + 1) - 1,
        heap_key=ints(room),
        heap_label=ints(room),
        tally=ints(6),
    )
    labels.tally[COUNT] = labels.tally[HEAP] = 1
    labels.parent[0] = labels.older[0] = -1
    labels.newest[0] = 0
    return labels


def more_labels(labels: Labels) -> Labels:
    """Return the same labels with twice the room."""
    more = make_labels(len(labels.newest) - 1, labels.held.shape[1], 2 * len(labels.done))
    for new, old in zip(more, labels, strict=True):
        new[: len(old)] = old
    return more


@kernel
def _before(labels: Labels, a: int, b: int) -> bool:
    """Return whether entry a of the heap comes before entry b."""
    if labels.heap_key[a] != labels.heap_key[b]:
        return bool(labels.heap_key[a] < labels.heap_key[b])
    i, j = labels.heap_label[a], labels.heap_label[b]
    if labels.done[i] != labels.done[j]:
        return bool(labels.done[i] > labels.done[j])
    return bool(i < j)


@kernel
def _swap(labels: Labels, a: int, b: int) -> None:
    key, label = labels.heap_key[a], labels.heap_label[a]
    labels.heap_key[a], labels.heap_label[a] = labels.heap_key[b], labels.heap_label[b]
    labels.heap_key[b], labels.heap_label[b] = key, label


@kernel
def push(labels: Labels, key: int, label: int) -> None:
    """Queue a label; each is in the queue at most once."""
    n = labels.tally[HEAP]
    labels.heap_key[n] = key
    labels.heap_label[n] = label
    labels.tally[HEAP] = n + 1
    while n > 0 and _before(labels, n, (n - 1) // 2):
        _swap(labels, n, (n - 1) // 2)
        n = (n - 1) // 2


@kernel
def pop(labels: Labels) -> None:
    """Remove the head of the queue, ``heap_label[0]``."""
    n = labels.tally[HEAP] - 1
    labels.tally[HEAP] = n
    labels.heap_key[0] = labels.heap_key[n]
    labels.heap_label[0] = labels.heap_label[n]
    i = 0
    while 2 * i + 1 < n:
        j = 2 * i + 1
        if j + 1 < n and _before(labels, j + 1, j):
            j += 1
        if not _before(labels, j, i):
            break
        _swap(labels, i, j)
        i = j
