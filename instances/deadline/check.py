"""The independent checker of ``deadline``: every rule replayed slot by slot (docs/deadline/model.md sections 2 and 3).

The checker shares no code with solvers or simulators, so it does not share their mistakes. It has its own guard.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hindsched.instances.deadline.guards import Guard, Rung, guard_of_rung
from hindsched.instances.deadline.model import HOUR_S, MOST, Instance
from hindsched.instances.deadline.schedule import Kind, Placement, Schedule
from hindsched.instances.verdict import Verdict

__all__ = ["RULES", "Outcome", "check_schedule"]

#: Names of the rules, in the order in which they are checked.
RULES = ("form", "end", "guard", "presence", "finish", "cost")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a replay.

    Parameters
    ----------
    finish
        Number of slots until the work is done; None if the deadline is missed.
    cost
        Units of money paid: micro-dollar-seconds per hour, 3.6e9 units are a dollar.
    launches, moves
        Number of launches, and of those that found the checkpoint in another zone.
    move_cost
        Units of money paid for moves; part of ``cost``.
    spot_slots, on_demand_slots, idle_slots
        Slots paid of each kind, and slots before the finish without an instance.
    overhead_s
        Seconds paid in which nothing was computed because of a launch.
    progress_s
        Seconds of work done.
    """

    finish: int | None
    cost: int
    launches: int
    moves: int
    move_cost: int
    spot_slots: int
    on_demand_slots: int
    idle_slots: int
    overhead_s: int
    progress_s: int

    def __str__(self) -> str:
        dollars = f"cost {self.cost} ({self.cost / (1_000_000 * HOUR_S):.2f} dollars)"
        if self.finish is None:
            return f"deadline missed with {self.progress_s} s of work done, {dollars}"
        return f"finish {self.finish}, {dollars}"


def check_schedule(
    instance: Instance, schedule: Schedule, *, rung: Rung | str = Rung.FREE, guard: Guard | str | None = None
) -> Verdict:
    """Replay a schedule and report the first rule that is broken, and the slot.

    The rules are checked in this order.

    - ``form``: the file has the right form; runs are in order and do not overlap; 0 <= first < end <= N; zones exist;
      the cost is not negative.
    - Slot by slot: ``end`` (a run goes on after the work is done), ``guard`` (with the rung ``guarded``, a critical
      slot in which the guard does something else) and ``presence`` (a spot instance where none can be had).
    - ``finish``: the number of slots until the work is done, null if the deadline is missed.
    - ``cost``: what was paid.

    The verdict does not depend on the fingerprint in the schedule (see `hindsched.instances.is_made_for`).

    Parameters
    ----------
    instance, schedule
        What to check.
    rung
        Whether the guard counts.
    guard
        The guard, for ``guarded``; see `guard_for`.

    Returns
    -------
    Verdict
        With an `Outcome` if the schedule is valid.

    Raises
    ------
    InputError
        If rung or guard is unknown, or the guard does not fit the number of zones.

    Notes
    -----
    O(N) time.

    Examples
    --------
    >>> from hindsched.instances.deadline.model import Zone, spot_from_text
    >>> from hindsched.instances.deadline.schedule import Run
    >>> job = Instance(10, 40, 20, 5, [Zone(spot_from_text("1101"), spot_price=1, on_demand_price=3)])
    >>> runs = (Run(0, 2, 0, Kind.SPOT), Run(3, 4, 0, Kind.SPOT))
    >>> print(check_schedule(job, Schedule(None, runs, finish=4, cost=30)).outcome.overhead_s)
    10
    >>> print(check_schedule(job, Schedule(None, (Run(0, 3, 0, Kind.SPOT),), finish=3, cost=30)))
    slot 2: presence broken: zone 0 has no spot instance
    """
    kept = guard_of_rung(instance, rung, guard)
    try:
        _check_form(instance, schedule)
        outcome = _Replay(instance, kept).run(schedule)
        _check_claims(schedule, outcome)
    except _BrokenRule as broken:
        return Verdict(broken.slot, broken.rule, broken.reason)
    return Verdict(None, None, None, outcome)


class _BrokenRule(Exception):  # noqa: N818 - a finding that ends the replay, not an error
    def __init__(self, slot: int | None, rule: str, reason: str) -> None:
        super().__init__(slot, rule, reason)
        self.slot = slot
        self.rule = rule
        self.reason = reason


def _check_form(instance: Instance, schedule: Schedule) -> None:
    if schedule.defect is not None:
        raise _BrokenRule(None, "form", schedule.defect)
    before = 0
    for i, run in enumerate(schedule.runs):
        if not 0 <= run.first < run.end <= instance.slots:
            span = f"first {run.first} and end {run.end}"
            raise _BrokenRule(None, "form", f"runs[{i}]: {span}, expected 0 <= first < end <= {instance.slots}")
        if run.first < before:
            raise _BrokenRule(None, "form", f"runs[{i}]: first {run.first}, expected at least {before}, in order")
        if not 0 <= run.zone < instance.num_zones:
            expected = f"expected 0 to {instance.num_zones - 1}"
            raise _BrokenRule(None, "form", f"runs[{i}].zone: {run.zone}, {expected}")
        before = run.end
    if schedule.cost < 0:
        raise _BrokenRule(None, "form", f"cost: {schedule.cost}, expected an integer >= 0")
    if schedule.finish is not None and not 0 < schedule.finish <= MOST:
        raise _BrokenRule(None, "form", f"finish: {schedule.finish}, expected an integer >= 1 or null")


