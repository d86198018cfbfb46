"""Decomposition of the jobs in time into parts that are solved alone (docs/grid/model.md section 5, facts 3 and 4)."""

from __future__ import annotations

import numpy as np

from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints

__all__ = ["fits", "pieces", "split"]


def split(instance: Instance, starts: Ints) -> list[Ints]:
    """Return blocks of successive jobs: all jobs submitted before a block have ended when the block begins.

    Examples
    --------
    >>> trio = Instance(nodes=1, slot_s=60, submit=[0, 1, 6], width=[1, 1, 1], length=[3, 2, 3])
    >>> [block.tolist() for block in split(trio, np.array([0, 3, 6]))]
    [[0, 1], [2]]
    """
    if not len(instance):
        return []
    over = np.maximum.accumulate(starts + instance.length)
    cuts = np.flatnonzero(over[:-1] <= instance.submit[1:]) + 1
    return np.split(np.arange(len(instance)), cuts)


def pieces(instance: Instance, starts: Ints, most: int) -> list[Ints]:
    """Return the jobs divided into parts of at most ``most`` successive jobs, where little of a schedule is unfinished.

    A part has at least half as many jobs, and ends at the submission at which its jobs have the least area left.

    Examples
    --------
    >>> quad = Instance(nodes=1, slot_s=60, submit=[0, 1, 6, 7], width=[1] * 4, length=[3, 2, 3, 1])
    >>> [part.tolist() for part in pieces(quad, np.array([0, 3, 6, 9]), 3)]
    [[0, 1], [2, 3]]
    """
    ends = starts + instance.length
    parts = []
    first = 0
    while len(instance) - first > most:
        cuts = np.arange(first + (most + 1) // 2, first + most + 1)
        left = [
            int((instance.width[first:cut] * np.maximum(0, ends[first:cut] - instance.submit[cut])).sum())
            for cut in cuts.tolist()
        ]
        cut = int(cuts[np.argmin(left)])
        parts.append(np.arange(first, cut))
        first = cut
    return [*parts, np.arange(first, len(instance))]


def fits(instance: Instance, starts: Ints) -> bool:
    """Return whether starts, none before its submission, fit by count.

    Examples
    --------
    >>> pair = Instance(nodes=2, slot_s=60, submit=[0, 0], width=[2, 1], length=[3, 1])
    >>> fits(pair, np.array([0, 3])), fits(pair, np.array([0, 2]))
    (True, False)
    """
    slots = np.concatenate((starts + instance.length, starts))  # in one slot ends come first
    change = np.concatenate((-instance.width, instance.width))
    return bool(np.cumsum(change[np.argsort(slots, kind="stable")]).max(initial=0) <= instance.nodes)
