"""Bound the work that any schedule can have executed before each slot (docs/grid/model.md section 6)."""

from __future__ import annotations

import numpy as np

from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints

__all__ = ["fluid_bound"]


def fluid_bound(instance: Instance, slots: int) -> Ints:
    """Return for x = 0 .. slots the number of node-slots that no schedule exceeds before slot x.

    The bound is the minimum over tau <= x of two parts: the work possible before tau if each job runs at full width
    from its submission, and M nodes from tau to x.

    Notes
    -----
    O(J + slots): the work possible before tau is a sum of ramps, stored as second differences; the minimum over tau is
    a running minimum.

    Examples
    --------
    >>> pair = Instance(nodes=2, slot_s=60, submit=[0, 1], width=[2, 2], length=[2, 1])
    >>> fluid_bound(pair, 5).tolist()  # the second job starts after the first
    [0, 2, 4, 6, 6, 6]
    """
    ends = np.minimum(instance.submit + instance.length, slots + 1)
    slope = np.zeros(slots + 2, dtype=np.int64)
    np.add.at(slope, np.minimum(instance.submit, slots + 1), instance.width)
    np.add.at(slope, ends, -instance.width)
    work = np.concatenate(([0], np.cumsum(np.cumsum(slope)[:slots])))
    full = instance.nodes * np.arange(slots + 1, dtype=np.int64)
    bound: Ints = full + np.minimum.accumulate(work - full)
    return bound
