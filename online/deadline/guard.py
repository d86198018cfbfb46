"""The guard: what protects the deadline while a policy runs (docs/deadline/model.md section 4)."""

from __future__ import annotations

from hindsched.instances.deadline.guards import Guard
from hindsched.instances.deadline.model import HOUR_S
from hindsched.instances.deadline.schedule import Kind, Placement
from hindsched.online.deadline.visible import Visible

__all__ = ["RunningGuard"]


class RunningGuard:
    """The guard of one run.

    Parameters
    ----------
    guard
        Which one; None: no guard.
    """

    def __init__(self, guard: Guard | None) -> None:
        self.guard = guard
        self._latched: Placement = None

    def overrule(self, visible: Visible, choice: Placement) -> Placement:
        """Return the placement in a slot: the choice, unless the slot is critical."""
        if self._latched is not None:
            return self._latched
        if self.guard is None or not is_critical(visible):
            return choice
        if self.guard is Guard.LATCHED:
            self._latched = (_zone_to_hold(visible), Kind.ON_DEMAND)
            return self._latched
        if visible.last == (0, Kind.SPOT) and visible.left_s == 0:
            if visible.has_spot():
                return 0, Kind.SPOT
            if self.guard is Guard.STEP_OLD:
                return None
        return 0, Kind.ON_DEMAND


def is_critical(visible: Visible) -> bool:
    """Return whether one launch and the rest of the work need all slots that are left."""
    job = visible.job
    return -(-(visible.work_left_s + job.overhead_s) // job.slot_s) >= visible.slots_left


def _zone_to_hold(visible: Visible) -> int:
    if visible.current is not None:
        return visible.current[0]

    def cost(zone: int) -> int:
        move = 0 if visible.home is None else HOUR_S * visible.job.move_cost[visible.home][zone]
        return visible.price(zone, Kind.ON_DEMAND) * visible.work_left_s + move

    return min(range(visible.job.num_zones), key=cost)
