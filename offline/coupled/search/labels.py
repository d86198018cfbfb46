"""Labels, which stand for partial schedules, and their queue.

By the normal form (module `normal_form`) later iterations depend only on the slot t after the last iteration and on the
set H of holders in t. A *label* (k, t, H) stands for a valid schedule of k iterations, stored as its parent label and
the team of its last iteration. H has no workers that cannot use the program any more (`normal_form.useful`): no
completion needs their programs. Module `dominance` drops labels.

The queue is a binary heap on (key, more iterations first, older first), so ties have a fixed order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Flags, Ints, Words
from hindsched.instances.compiling import kernel

NUM_LABELS, HEAP_SIZE, BEST_LABEL, NUM_POPPED, NUM_DOMINATED, NUM_EXPANDED = range(6)
"""Cells of ``Labels.tally``."""


class Labels(NamedTuple):
    """All labels and the queue, as parallel arrays.

    Label i stands for a schedule of ``done[i]`` iterations; ``start[i]`` is the slot after them and ``held[i]`` the
    holders then. Its last iteration follows label ``parent[i]``, is computed by ``members[i]`` from slot ``c[i]`` on,
    and has the W of index ``iw[i]``. ``next_end[i]`` is the next end to try for the iteration after it. ``older`` and
    ``newest`` link the labels with the same number of iterations; labels with ``is_dropped`` dominate no label.
    ``heap_key`` and ``heap_label`` are the queue.
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
    """Return arrays for `room` labels of at most `iterations` iterations, with the root label."""

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
    labels.tally[NUM_LABELS] = labels.tally[HEAP_SIZE] = 1
    labels.parent[0] = labels.older[0] = -1
    labels.newest[0] = 0
    return labels


def more_labels(labels: Labels) -> Labels:
    """Return the same labels in arrays twice as long."""
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
    """Add a label to the queue, which holds each label at most once."""
    n = labels.tally[HEAP_SIZE]
    labels.heap_key[n] = key
    labels.heap_label[n] = label
    labels.tally[HEAP_SIZE] = n + 1
    while n > 0 and _before(labels, n, (n - 1) // 2):
        _swap(labels, n, (n - 1) // 2)
        n = (n - 1) // 2


@kernel
def pop(labels: Labels) -> None:
    """Remove the head of the queue, ``heap_label[0]``."""
    n = labels.tally[HEAP_SIZE] - 1
    labels.tally[HEAP_SIZE] = n
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
