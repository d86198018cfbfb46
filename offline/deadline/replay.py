"""The schedule that a sequence of placements makes, for solvers that find placements by other tools."""

from __future__ import annotations

from collections.abc import Sequence

from hindsched.instances.deadline import Instance, Kind, Placement, Schedule
from hindsched.instances.deadline.schedule import runs_of

__all__ = ["complete_schedule"]


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
