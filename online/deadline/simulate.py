"""The plain simulator: rules R1 to R6 of docs/deadline/model.md section 2, with a policy that decides in each slot.

It is written to be read; `hindsched.online.deadline.kernels` has its compiled twin.
"""

from __future__ import annotations

from dataclasses import dataclass

from hindsched.instances.deadline.guards import Guard, guard_for
from hindsched.instances.deadline.model import Instance
from hindsched.instances.deadline.schedule import Kind, Placement, Schedule, runs_of
from hindsched.instances.errors import InputError
from hindsched.instances.notebook import NotebookTable
from hindsched.instances.text_files import excerpt
from hindsched.online.deadline.guard import RunningGuard
from hindsched.online.deadline.options import RunGuard
from hindsched.online.deadline.visible import Job, Policy, Visible
from hindsched.online.options import member
from hindsched.online.user_code import call_user_code

__all__ = ["PolicyRun", "guard_of_run", "simulate"]


@dataclass(frozen=True, slots=True)
class PolicyRun(NotebookTable):
    """The result of a run.

    Parameters
    ----------
    policy
        The policy's name.
    finish
        Slots until the work was done; None if the deadline was missed.
    cost
        Units of money paid; see `hindsched.instances.deadline.UNITS_PER_DOLLAR`.
    done_s
        Seconds of work done.
    launches, moves, spot_slots, on_demand_slots, overhead_s
        As in `hindsched.instances.deadline.Outcome`.
    schedule
        The runs, which `hindsched.instances.deadline.check` can replay; None if it was not recorded.
    """

    policy: str
    finish: int | None
    cost: int
    done_s: int
    launches: int
    moves: int
    spot_slots: int
    on_demand_slots: int
    overhead_s: int
    schedule: Schedule | None


def guard_of_run(instance: Instance, guard: RunGuard | str) -> Guard | None:
    """Return the guard that an option of a run means on an instance.

    Raises
    ------
    InputError
        If the name is unknown, or the guard does not fit the number of zones.
    """
    chosen = member(RunGuard, guard, place="guard")
    return None if chosen is RunGuard.NONE else guard_for(instance, None if chosen is RunGuard.AUTO else str(chosen))


def simulate(instance: Instance, policy: Policy, *, guard: RunGuard | str = RunGuard.AUTO) -> PolicyRun:
    """Run a policy on an instance; the policy sees the past and the present slot.

    Parameters
    ----------
    instance
        Its spot and prices are revealed slot by slot.
    policy
        The policy that decides (see `Policy`).
    guard
        One of `RunGuard`, or its name.

    Raises
    ------
    InputError
        For an unknown or unfit guard, and, naming policy and slot, an illegal choice or an error in the policy.

    Notes
    -----
    Each slot costs O(Z) and the policy's own time.

    Examples
    --------
    >>> from hindsched.instances.deadline.generate import generate
    >>> from hindsched.online.deadline.policies import make_policy
    >>> run = simulate(generate(4, slots=12), make_policy("greedy"))
    >>> run.finish, run.launches, len(run.schedule.runs)
    (12, 2, 2)
    """
    if not isinstance(policy, Policy):
        raise InputError(f"{policy!r}, expected an object with a name and a method choose(visible)", place="policy")
    guards = RunningGuard(guard_of_run(instance, guard))
    execution = _Execution(instance)
    while execution.finish is None and execution.begin_slot():
        place = f"policy {policy.name}: slot {execution.slot}"
        choice = execution.possible(call_user_code(policy.choose, execution.shown(), place=place), place)
        execution.advance(guards.overrule(execution.shown(), choice))
    return execution.result(policy.name)


class _Execution:
    """A run so far. What the policy sees is a copy, so that it cannot change the run."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.slot = -1
        self.done_s = 0
        self.left_s = 0
        self.home: int | None = None
        self.placements: list[Placement] = []
        self.current: Placement = None
        self.finish: int | None = None
        self.cost = self.launches = self.moves = self.overhead_s = 0
        self._visible = Visible(Job.of(instance))

    @property
    def last(self) -> Placement:
        """The placement in the slot before."""
        return self.placements[-1] if self.placements else None

    def begin_slot(self) -> bool:
        """Begin the next slot, and preempt (R1); return whether there is a slot left."""
        self.slot += 1
        if self.slot == self.instance.slots:
            return False
        self._visible.reveal(self.instance.spot[:, self.slot], self.instance.prices[:, :, self.slot])
        last = self.last
        self.current = last if last is None or last[1] is Kind.ON_DEMAND or self._has_spot(last[0]) else None
        return True

    def shown(self) -> Visible:
        """Return what can be seen in the slot."""
        seen = self._visible
        seen.done_s, seen.left_s, seen.home, seen.last = self.done_s, self.left_s, self.home, self.last
        seen.current = self.current
        return seen

    def possible(self, choice: object, place: str) -> Placement:
        """Return a choice, None for a spot instance that cannot be had (R2)."""
        if choice is None:
            return None
        zones = self.instance.num_zones
        match choice:
            case (int(zone), str(kind)) if 0 <= zone < zones and kind in (*Kind,) and not isinstance(zone, bool):
                return None if kind == Kind.SPOT and not self._has_spot(zone) else (zone, Kind(kind))
        expected = f'expected None or (zone, kind) with zone 0 to {zones - 1} and kind "s" or "o"'
        raise InputError(f"{excerpt(choice)}, {expected}", place=place)

    def advance(self, placement: Placement) -> None:
        """Launch, pay and compute (R3 to R6)."""
        self.placements.append(placement)
        if placement is None:
            return
        instance, (zone, kind) = self.instance, placement
        if placement != self.current:
            self.launches += 1
            self.left_s = instance.launch_overhead(self.home, zone)
            self.cost += instance.move_units(self.home, zone)
            self.moves += self.home not in (None, zone)
        self.cost += instance.slot_s * int(instance.prices[zone, int(kind is Kind.ON_DEMAND), self.slot])
        overhead_s = min(self.left_s, instance.slot_s)
        self.overhead_s += overhead_s
        self.left_s -= overhead_s
        self.done_s = min(instance.work_s, self.done_s + instance.slot_s - overhead_s)
        self.home = zone
        if self.done_s == instance.work_s:
            self.finish = self.slot + 1

    def result(self, name: str) -> PolicyRun:
        """Return the result of the run."""
        kinds = [placement[1] for placement in self.placements if placement is not None]
        runs = runs_of(self.placements)
        return PolicyRun(
            policy=name,
            finish=self.finish,
            cost=self.cost,
            done_s=self.done_s,
            launches=self.launches,
            moves=self.moves,
            spot_slots=kinds.count(Kind.SPOT),
            on_demand_slots=kinds.count(Kind.ON_DEMAND),
            overhead_s=self.overhead_s,
            schedule=Schedule(self.instance.fingerprint, runs, self.finish, self.cost),
        )

    def _has_spot(self, zone: int) -> bool:
        return bool(self.instance.spot[zone, self.slot])
