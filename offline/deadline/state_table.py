"""States before a slot and the moves between them, as arrays (docs/deadline/model.md section 4)."""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.deadline.model import HOUR_S, Instance

__all__ = ["StateTable", "state_table"]


class StateTable(NamedTuple):
    """The states and moves of an instance, the same in every slot but for spot and prices.

    A state is column u of the certificates of bounds: nothing yet; nothing, with the checkpoint in each zone; for each
    zone and kind (0 spot, 1 on-demand) the overheads that can be left, in decreasing order. Choice 0 is that nothing
    runs, choice 1 + 2 z + k an instance of kind k in zone z.

    Parameters
    ----------
    zone, kind, left_s, home
        For each state; -1 where nothing runs, or without a checkpoint.
    after, work_s, move_units
        For each state and choice: the state after the slot, seconds of work in the slot, units of money for a move.
    """

    zone: Ints
    kind: Ints
    left_s: Ints
    home: Ints
    after: Ints
    work_s: Ints
    move_units: Ints

    @property
    def unit_s(self) -> int:
        """The greatest number of seconds of which the work in every slot is a multiple; 0 if nothing works."""
        return gcd(*map(int, np.unique(self.work_s)))


def state_table(instance: Instance) -> StateTable:
    """Return the states and moves of an instance."""
    slot_s, zones = instance.slot_s, range(instance.num_zones)
    states = [(-1, -1, 0, -1), *((-1, -1, 0, z) for z in zones)]
    for z in zones:
        lefts = {0}
        for h in zones:
            lefts.update(range(instance.launch_overhead(h, z) - slot_s, 0, -slot_s))
        states += [(z, kind, left, z) for kind in (0, 1) for left in sorted(lefts, reverse=True)]
    index = {state: u for u, state in enumerate(states)}
    shape = len(states), 1 + 2 * instance.num_zones
    after, work_s, move_units = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    for u, (at, of, left, here) in enumerate(states):
        after[u, 0] = index[-1, -1, 0, here]
        for z in zones:
            for k in (0, 1):
                choice = 1 + 2 * z + k
                overhead_s = left
                if (z, k) != (at, of):
                    overhead_s = instance.launch_overhead(here if here >= 0 else None, z)
                    if here >= 0:
                        move_units[u, choice] = HOUR_S * instance.move_cost[here][z]
                after[u, choice] = index[z, k, max(0, overhead_s - slot_s), z]
                work_s[u, choice] = max(0, slot_s - overhead_s)
    zone, kind, left_s, home = np.array(states, dtype=np.int64).T.copy()
    return StateTable(zone, kind, left_s, home, after, work_s, move_units)
