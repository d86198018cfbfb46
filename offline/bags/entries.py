"""The solvers by their names: each looks at as many slots as it needs, and hands over a schedule."""

from __future__ import annotations

from collections.abc import Callable

from hindsched.instances.bags import Instance
from hindsched.instances.errors import InputError
from hindsched.offline.bags import bounds, closed, plays
from hindsched.offline.bags.fluid import schedule_by
from hindsched.offline.bags.found import Found
from hindsched.offline.bags.matching import pairs_by, two_segments
from hindsched.offline.bags.search import lower_bound, shared_search
from hindsched.offline.bags.stretches import Stretches
from hindsched.offline.limits import Limits, Stopwatch

__all__ = ["closed_forms", "levels", "matching"]

_FIRST = 128  # slots looked at first; four times as many each time

# What a solver finds within some slots: None if it needs more of them.
_Within = Callable[[Stretches], Found | None]


def _widening(instance: Instance, within: _Within, by: str) -> Found:
    """Solve within the first slots, and within more as long as these are too few: what ends in them needs no others."""
    width = _FIRST
    while True:
        part = instance.states[:, :width]
        found = within(Stretches.of_states(part, instance.ticks, instance.slot))
        if found is not None:
            return found
        if width >= instance.slots:
            return Found(None, None, by)
        width *= 4


def closed_forms(instance: Instance, limits: Limits) -> Found:
    """Return the optimum of private stores, of one segment or one task, or of shared stores on demand.

    Raises
    ------
    InputError
        For another instance.
    """
    n, k = instance.tasks, instance.segments
    if instance.on_demand and instance.is_shared:
        return _widening(instance, lambda stretches: _fluid(instance, stretches), "fluid")
    if instance.on_demand:
        return _widening(instance, lambda stretches: _kept(instance, stretches), "private-on-demand")
    if k == 1 or not instance.is_shared:

        def whole(stretches: Stretches) -> Found | None:
            tau = closed.whole_segments(stretches, n, k)
            if tau is None:
                return None
            chains = plays.chains_in_turn(stretches, k, tau, closed.whole_by(stretches, k, tau))
            return Found(tau, plays.of_chains(instance, stretches, chains[:n]), "whole-segments")

        return _widening(instance, whole, "whole-segments")
    if n == 1:

        def one(stretches: Stretches) -> Found | None:
            chain = closed.alone_ends(stretches, k)
            if len(chain) < k:
                return None
            return Found(chain[-1][2], plays.of_chains(instance, stretches, [chain]), "alone")

        return _widening(instance, one, "alone")
    raise InputError("closed: not made for several tasks of several segments, shared, not on demand", place="solver")


def _fluid(instance: Instance, stretches: Stretches) -> Found | None:
    slots = stretches.horizon // instance.slot
    states = instance.states[:, :slots]
    tau = bounds.fluid_ticks(stretches, states, instance.slot, instance.tasks, instance.segments)
    if tau is None:
        return None
    schedule = schedule_by(instance, tau)
    return Found(schedule.turnaround, schedule, "fluid")


def _kept(instance: Instance, stretches: Stretches) -> Found | None:
    tau = closed.kept_on_disk(stretches, instance.tasks, instance.segments)
    if tau is None:
        return None
    return Found(tau, plays.of_disks(instance, stretches, tau), "private-on-demand")


def matching(instance: Instance, limits: Limits) -> Found:
    """Return the optimum for two segments, shared, not on demand.

    Raises
    ------
    InputError
        For another instance.
    """
    if instance.segments != 2 or not instance.is_shared or instance.on_demand:
        raise InputError("matching: made for two segments, a shared store, not on demand", place="solver")

    def pairs(stretches: Stretches) -> Found | None:
        states = instance.states[:, : stretches.horizon // instance.slot]
        low = lower_bound(stretches, states, instance.slot, instance.tasks, 2)
        tau = None if low is None else two_segments(stretches, instance.tasks, low=low[0])
        if tau is None:
            return None
        chains = [list(pair) for pair in pairs_by(stretches, instance.tasks, tau)]
        return Found(tau, plays.of_chains(instance, stretches, chains), "matching")

    return _widening(instance, pairs, "matching")


def levels(instance: Instance, limits: Limits) -> Found:
    """Return the optimum for a shared store, not on demand, or bounds on it.

    Raises
    ------
    InputError
        For another instance.
    """
    watch = Stopwatch(limits)  # one for all widths
    n, k = instance.tasks, instance.segments
    if not instance.is_shared or instance.on_demand:
        raise InputError("levels: made for a shared store, not on demand", place="solver")

    def search(stretches: Stretches) -> Found | None:
        slots = stretches.horizon // instance.slot
        states = instance.states[:, :slots]
        is_all = slots == instance.slots
        bound = lower_bound(stretches, states, instance.slot, n, k)
        if bound is None or (2 * bound[0] > stretches.horizon and not is_all):
            return None  # room enough for plays that are far from the bound
        found = shared_search(stretches, n, k, bound, limits, watch, is_all=is_all)
        if found.chains is None:
            return Found(found.lower, None, found.by, found.counts, found.limit) if is_all else None
        schedule = plays.of_chains(instance, stretches, found.chains)
        return Found(found.lower, schedule, found.by, found.counts, found.limit)

    return _widening(instance, search, "bounds")
