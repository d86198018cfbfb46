"""What solvers of all models share: the schedule that placements make, and the unit of what it pays."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import numpy as np

from hindsched.instances.deadline import Instance, Kind, Placement, Schedule
from hindsched.instances.deadline.model import HOUR_S
from hindsched.instances.deadline.schedule import runs_of

__all__ = ["complete_schedule", "payment_unit"]


def complete_schedule(instance: Instance, placements: Sequence[Placement]) -> Schedule | None:
    """Return the schedule of placements up to the slot in which the work is done; None if it is never done."""
    before: Placement = None
    home: int | None = None
    left_s = done_s = cost = 0
    for t, placement in enumerate(placements):
        if placement is not None:
            zone, kind = placement
            if placement != before:
                left_s = instance.launch_overhead(home, zone)
                cost += instance.move_units(home, zone)
            cost += instance.slot_s * int(instance.prices[zone, int(kind is Kind.ON_DEMAND), t])
            done_s += max(0, instance.slot_s - left_s)
            left_s = max(0, left_s - instance.slot_s)
            home = zone
        before = placement
        if done_s >= instance.work_s:
            return Schedule(instance.fingerprint, runs_of(placements[: t + 1]), t + 1, cost)
    return None


def payment_unit(instance: Instance) -> int:
    """Return the greatest number of which all prices of slots and moves are multiples; 1 if nothing costs anything."""
    moves = (HOUR_S * cost for row in instance.move_cost for cost in row)
    return max(1, gcd(*moves, *(instance.slot_s * price for price in np.unique(instance.prices).tolist())))
