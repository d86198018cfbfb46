"""A whole run of a built-in policy in machine code: the twin of `hindsched.online.deadline.simulate`.

Placements are numbers: 0 nothing, 1 + 2 z spot and 2 + 2 z on-demand in zone z. Kinds are 0 nothing, 1 spot, 2
on-demand. Each function has the name of its twin in the plain modules.
"""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Flags, Int32s, Ints
from hindsched.instances.compiling import kernel

__all__ = [
    "FALLBACK",
    "GREEDY",
    "LATCHED",
    "NO_GUARD",
    "ON_DEMAND",
    "SLICED",
    "SPOT_ONLY",
    "STEP",
    "STEP_OLD",
    "UNIFORM",
    "UNIFORM_PLAIN",
    "UNIFORM_TEXT",
    "UP_S",
    "Job",
    "run_policy",
]

ON_DEMAND, SPOT_ONLY, FALLBACK, GREEDY, UNIFORM, UNIFORM_PLAIN, UNIFORM_TEXT, SLICED, UP_S = range(9)
NO_GUARD, STEP, STEP_OLD, LATCHED = range(4)
_NOTHING, _SPOT, _DEMAND = 0, 1, 2


class Job(NamedTuple):
    """The instance and the options of a run.

    Parameters
    ----------
    slot_s, deadline_s, work_s, overhead_s, slots
        g, D, W, d and N.
    spot
        Whether spot can be had; shape (Z, N).
    prices
        Micro-dollars an hour; shape (Z, 2, N).
    region
        Number of the region of each zone.
    delay_s, move_units
        Seconds added to a launch, and units of money; shape (Z + 1, Z), the last row without a checkpoint.
    policy, guard
        Codes.
    slices, bank
        Of the time-sliced policy.
    """

    slot_s: int
    deadline_s: int
    work_s: int
    overhead_s: int
    slots: int
    spot: Flags
    prices: Ints
    region: Ints
    delay_s: Ints
    move_units: Ints
    policy: int
    guard: int
    slices: int
    bank: bool


class _Now(NamedTuple):
    """What a policy sees: slot, work done, overhead left, home (-1: none), and the placement after preemption."""

    slot: int
    done_s: int
    left_s: int
    home: int
    current: int


