"""Enumeration of all sequences of placements, for tiny instances: the plainest solver there can be."""

from __future__ import annotations

from itertools import product

from hindsched.instances.deadline import Guard, Instance, Kind, Placement, Schedule
from hindsched.instances.deadline.model import HOUR_S
from hindsched.instances.deadline.schedule import runs_of
from hindsched.instances.errors import InputError
from hindsched.offline.deadline.claim import Claim
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["solve"]

#: Largest number of sequences.
_MOST = 20_000_000


def solve(instance: Instance, guard: Guard | None, limits: Limits) -> Claim:
    """Return the least cost of an instance by trying every sequence of placements.

    Parameters
    ----------
    instance
        The instance.
    guard
        The guard that the schedule must pass; None: any schedule counts.
    limits
        The time limit is looked at after each sequence.

    Raises
    ------
    InputError
        If there are more than twenty million sequences.
    """
    watch = Stopwatch(limits)
    zones = range(instance.num_zones)
    slots = [
        [None, *((z, kind) for z in zones for kind in Kind if kind is Kind.ON_DEMAND or instance.zones[z].spot[t])]
        for t in range(instance.slots)
    ]
    total = 1
    for choices in slots:
        total *= len(choices)
        if total > _MOST:
            raise InputError(f"more than {_MOST} sequences, expected a smaller instance", place="solver brute")
    best: tuple[int, tuple[Placement, ...]] | None = None
    count = 0
    for sequence in product(*slots):
        if watch.is_over():
            schedule = None if best is None else _schedule(instance, *best)
            return Claim(0, schedule, "brute", {"sequences": count}, Limit.TIME)
        count += 1
        found = _replayed(instance, guard, sequence)
        if found is not None and (best is None or found[0] < best[0]):
            best = found[0], sequence[: found[1]]
    if best is None:
        return Claim(None, None, "brute", {"sequences": count})
    return Claim(best[0], _schedule(instance, *best), "brute", {"sequences": count})


def _replayed(instance: Instance, guard: Guard | None, sequence: tuple[Placement, ...]) -> tuple[int, int] | None:
    """Return cost and finish of a sequence; None if it is not complete, or the guard forbids it."""
    before: Placement = None
    home: int | None = None
    held: Placement = None
    overhead_s = cost = done_s = 0
    for t, placement in enumerate(sequence):
        todo_s = instance.work_s - done_s
        is_critical = (todo_s + instance.overhead_s + instance.slot_s - 1) // instance.slot_s >= len(sequence) - t
        if guard is not None and (is_critical or held):
            wanted: Placement
            lost = before is not None and before[1] is Kind.SPOT and not instance.zones[before[0]].spot[t]
            if guard is Guard.LATCHED:
                if held is None:
                    held = (
                        _cheapest(instance, t, todo_s, home) if before is None or lost else before[0],
                        Kind.ON_DEMAND,
                    )
                wanted = held
            elif before == (0, Kind.SPOT) and overhead_s == 0:
                wanted = before if not lost else None if guard is Guard.STEP_OLD else (0, Kind.ON_DEMAND)
            else:
                wanted = (0, Kind.ON_DEMAND)
            if placement != wanted:
                return None
        if placement is not None:
            zone = placement[0]
            if placement != before:
                overhead_s = instance.overhead_s
                if home is not None:  # the diagonals are 0
                    overhead_s += instance.move_delay_s[home][zone]
                    cost += HOUR_S * instance.move_cost[home][zone]
            cost += instance.slot_s * int(instance.prices[zone, int(placement[1] is Kind.ON_DEMAND), t])
            done_s += max(0, instance.slot_s - overhead_s)
            overhead_s = max(0, overhead_s - instance.slot_s)
            home = zone
        before = placement
        if done_s >= instance.work_s:
            return cost, t + 1
    return None


def _cheapest(instance: Instance, slot: int, todo_s: int, home: int | None) -> int:
    """Return the zone in which the work left costs least on demand."""

    def cost(zone: int) -> int:
        moves = 0 if home is None else HOUR_S * instance.move_cost[home][zone]
        return int(instance.prices[zone, 1, slot]) * todo_s + moves

    return min(range(instance.num_zones), key=cost)


def _schedule(instance: Instance, cost: int, sequence: tuple[Placement, ...]) -> Schedule:
    return Schedule(instance.fingerprint, runs_of(sequence), len(sequence), cost)
