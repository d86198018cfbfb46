"""Pareto fronts of work and cost, in plain Python and exact for numbers of any size (docs/deadline/model.md section 4).

It shares no model with the native solver: it follows rules R1 to R6 from each label, and drops labels that another one
dominates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hindsched.instances.deadline import Guard, Instance, Kind, Placement, Schedule
from hindsched.instances.deadline.model import HOUR_S
from hindsched.instances.deadline.schedule import runs_of
from hindsched.offline.deadline.claim import Claim
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["solve"]


class _Label(NamedTuple):
    """A way to a state: work done, cost, and the placements so far as a linked list."""

    done_s: int
    cost: int
    way: tuple[Placement, object] | None


class _State(NamedTuple):
    """Placement, overhead left and home after a slot."""

    placement: Placement
    left_s: int
    home: int | None


def solve(instance: Instance, guard: Guard | None, limits: Limits) -> Claim:
    """Return the least cost of an instance from the labels of all slots.

    Parameters
    ----------
    instance
        The instance.
    guard
        The guard that the schedule must pass; None: any schedule counts.
    limits
        The time limit is looked at in each slot.

    Notes
    -----
    In a state more work for no more cost is as good, but for the guard ``latched``, whose zone depends on the work
    left; there only labels with equal work are compared. The number of labels may grow as fast as the amounts of work.
    """
    watch = Stopwatch(limits)
    layer: dict[_State, list[_Label]] = {_State(None, 0, None): [_Label(0, 0, None)]}
    best: _Label | None = None
    count = 0
    for slot in range(instance.slots):
        if watch.is_over():
            schedule = None if best is None else _schedule(instance, best)
            return Claim(0, schedule, "fronts", {"labels": count}, Limit.TIME)
        reached: dict[_State, list[_Label]] = {}
        still_s = (instance.slots - slot - 1) * instance.slot_s
        for state, labels in layer.items():
            for label in labels:
                if best is not None and label.cost >= best.cost:
                    continue
                for placement in _choices(instance, guard, slot, state, label):
                    after, made = _advanced(instance, slot, state, label, placement)
                    if made.done_s >= instance.work_s:
                        best = made if best is None or made.cost < best.cost else best
                    elif made.done_s + still_s >= instance.work_s:
                        reached.setdefault(after, []).append(made)
        layer = {state: _front(labels, guard is Guard.LATCHED) for state, labels in reached.items()}
        count += sum(map(len, layer.values()))
    if best is None:
        return Claim(None, None, "fronts", {"labels": count})
    return Claim(best.cost, _schedule(instance, best), "fronts", {"labels": count})


def _choices(instance: Instance, guard: Guard | None, slot: int, state: _State, label: _Label) -> Iterator[Placement]:
    """Yield the placements that are possible in a slot, or the one that the guard makes."""
    if guard is not None:
        todo_s = instance.work_s - label.done_s
        if -(-(todo_s + instance.overhead_s) // instance.slot_s) >= instance.slots - slot:
            yield _guarded(instance, guard, slot, state, todo_s)
            return
    yield None
    for z, zone in enumerate(instance.zones):
        yield z, Kind.ON_DEMAND
        if zone.spot[slot]:
            yield z, Kind.SPOT


def _guarded(instance: Instance, guard: Guard, slot: int, state: _State, todo_s: int) -> Placement:
    running = state.placement
    is_lost = running is not None and running[1] is Kind.SPOT and not instance.zones[running[0]].spot[slot]
    if guard is not Guard.LATCHED:
        if running is not None and running[1] is Kind.SPOT and state.left_s == 0:
            return running if not is_lost else None if guard is Guard.STEP_OLD else (0, Kind.ON_DEMAND)
        return 0, Kind.ON_DEMAND
    # an instance that runs on demand stays, as it is the running one of all later slots too
    if running is not None and not is_lost:
        return running[0], Kind.ON_DEMAND
    home = state.home
    rest = [
        _price(instance, z, Kind.ON_DEMAND, slot) * todo_s
        + (0 if home is None else HOUR_S * instance.move_cost[home][z])
        for z in range(instance.num_zones)
    ]
    return rest.index(min(rest)), Kind.ON_DEMAND


def _advanced(
    instance: Instance, slot: int, state: _State, label: _Label, placement: Placement
) -> tuple[_State, _Label]:
    """Return the state and the label after a slot in a placement."""
    way = (placement, label.way)
    if placement is None:
        return _State(None, 0, state.home), _Label(label.done_s, label.cost, way)
    zone, kind = placement
    left_s, cost = state.left_s, label.cost + instance.slot_s * _price(instance, zone, kind, slot)
    if placement != state.placement:
        left_s = instance.overhead_s
        if state.home not in (None, zone):
            left_s += instance.move_delay_s[state.home][zone]
            cost += HOUR_S * instance.move_cost[state.home][zone]
    done_s = label.done_s + max(0, instance.slot_s - left_s)
    return _State(placement, max(0, left_s - instance.slot_s), zone), _Label(done_s, cost, way)


def _price(instance: Instance, zone: int, kind: Kind, slot: int) -> int:
    price = instance.zones[zone].spot_price if kind is Kind.SPOT else instance.zones[zone].on_demand_price
    return price if isinstance(price, int) else price[slot]


def _front(labels: list[_Label], only_equal: bool) -> list[_Label]:
    """Return the labels that no other one dominates; with ``only_equal`` by those with equal work."""
    labels.sort(key=lambda label: (-label.done_s, label.cost))
    kept: list[_Label] = []
    for label in labels:
        if not kept or (label.done_s < kept[-1].done_s if only_equal else label.cost < kept[-1].cost):
            kept.append(label)
    return kept


def _schedule(instance: Instance, label: _Label) -> Schedule:
    placements: list[Placement] = []
    way = label.way
    while way is not None:
        placement, way = way  # type: ignore[assignment]
        placements.append(placement)
    return Schedule(instance.fingerprint, runs_of(placements[::-1]), len(placements), label.cost)