@kernel
def _slots_needed(job: Job, work_left_s: int, launches: int) -> int:
    return -(-(work_left_s + launches * job.overhead_s) // job.slot_s)


@kernel
def _ahead(job: Job, now: _Now, launches: int) -> int:
    return now.done_s * job.deadline_s - (now.slot * job.slot_s + launches * job.overhead_s) * job.work_s


@kernel
def _uniform(job: Job, now: _Now, kind: int, has_spot: bool, has_hysteresis: bool) -> int:
    if has_hysteresis and kind == _DEMAND and (not has_spot or _ahead(job, now, 2) <= 0):
        return _DEMAND
    if has_spot:
        return _SPOT
    return _DEMAND if _ahead(job, now, 0) < 0 else _NOTHING


@kernel
def _urgent(
    job: Job, now: _Now, choice: int, work: tuple[int, int], kind: int, has_spot: bool, slack_slots: int
) -> int:
    work_left_s, slots_left = work
    if _slots_needed(job, work_left_s, 2) >= slots_left + slack_slots and kind != _SPOT:
        choice = _DEMAND
    if _slots_needed(job, work_left_s, 1) >= slots_left:
        choice = _SPOT if kind == _SPOT and now.left_s == 0 else _DEMAND
        if job.overhead_s == 0 and has_spot:
            choice = _SPOT
    return choice


@kernel
def _sliced(job: Job, now: _Now, kind: int, has_spot: bool) -> int:
    i = now.slot * job.slices // job.slots + 1
    while i * job.slots // job.slices <= now.slot:
        i += 1
    border = i * job.slots // job.slices
    work_left_s = job.work_s * border // job.slots - now.done_s
    if work_left_s <= 0:
        return _SPOT if job.bank and has_spot else _NOTHING
    choice = _SPOT if has_spot else _NOTHING
    return _urgent(job, now, choice, (work_left_s, border - now.slot), kind, has_spot, 0)


@kernel
def _in_one_zone(job: Job, now: _Now) -> int:
    """Return the kind that a policy of one zone decides for."""
    has_spot = job.spot[0, now.slot]
    kind = now.current
    rest = job.work_s - now.done_s, job.slots - now.slot
    spot = _SPOT if has_spot else _NOTHING
    if job.policy == ON_DEMAND:
        return _DEMAND
    if job.policy == SPOT_ONLY:
        return spot
    if job.policy == FALLBACK:
        return _SPOT if has_spot else _DEMAND
    if job.policy == GREEDY:
        return _urgent(job, now, spot, rest, kind, has_spot, 0)
    if job.policy == SLICED:
        return _sliced(job, now, kind, has_spot)
    if job.policy == UNIFORM_TEXT:
        if _slots_needed(job, rest[0], 2) >= rest[1] or (kind == _DEMAND and _ahead(job, now, 2) < 0):
            return _DEMAND
        return _SPOT if has_spot else _DEMAND if _ahead(job, now, 0) < 0 else _NOTHING
    choice = _uniform(job, now, kind, has_spot, job.policy == UNIFORM)
    return _urgent(job, now, choice, rest, kind, has_spot, 0)


@kernel
def _up_s(job: Job, now: _Now, last_zone: int) -> int:
    """Return the placement that UP(S) decides for; ``last_zone`` is -1 or the zone of the last running instance."""
    rest = job.work_s - now.done_s, job.slots - now.slot
    running = 0 if now.current == 0 else 1 + (now.current - 1) % 2
    kind = _urgent(job, now, _uniform(job, now, running, True, True), rest, running, True, 1)
    exits = False
    if running == _DEMAND and kind == _DEMAND and _ahead(job, now, 2) > 0:
        kind, exits = _SPOT, True
    if running == kind:
        return now.current
    if kind == _SPOT:
        best = -1
        for z in range(job.spot.shape[0]):
            if not job.spot[z, now.slot]:
                continue
            if best < 0:
                best = z
                continue
            is_near = last_zone >= 0 and job.region[z] == job.region[last_zone]
            was_near = last_zone >= 0 and job.region[best] == job.region[last_zone]
            is_cheaper = job.prices[z, 0, now.slot] < job.prices[best, 0, now.slot]
            if (was_near and not is_near) or (is_near == was_near and is_cheaper):
                best = z
        if best >= 0:
            return 1 + 2 * best
        if exits:
            return 0
        kind = _urgent(job, now, _uniform(job, now, _NOTHING, False, True), rest, _NOTHING, False, 1)
    if kind != _DEMAND:
        return 0
    if now.current:
        return 2 + 2 * ((now.current - 1) // 2)
    return 2 + 2 * max(0, now.home)


@kernel
def _zone_to_hold(job: Job, now: _Now) -> int:
    if now.current:
        return (now.current - 1) // 2
    work_left_s = job.work_s - now.done_s
    best = 0
    least = job.prices[0, 1, now.slot] * work_left_s + job.move_units[now.home, 0]
    for z in range(1, job.spot.shape[0]):
        cost = job.prices[z, 1, now.slot] * work_left_s + job.move_units[now.home, z]
        if cost < least:
            best, least = z, cost
    return best


@kernel
def _overrule(job: Job, now: _Now, last: int, latched: int, choice: int) -> int:
    """Return the placement that the guard makes of a choice; ``latched`` is 0 or the placement that it holds."""
    if latched:
        return latched
    if job.guard == NO_GUARD or _slots_needed(job, job.work_s - now.done_s, 1) < job.slots - now.slot:
        return choice
    if job.guard == LATCHED:
        return 2 + 2 * _zone_to_hold(job, now)
    if last == 1 and now.left_s == 0:
        if job.spot[0, now.slot]:
            return 1
        if job.guard == STEP_OLD:
            return 0
    return 2


@kernel
def run_policy(job: Job, placements: Int32s, totals: Ints) -> int:
    """Run a policy; return the number of slots until the work is done, or 0 if the deadline is missed.

    Parameters
    ----------
    job
        The instance and the options.
    placements
        Of all slots; written up to the finish.
    totals
        Written: cost, seconds of work done, launches, moves, and seconds of overhead.
    """
    done_s = left_s = cost = launches = moves = overhead_s = last = latched = finish = 0
    home = last_zone = -1
    for t in range(job.slots):
        current = last
        if last % 2 == 1 and not job.spot[(last - 1) // 2, t]:
            current = 0
        now = _Now(t, done_s, left_s, home, current)
        if job.policy == UP_S:
            if current:
                last_zone = (current - 1) // 2
            choice = _up_s(job, now, last_zone)
        else:
            choice = _in_one_zone(job, now)
        if choice % 2 == 1 and not job.spot[(choice - 1) // 2, t]:
            choice = 0
        placement = _overrule(job, now, last, latched, choice)
        if job.guard == LATCHED and not latched and _slots_needed(job, job.work_s - done_s, 1) >= job.slots - t:
            latched = placement
        if placement:
            zone = (placement - 1) // 2
            if placement != current:
                launches += 1
                left_s = job.overhead_s + job.delay_s[home, zone]
                cost += job.move_units[home, zone]
                moves += home >= 0 and home != zone
            cost += job.slot_s * job.prices[zone, (placement - 1) % 2, t]
            waited = min(left_s, job.slot_s)
            overhead_s += waited
            left_s -= waited
            done_s = min(job.work_s, done_s + job.slot_s - waited)
            home = zone
        placements[t] = placement
        last = placement
        if done_s == job.work_s:
            finish = t + 1
            break
    totals[0], totals[1], totals[2], totals[3], totals[4] = cost, done_s, launches, moves, overhead_s
    return finish
