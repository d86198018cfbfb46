"""The solvers ``closed``, ``matching`` and ``levels``, each of which reads only as many slots as it needs."""

from __future__ import annotations

from collections.abc import Callable

from hindsched.instances.bags import Instance
from hindsched.instances.errors import InputError
from hindsched.offline.bags import closed_forms, lower_bounds, schedule_building
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.claim import Claim
from hindsched.offline.bags.fluid_schedule import schedule_by
from hindsched.offline.bags.matching import pairs_by, two_segments
from hindsched.offline.bags.shared_store import lower_bound, shared_search
from hindsched.offline.limits import Limits, Stopwatch

__all__ = ["solve_closed_forms", "solve_levels", "solve_matching"]

_FIRST = 128  # slots that are read first; four times as many each further time

# Solves an instance within some slots; None if it needs more of them.
_Within = Callable[[AvailabilityPeriods], Claim | None]


def _widening(instance: Instance, within: _Within, by: str) -> Claim:
    """Solve within ever more slots until they suffice: a schedule that ends within some slots needs no later ones."""
    width = _FIRST
    while True:
        part = instance.states[:, :width]
        claim = within(AvailabilityPeriods.of_states(part, instance.ticks, instance.slot))
        if claim is not None:
            return claim
        if width >= instance.slots:
            return Claim(None, None, by)
        width *= 4


def solve_closed_forms(instance: Instance, limits: Limits) -> Claim:
    """Return the optimum of private stores, of one segment or one task, or of shared stores on demand.

    Raises
    ------
    InputError
        For another instance.
    """
    n, k = instance.tasks, instance.segments
    if instance.on_demand and instance.is_shared:
        return _widening(instance, lambda periods: _fluid(instance, periods), "fluid")
    if instance.on_demand:
        return _widening(instance, lambda periods: _private_on_demand(instance, periods), "private-on-demand")
    if k == 1 or not instance.is_shared:

        def whole(periods: AvailabilityPeriods) -> Claim | None:
            tau = closed_forms.whole_segments(periods, n, k)
            if tau is None:
                return None
            chains = schedule_building.chains_in_turn(periods, k, tau, closed_forms.whole_by(periods, k, tau))
            return Claim(tau, schedule_building.schedule_of_chains(instance, periods, chains[:n]), "whole-segments")

        return _widening(instance, whole, "whole-segments")
    if n == 1:

        def one(periods: AvailabilityPeriods) -> Claim | None:
            chain = closed_forms.alone_ends(periods, k)
            if len(chain) < k:
                return None
            return Claim(chain[-1][2], schedule_building.schedule_of_chains(instance, periods, [chain]), "alone")

        return _widening(instance, one, "alone")
    raise InputError("closed is for private stores, saves on demand, one task or one segment", place="solver")


def _fluid(instance: Instance, periods: AvailabilityPeriods) -> Claim | None:
    slots = periods.horizon // instance.slot
    states = instance.states[:, :slots]
    tau = lower_bounds.fluid_ticks(periods, states, instance.slot, instance.tasks, instance.segments)
    if tau is None:
        return None
    schedule = schedule_by(instance, tau)
    return Claim(schedule.turnaround, schedule, "fluid")


def _private_on_demand(instance: Instance, periods: AvailabilityPeriods) -> Claim | None:
    tau = closed_forms.private_on_demand(periods, instance.tasks, instance.segments)
    if tau is None:
        return None
    return Claim(tau, schedule_building.schedule_on_private_stores(instance, periods, tau), "private-on-demand")


def solve_matching(instance: Instance, limits: Limits) -> Claim:
    """Return the optimum for two segments, shared, not on demand.

    Raises
    ------
    InputError
        For another instance.
    """
    if instance.segments != 2 or not instance.is_shared or instance.on_demand:
        raise InputError("matching is for a shared store, not on demand, and two segments", place="solver")

    def pairs(periods: AvailabilityPeriods) -> Claim | None:
        states = instance.states[:, : periods.horizon // instance.slot]
        low = lower_bound(periods, states, instance.slot, instance.tasks, 2)
        tau = None if low is None else two_segments(periods, instance.tasks, low=low[0])
        if tau is None:
            return None
        chains = [list(pair) for pair in pairs_by(periods, instance.tasks, tau)]
        return Claim(tau, schedule_building.schedule_of_chains(instance, periods, chains), "matching")

    return _widening(instance, pairs, "matching")


def solve_levels(instance: Instance, limits: Limits) -> Claim:
    """Return the optimum for a shared store, not on demand, or bounds on it.

    Raises
    ------
    InputError
        For another instance.
    """
    watch = Stopwatch(limits)  # one clock for all widths
    n, k = instance.tasks, instance.segments
    if not instance.is_shared or instance.on_demand:
        raise InputError("levels is for a shared store, not on demand", place="solver")

    def search(periods: AvailabilityPeriods) -> Claim | None:
        slots = periods.horizon // instance.slot
        states = instance.states[:, :slots]
        is_all = slots == instance.slots
        bound = lower_bound(periods, states, instance.slot, n, k)
        if bound is None or (2 * bound[0] > periods.horizon and not is_all):
            return None  # schedules far from the bound need more slots
        found = shared_search(periods, n, k, bound, limits, watch, is_all=is_all)
        if found.chains is None:
            return Claim(found.lower, None, found.by, found.counts, found.limit) if is_all else None
        schedule = schedule_building.schedule_of_chains(instance, periods, found.chains)
        return Claim(found.lower, schedule, found.by, found.counts, found.limit)

    return _widening(instance, search, "bounds")