class _Replay:
    """The state of docs/deadline/model.md section 2, before a slot."""

    def __init__(self, instance: Instance, guard: Guard | None) -> None:
        self.instance = instance
        self.guard = guard
        self.running: Placement = None  # in the slot before
        self.left_s = 0  # overhead left
        self.home: int | None = None
        self.done_s = 0
        self.paid: dict[str, int] = dict.fromkeys(
            ("cost", "launches", "moves", "move_cost", "spot_slots", "on_demand_slots", "overhead_s"), 0
        )
        self.held: int | None = None  # the zone in which the guard latched holds an instance

    def run(self, schedule: Schedule) -> Outcome:
        finish = None
        for slot, placement in enumerate(self._placements(schedule)):
            if finish is not None:
                if placement is not None:
                    reason = f"the work is done after slot {finish - 1}, but an instance runs"
                    raise _BrokenRule(slot, "end", reason)
                continue
            self._expect_guarded(slot, placement)
            if placement is not None and placement[1] is Kind.SPOT and not self._has_spot(placement[0], slot):
                raise _BrokenRule(slot, "presence", f"zone {placement[0]} has no spot instance")
            self._advance(slot, placement)
            if self.done_s == self.instance.work_s:
                finish = slot + 1
        slots = self.instance.slots if finish is None else finish
        idle = slots - self.paid["spot_slots"] - self.paid["on_demand_slots"]
        return Outcome(finish, idle_slots=idle, progress_s=self.done_s, **self.paid)

    def _placements(self, schedule: Schedule) -> Iterator[Placement]:
        slot = 0
        for run in schedule.runs:
            for _ in range(slot, run.first):
                yield None
            for _ in range(run.first, run.end):
                yield run.placement
            slot = run.end
        for _ in range(slot, self.instance.slots):
            yield None

    def _has_spot(self, zone: int, slot: int) -> bool:
        return bool(self.instance.zones[zone].spot[slot])

    def _advance(self, slot: int, placement: Placement) -> None:
        """Launch if the placement is new, pay for the slot and compute (R3 to R5)."""
        if placement is None:
            self.running = None
            return
        instance, zone = self.instance, placement[0]
        if placement != self.running:  # a run of spot that was lost breaks presence, so it was not preempted here
            self.paid["launches"] += 1
            self.left_s = instance.overhead_s
            if self.home is not None and self.home != zone:
                self.left_s += instance.move_delay_s[self.home][zone]
                units = HOUR_S * instance.move_cost[self.home][zone]
                self.paid["moves"] += 1
                self.paid["move_cost"] += units
                self.paid["cost"] += units
        is_spot = placement[1] is Kind.SPOT
        price = instance.zones[zone].spot_price if is_spot else instance.zones[zone].on_demand_price
        self.paid["cost"] += instance.slot_s * (price if isinstance(price, int) else price[slot])
        self.paid["spot_slots" if is_spot else "on_demand_slots"] += 1
        waited = min(self.left_s, instance.slot_s)
        self.left_s -= waited
        self.paid["overhead_s"] += waited
        self.done_s = min(instance.work_s, self.done_s + instance.slot_s - waited)
        self.home = zone
        self.running = placement

    def _expect_guarded(self, slot: int, placement: Placement) -> None:
        """Expect the placement that the guard makes in a critical slot; other slots are free."""
        if self.guard is None:
            return
        expected = self._guarded(slot)
        if expected is not _FREE and placement != expected:
            reason = f"{_words(placement)}, but the slot is critical and the guard makes it {_words(expected)}"
            raise _BrokenRule(slot, "guard", reason)

    def _guarded(self, slot: int) -> Any:
        instance, work = self.instance, self.instance.work_s - self.done_s
        if self.held is not None:
            return self.held, Kind.ON_DEMAND
        needed = -((work + instance.overhead_s) // -instance.slot_s)
        if needed < instance.slots - slot:
            return _FREE
        if self.guard is Guard.LATCHED:
            self.held = self._zone_to_hold(slot, work)
            return self.held, Kind.ON_DEMAND
        if self.running == (0, Kind.SPOT) and self.left_s == 0:
            if self._has_spot(0, slot):
                return self.running
            if self.guard is Guard.STEP_OLD:
                return None
        return 0, Kind.ON_DEMAND

    def _zone_to_hold(self, slot: int, work: int) -> int:
        """Return the zone of the instance that still runs, or the one in which the rest costs least."""
        if self.running is not None and (self.running[1] is Kind.ON_DEMAND or self._has_spot(self.running[0], slot)):
            return self.running[0]
        costs = []
        for z, zone in enumerate(self.instance.zones):
            price = zone.on_demand_price
            move = 0 if self.home is None else HOUR_S * self.instance.move_cost[self.home][z]
            costs.append((price if isinstance(price, int) else price[slot]) * work + move)
        return costs.index(min(costs))


#: What the guard answers for a slot that is not critical.
_FREE = object()


def _words(placement: Placement) -> str:
    if placement is None:
        return "nothing runs"
    return f"{'spot' if placement[1] is Kind.SPOT else 'on-demand'} runs in zone {placement[0]}"


def _check_claims(schedule: Schedule, outcome: Outcome) -> None:
    if schedule.finish != outcome.finish:
        claimed, found = ("null" if value is None else value for value in (schedule.finish, outcome.finish))
        raise _BrokenRule(outcome.finish, "finish", f"{claimed} is claimed, but it is {found}")
    if schedule.cost != outcome.cost:
        raise _BrokenRule(None, "cost", f"{schedule.cost} is claimed, but {outcome.cost} is paid")
