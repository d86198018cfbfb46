"""The native solver: least costs over states and amounts of work, without those that the Lagrangian bound rules out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.instances.deadline import Guard, Instance, Kind, Placement, Schedule
from hindsched.instances.deadline.schedule import runs_of
from hindsched.instances.errors import InputError
from hindsched.offline.deadline.claim import Claim
from hindsched.offline.deadline.kernels import cheapest
from hindsched.offline.deadline.lagrangian import LagrangianBound, lagrangian_bound, largest_cost
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["solve"]

#: Slots between two looks at the clock.
_BLOCK = 64
#: The first cutoff is the bound and this share of it; each further one is farther by the factor.
_FIRST_SHARE, _FACTOR = 1 / 1024, 4
#: Labels for which there is room at first; the room is doubled when it is used up. Room that is not used costs nothing.
_FIRST_LABELS = 1 << 20
#: Largest number of costs in memory: states times amounts of work.
_MOST_CELLS = 50_000_000

_CODES = {
    None: cheapest.FREE,
    Guard.STEP: cheapest.STEP,
    Guard.STEP_OLD: cheapest.STEP_OLD,
    Guard.LATCHED: cheapest.LATCHED,
}


def solve(instance: Instance, guard: Guard | None, limits: Limits) -> Claim:
    """Return the least cost of an instance.

    The search knows for each slot, state and amount of work done the least cost so far. It keeps only those from which
    the Lagrangian bound B2 does not exceed a cutoff. The cutoff starts just above the bound of the whole instance and
    rises until a schedule is found; the cheapest schedule below a cutoff is optimal.

    Parameters
    ----------
    instance
        The instance.
    guard
        The guard that the schedule must pass; None: any schedule counts.
    limits
        The time limit is looked at every 64 slots.

    Raises
    ------
    InputError
        If costs exceed 62 bits, or there are too many amounts of work for memory.

    Notes
    -----
    O(N S W') time for S states and W' amounts of work, most of which are ruled out.
    """
    watch = Stopwatch(limits)
    bound = lagrangian_bound(instance)
    if bound.value is None:
        return Claim(None, None, "native", {"labels": 0})
    search = _Search(instance, guard, bound)
    step = max(1, int(bound.value * _FIRST_SHARE))
    cutoff = bound.value
    most = largest_cost(instance)
    while True:
        cutoff = min(most, cutoff + step)
        step *= _FACTOR
        is_done = search.run(cutoff, watch)
        schedule = search.schedule()
        counts = {"labels": search.labels}
        if not is_done:
            return Claim(bound.value, schedule, "native", counts, Limit.TIME, bound.certificate(instance))
        if schedule is not None:
            return Claim(schedule.cost, schedule, "native", counts, certificate=bound.certificate(instance))
        if cutoff == most:
            return Claim(None, None, "native", counts)


class _Search:
    """The searches below rising cutoffs."""

    def __init__(self, instance: Instance, guard: Guard | None, bound: LagrangianBound) -> None:
        self.instance = instance
        self.bound = bound
        self.labels = 0
        table = bound.table
        unit_s = table.unit_s
        self._states, amounts = len(table.zone), -(-instance.work_s // unit_s)
        if self._states * amounts > _MOST_CELLS:
            message = f"{self._states} states with {amounts} amounts of work, expected at most {_MOST_CELLS} together"
            raise InputError(f"{message}: longer slots, or the solver fronts", place="solver native")
        homes = [*range(instance.num_zones), None]
        zones = range(instance.num_zones)
        moves = (table.zone, table.kind, table.left_s, table.home, table.after)
        self._moves = cheapest.Moves(*moves, table.work_s // unit_s, table.move_units)
        self._market = cheapest.Market(
            instance.spot,
            instance.slot_s * instance.prices,
            np.ascontiguousarray(instance.prices[:, 1]),
            np.array([[instance.launch_overhead(home, z) for z in zones] for home in homes], dtype=np.int64),
            np.array([[instance.move_units(home, z) for z in zones] for home in homes], dtype=np.int64),
        )
        self._bounds = cheapest.Bounds(bound.phi, bound.numerator, bound.denominator, bound.most)
        self._numbers = np.array(
            [_CODES[guard], instance.slot_s, instance.work_s, instance.overhead_s, unit_s], dtype=np.int64
        )
        self._layers = cheapest.Layers(
            first=np.zeros((instance.slots + 1, self._states + 1), dtype=np.int64),
            # the first label, before slot 0, has no work, cost or parent
            amount=np.zeros(_FIRST_LABELS, dtype=np.int32),
            cost=np.zeros(_FIRST_LABELS, dtype=np.int64),
            parent=np.zeros(_FIRST_LABELS, dtype=np.int32),
            scratch_cost=np.full((self._states, amounts), cheapest.NEVER, dtype=np.int64),
            scratch_parent=np.zeros((self._states, amounts), dtype=np.int32),
            best=np.zeros(5, dtype=np.int64),
        )

    def run(self, cutoff: int, watch: Stopwatch) -> bool:
        """Search for the cheapest schedule up to a cutoff; return whether the search ended before the time limit."""
        self._layers.first[0, 1:] = 1  # one label: nothing yet, no work, no cost
        self._layers.best[0] = cheapest.NEVER
        slot = 0
        while slot < self.instance.slots:
            if watch.is_over():
                return False
            end = min(self.instance.slots, slot + _BLOCK)
            slot = cheapest.advance(
                self._moves, self._market, self._bounds, self._layers, self._numbers, (slot, end), cutoff
            )
            if slot < end:
                arrays = (self._layers.amount, self._layers.cost, self._layers.parent)
                used = self._layers.first[slot, -1]
                amount, cost, parent = (_doubled(array, used) for array in arrays)
                self._layers = self._layers._replace(amount=amount, cost=cost, parent=parent)
        self.labels += int(self._layers.first[-1, -1])
        return True

    def schedule(self) -> Schedule | None:
        """Return the cheapest schedule found."""
        cost, slot, state, label, choice = self._layers.best.tolist()
        if cost == cheapest.NEVER:
            return None
        layers, choices = self._layers, self._moves.after.shape[1]
        amount = int(layers.amount[label])
        placements = [_placement(choice)] if choice >= 0 else self._held(state, amount, -1 - choice)
        finish = slot + len(placements)
        before: list[Placement] = []
        for t in range(slot, 0, -1):
            first, end = layers.first[t, state], layers.first[t, state + 1]
            # labels of a state are in decreasing order of their amounts
            label = end - 1 - int(np.searchsorted(layers.amount[first:end][::-1], np.int32(amount)))
            state, taken = divmod(int(layers.parent[label]), choices)
            amount -= int(self._moves.work[state, taken])
            before.append(_placement(taken))
        return Schedule(self.instance.fingerprint, runs_of(before[::-1] + placements), finish, cost)

    def _held(self, state: int, amount: int, zone: int) -> list[Placement]:
        """Return the placements until the work is done on-demand in a zone."""
        todo_s = self.instance.work_s - amount * int(self._numbers[4])
        is_same = self._moves.zone[state] == zone and self._moves.kind[state] == 1
        overhead_s = self._moves.left_s[state] if is_same else self._market.delay_s[self._moves.home[state], zone]
        seconds = todo_s + int(overhead_s)
        return [(zone, Kind.ON_DEMAND)] * -(-seconds // self.instance.slot_s)


def _doubled(array: npt.NDArray[Any], used: int) -> npt.NDArray[Any]:
    """Return an array of twice the length with the same first elements."""
    longer = np.empty(2 * len(array), dtype=array.dtype)
    longer[:used] = array[:used]
    return longer


def _placement(choice: int) -> Placement:
    if choice == 0:
        return None
    return (choice - 1) >> 1, (Kind.SPOT, Kind.ON_DEMAND)[(choice - 1) & 1]
