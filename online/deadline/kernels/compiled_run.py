"""Runs of the built-in policies by the compiled simulator."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hindsched.instances.deadline import Guard, Instance, Kind, Placement, Schedule
from hindsched.instances.deadline.schedule import runs_of
from hindsched.online.deadline.kernels import run_kernel as kernels
from hindsched.online.deadline.options import Bank, RunGuard
from hindsched.online.deadline.policies import Sliced
from hindsched.online.deadline.simulate import PolicyRun, guard_of_run
from hindsched.online.deadline.visible import Policy

__all__ = ["can_run", "run_kernel"]

_POLICIES: Mapping[str, int] = {
    "on_demand": kernels.ON_DEMAND,
    "spot_only": kernels.SPOT_ONLY,
    "fallback": kernels.FALLBACK,
    "greedy": kernels.GREEDY,
    "uniform": kernels.UNIFORM,
    "uniform_plain": kernels.UNIFORM_PLAIN,
    "uniform_text": kernels.UNIFORM_TEXT,
    "up_s": kernels.UP_S,
}
_GUARDS = {
    None: kernels.NO_GUARD,
    Guard.STEP: kernels.STEP,
    Guard.STEP_OLD: kernels.STEP_OLD,
    Guard.LATCHED: kernels.LATCHED,
}
#: Products of times and bills stay below it.
_LARGEST = 2**62


def can_run(instance: Instance, policy: Policy) -> bool:
    """Return whether a policy is built in, and all numbers of a run fit 62 bits."""
    if not isinstance(policy, Sliced) and _POLICIES.get(policy.name) is None:
        return False
    times = (instance.deadline_s + 2 * instance.overhead_s) * instance.work_s
    slot_units = instance.slot_s * int(instance.prices.max(initial=0))
    moves = max(instance.move_units(a, b) for a in range(instance.num_zones) for b in range(instance.num_zones))
    rest = int(instance.prices.max(initial=0)) * instance.work_s + moves
    return max(times, instance.slots * (slot_units + moves), rest) < _LARGEST


def run_kernel(instance: Instance, policy: Policy, *, guard: RunGuard | str, schedule: bool = True) -> PolicyRun:
    """Run a built-in policy in machine code; the run equals that of `hindsched.online.deadline.simulate`.

    Parameters
    ----------
    instance, policy, guard
        As in `hindsched.online.deadline.simulate`.
    schedule
        Whether to make the schedule.
    """
    zones = range(instance.num_zones)
    homes = [*zones, None]
    regions = [zone.region for zone in instance.zones]
    is_sliced = isinstance(policy, Sliced)
    job = kernels.Job(
        slot_s=instance.slot_s,
        deadline_s=instance.deadline_s,
        work_s=instance.work_s,
        overhead_s=instance.overhead_s,
        slots=instance.slots,
        spot=instance.spot,
        prices=instance.prices,
        region=np.array([regions.index(region) for region in regions], dtype=np.int64),
        delay_s=np.array([[0 if a is None else instance.move_delay_s[a][b] for b in zones] for a in homes], np.int64),
        move_units=np.array([[instance.move_units(a, b) for b in zones] for a in homes], dtype=np.int64),
        policy=kernels.SLICED if is_sliced else _POLICIES[policy.name],
        guard=_GUARDS[guard_of_run(instance, guard)],
        slices=policy.slices if isinstance(policy, Sliced) else 1,
        bank=isinstance(policy, Sliced) and policy.bank is Bank.YES,
    )
    codes = np.zeros(instance.slots, dtype=np.int32)
    totals = np.zeros(5, dtype=np.int64)
    finish = int(kernels.run_policy(job, codes, totals)) or None
    cost, done_s, launches, moves, overhead_s = totals.tolist()
    used = codes[:finish]
    made = None
    if schedule:
        runs = runs_of([_placement(code) for code in used.tolist()])
        made = Schedule(instance.fingerprint, runs, finish, cost)
    return PolicyRun(
        policy=policy.name,
        finish=finish,
        cost=cost,
        done_s=done_s,
        launches=launches,
        moves=moves,
        spot_slots=int(np.count_nonzero(used % 2 == 1)),
        on_demand_slots=int(np.count_nonzero((used > 0) & (used % 2 == 0))),
        overhead_s=overhead_s,
        schedule=made,
    )


def _placement(code: int) -> Placement:
    return None if code == 0 else ((code - 1) // 2, Kind.ON_DEMAND if code % 2 == 0 else Kind.SPOT)
